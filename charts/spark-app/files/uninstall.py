"""Remove the runs of a release: what `helm.sh/resource-policy: keep` leaves when the release is uninstalled.

Run by the pre-delete hook (templates/uninstall.yaml) in the runtime image, with the standard library alone.
Arguments: namespace, release, and further resources of runs as group/version/resource. A run's object is the
release's when Helm's own annotations say so. Jobs go first, in the foreground, so that their drivers are gone
before the ConfigMaps that they read.
"""

import json
import ssl
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
API = "https://kubernetes.default.svc"
SELECTOR = "sparkgen.dev/run"
PATIENCE_SECONDS = 240
PAGE = 20
"""Objects in one answer: each may have 1.5 MiB of labels, and the hook has 256 MiB of memory."""
METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
"""Of a list: the content of a neighbour's ConfigMaps stays with the API server."""


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """The API server redirects nobody here: an address in its name does not get the account's token."""

    def redirect_request(self, *_):
        """Follow nothing, so that the answer is an error."""


def trimmed(value):
    """An object's metadata without what may be large: anybody's labels must not take this pod's memory."""
    if "uid" not in value:
        return value
    annotations = value.get("annotations")
    own = annotations if isinstance(annotations, dict) else {}
    read = {key: text for key, text in own.items() if key.startswith("meta.helm.sh/")}
    return {"name": value.get("name"), "uid": value["uid"], "annotations": read}


def call(method, path, query=None, body=None):
    """The answer of the API server as a value; None for an object that is gone or was replaced."""
    token = (ACCOUNT / "token").read_text(encoding="utf-8").strip()
    accept = METADATA_ONLY if method == "GET" else "application/json"
    headers = {"Authorization": f"Bearer {token}", "Accept": accept, "Content-Type": "application/json"}
    url = f"{API}{path}?{urllib.parse.urlencode(query or {})}"
    data = json.dumps(body).encode() if body else None
    request = urllib.request.Request(url, data, headers, method=method)
    context = ssl.create_default_context(cafile=str(ACCOUNT / "ca.crt"))
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context), NoRedirect)
    try:
        with opener.open(request, timeout=30) as answer:
            return json.load(answer, object_hook=trimmed)
    except urllib.error.HTTPError as error:
        if error.code == 404 or (method, error.code) == ("DELETE", 409):
            return None
        said = error.read(300).decode(errors="replace")
        raise SystemExit(f"error: {method} {path}: {error.code} {said}") from None


def owned(path, namespace, release):
    """Names of the release's objects of one kind, with their UIDs."""
    names, more = {}, ""
    while True:
        page = call("GET", path, {"labelSelector": SELECTOR, "limit": PAGE, "continue": more}) or {}
        for item in page.get("items") or ():  # null if there are none
            annotations = item["metadata"].get("annotations") or {}
            if (
                annotations.get("meta.helm.sh/release-name"),
                annotations.get("meta.helm.sh/release-namespace"),
            ) == (
                release,
                namespace,
            ):
                names[item["metadata"]["name"]] = item["metadata"]["uid"]
        more = page.get("metadata", {}).get("continue") or ""
        if not more:
            return names


def remove(path, namespace, release):
    """Delete the release's objects of one kind, and wait until they are gone."""
    until = time.monotonic() + PATIENCE_SECONDS
    asked = set()
    while names := owned(path, namespace, release):
        for name, uid in names.items():
            if uid not in asked:
                print(f"deleting {path.rpartition('/')[2]}/{name}", flush=True)
                # Not another object that got the name meanwhile.
                options = {"propagationPolicy": "Foreground", "preconditions": {"uid": uid}}
                call("DELETE", f"{path}/{name}", body=options)
                asked.add(uid)
        if time.monotonic() > until:
            raise SystemExit(f"error: not gone after {PATIENCE_SECONDS} s: {', '.join(names)}")
        time.sleep(1)


def main(namespace, release, *further):
    """Remove all runs of the release in the namespace."""
    remove(f"/apis/batch/v1/namespaces/{namespace}/jobs", namespace, release)
    remove(f"/api/v1/namespaces/{namespace}/configmaps", namespace, release)
    for resource in further:
        group, _, name = resource.rpartition("/")
        remove(f"/apis/{group}/namespaces/{namespace}/{name}", namespace, release)


if __name__ == "__main__":
    main(*sys.argv[1:])
