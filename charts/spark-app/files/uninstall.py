"""Remove the runs of a release: what `helm.sh/resource-policy: keep` leaves when the release is uninstalled.

Run by the pre-delete hook (templates/uninstall.yaml) in the runtime image, with the standard library alone.
Arguments: namespace, release, and further resources of runs as group/version/resource. A run's object is the
release's when Helm's own annotations say so. Jobs go first, in the foreground, so that their drivers have
ended before the ConfigMaps that they read are deleted. Nothing else is waited for: an object that somebody's
finalizer keeps remains, and the log says so.
"""

import json
import re
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
SETTLED_SECONDS = 10
"""Until then, a Job is waited for as long as Kubernetes has not removed what it owns."""
FOREGROUND = "foregroundDeletion"
"""The finalizer of an object whose dependents are not gone: for example, pods with a finalizer."""
JOBS_PODS = f"{SELECTOR},job-name"
RUNNING = "status.phase!=Succeeded,status.phase!=Failed,spec.nodeName!="
"""Pods on a node that have not ended."""
FEW = 5
"""Finalizers that the log names."""
PAGES = (20, 5, 1)
"""Objects in one answer, and in one that was too large."""
MOST = 12 << 20
"""Bytes of one answer: each object may have 1.5 MiB of names, of which the API server writes each `<` as six
bytes; and the hook has 256 MiB of memory."""
LEVELS = 200
"""Of objects in objects that are read where Python cannot read all of them."""
TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)
"""A text of JSON, or a bracket outside of a text."""
METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
"""Of a list: the content of a neighbour's ConfigMaps stays with the API server."""


class TooLarge(Exception):
    """An answer of more than MOST bytes."""


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """The API server redirects nobody here: an address in its name does not get the account's token."""

    def redirect_request(self, *_):
        """Follow nothing, so that the answer is an error."""


def trimmed(value):
    """An object without what may be large in its metadata: anybody's labels must not take this pod's memory.

    Each map of an answer comes here. Labels and annotations have texts alone, so none looks like an object.
    """
    found = value.get("metadata")
    if not isinstance(found, dict) or "uid" not in found:
        return value
    finalizers, owners = found.get("finalizers") or [], found.get("ownerReferences") or []
    annotations = found.get("annotations") or {}
    metadata = {
        "name": found.get("name"),
        "uid": found["uid"],
        "annotations": {key: text for key, text in annotations.items() if key.startswith("meta.helm.sh/")},
        "deleting": "deletionTimestamp" in found,
        "finalizers": finalizers[:FEW],
        "foreground": FOREGROUND in finalizers,
        "owner": next((owner["uid"] for owner in owners if owner.get("controller")), None),
    }
    return {"metadata": metadata}


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
            text = answer.read(MOST + 1)
            if len(text) > MOST:
                raise TooLarge
    except urllib.error.HTTPError as error:
        if error.code == 404 or (method, error.code) == ("DELETE", 409):
            return None
        said = error.read(300).decode(errors="replace")
        raise SystemExit(f"error: {method} {path}: {error.code} {said}") from None
    try:
        return json.loads(text, object_hook=trimmed)
    except RecursionError:
        pass  # The error keeps what was read so far in memory. So the cut text is read only after it.
    return json.loads(shallow(text), object_hook=trimmed)


def shallow(text):
    """JSON with null in the place of what is deeper than LEVELS, as in sparkgen/jsonvalue.py.

    Anybody writes metadata.managedFields of 10,000 levels into an object of their own.
    """
    kept, level, start = bytearray(), 0, 0  # not a list: each part of a list costs 80 bytes
    for found in TOKEN.finditer(text):
        if found[0] in (b"{", b"["):
            level += 1
            if level == LEVELS + 1:
                kept += text[start : found.start()]
                kept += b"null"
        elif found[0] in (b"}", b"]"):
            if level == LEVELS + 1:
                start = found.end()
            level -= 1
    kept += text[start:]
    return kept


def listed(path, **query):
    """The metadata of objects, page by page."""
    more = ""
    while True:
        page = first_page(path, {"continue": more, **query}) or {}
        for item in page.get("items") or ():  # null if there are none
            yield item["metadata"]
        more = page.get("metadata", {}).get("continue") or ""
        if not more:
            return


def first_page(path, query):
    """The answer with as many objects as are not too large together."""
    for limit in PAGES:
        try:
            return call("GET", path, {"limit": limit, **query})
        except TooLarge:
            pass
    raise SystemExit(f"error: GET {path}: one object has more than {MOST} bytes")


def owned(path, namespace, release):
    """The metadata of the release's objects of one kind, by name."""
    items = {}
    for item in listed(path, labelSelector=SELECTOR):
        own = item.get("annotations") or {}
        if (own.get("meta.helm.sh/release-name"), own.get("meta.helm.sh/release-namespace")) == (
            release,
            namespace,
        ):
            items[item["name"]] = item
    return items


def running(namespace):
    """The UIDs of Jobs with a pod that has not ended."""
    pods = listed(f"/api/v1/namespaces/{namespace}/pods", labelSelector=JOBS_PODS, fieldSelector=RUNNING)
    return {pod["owner"] for pod in pods}


def remove(path, namespace, release, propagation="Background"):
    """Delete the release's objects of one kind, and say which of them finalizers keep.

    In the foreground, wait until the pods of the objects have ended.
    """
    begun = time.monotonic()
    asked = set()
    kind = path.rpartition("/")[2]
    while items := owned(path, namespace, release):
        for name, item in items.items():
            if item["uid"] not in asked:
                print(f"deleting {kind}/{name}", flush=True)
                # Not another object that got the name meanwhile.
                options = {"propagationPolicy": propagation, "preconditions": {"uid": item["uid"]}}
                call("DELETE", f"{path}/{name}", body=options)
                asked.add(item["uid"])
        seconds = time.monotonic() - begun
        held = {item["uid"] for item in items.values() if item["deleting"] and item["foreground"]}
        if propagation == "Background":
            held = set()
        elif held and seconds > SETTLED_SECONDS:
            held &= running(namespace)
        waited = [name for name, item in items.items() if not item["deleting"] or item["uid"] in held]
        if not waited:
            for name, item in items.items():
                keeping = ", ".join(item["finalizers"])
                print(f"{kind}/{name} remains until its finalizers are removed: {keeping}", flush=True)
            return
        if seconds > PATIENCE_SECONDS:
            raise SystemExit(f"error: not gone after {PATIENCE_SECONDS} s: {', '.join(waited)}")
        time.sleep(1)


def main(namespace, release, *further):
    """Remove all runs of the release in the namespace."""
    remove(f"/apis/batch/v1/namespaces/{namespace}/jobs", namespace, release, "Foreground")
    remove(f"/api/v1/namespaces/{namespace}/configmaps", namespace, release)
    for resource in further:
        group, _, name = resource.rpartition("/")
        remove(f"/apis/{group}/namespaces/{namespace}/{name}", namespace, release)


if __name__ == "__main__":
    main(*sys.argv[1:])
