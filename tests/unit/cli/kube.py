"""A small API server on loopback that keeps objects: enough of Kubernetes for the commands that act on it."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import yaml

from sparkgen.objects import Object

_PATH = re.compile(
    r"/(?:api/(?P<core>v1)|apis/(?P<group>[^/]+/[^/]+))(?:/namespaces/(?P<namespace>[^/]+))?"
    r"/(?P<plural>[a-z]+)(?:/(?P<name>[^/]+))?(?P<log>/log)?"
)


class Kube(ThreadingHTTPServer):
    """Objects by path.

    `refuse`: (method, beginning of the path) -> status and message, before all else. `hold`: "METHOD path" ->
    what its answer waits for. `meanwhile`: "METHOD path" -> what happens once, just before such a request is
    served that is no dry run. `denied`: rights as "verb resource" that a review denies. `kinds`: path of a
    version of an API group -> its kinds, as discovery lists them. `logs`: path of a log -> its text.
    `collects`: what a deleted object owns is deleted, too.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.objects: dict[str, Object] = {"/api/v1/namespaces/analytics": _named("analytics")}
        self.refuse: dict[tuple[str, str], tuple[int, str]] = {}
        self.meanwhile: dict[str, Callable[[], object]] = {}
        self.hold: dict[str, threading.Event] = {}
        self.denied: set[str] = set()
        self.kinds: dict[str, list[str]] = {}
        self.logs: dict[str, str] = {}
        self.collects = False
        self.asked: list[str] = []
        self.version = 0
        self.lock = threading.Lock()
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def kubeconfig(self, folder: Path) -> str:
        """A kubeconfig that leads here, in namespace analytics."""
        config = {
            "current-context": "dev",
            "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{self.server_port}"}}],
            "users": [{"name": "u", "user": {"token": "t"}}],
            "contexts": [{"name": "dev", "context": {"cluster": "c", "user": "u", "namespace": "analytics"}}],
        }
        path = folder / "kubeconfig"
        path.write_text(yaml.safe_dump(config))
        return str(path)

    def named(self, kind: str) -> list[str]:
        """The names of the objects of a kind."""
        return [item["metadata"]["name"] for item in self.objects.values() if item["kind"] == kind]

    def one(self, kind: str, name: str) -> Object:
        """An object."""
        found = [
            item for item in self.objects.values() if (item["kind"], item["metadata"]["name"]) == (kind, name)
        ]
        assert len(found) == 1, self.named(kind)
        return found[0]

    def put(self, path: str, item: Object) -> Object:
        """Keep an object; its version changes when it does."""
        before = self.objects.get(path)
        metadata = {**item["metadata"], "namespace": "analytics"}
        kept = ("uid", "creationTimestamp", "resourceVersion")
        mine = {key: value for key, value in metadata.items() if key not in kept}
        if before is not None:
            own = {key: before["metadata"][key] for key in kept}
            if {**item, "metadata": {**mine, **own}} == before:
                return before
        self.version += 1
        stamp = f"2026-11-22T00:{self.version // 60:02}:{self.version % 60:02}Z"
        first = {"uid": f"uid-{self.version}", "creationTimestamp": stamp}
        own = {key: before["metadata"][key] for key in first} if before else first
        self.objects[path] = {**item, "metadata": {**mine, **own, "resourceVersion": str(self.version)}}
        return self.objects[path]


def _named(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet for an answer: two would wait for an acknowledgement in between
    server: Kube

    def _do(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size)) if size else {}
        path, _, query = self.path.partition("?")
        options = {name.lower(): values[0] for name, values in parse_qs(query).items()}
        if held := self.server.hold.get(f"{self.command} {path}"):
            held.wait(30)
        if "dryrun" not in options and (key := f"{self.command} {path}") in self.server.meanwhile:
            self.server.meanwhile.pop(key)()
        with self.server.lock:
            self.server.asked.append(f"{self.command} {path}{' dry' if 'dryrun' in options else ''}")
            for (method, start), (status, message) in self.server.refuse.items():
                if self.command == method and path.startswith(start):
                    return self._answer(status, {"kind": "Status", "message": message})
            if path in self.server.logs:
                return self._send(200, "text/plain", self.server.logs[path].encode())
            if path.endswith("/selfsubjectaccessreviews"):
                return self._answer(201, self._reviewed(body))
            if path.startswith("/apis/") and path.count("/") == 3:
                return self._answer(*self._discovered(path))
            self._answer(*self._result(path, options, body))
        return None

    def _result(self, path: str, options: dict[str, str], body: Object) -> tuple[int, Object]:
        objects = self.server.objects
        there = objects.get(path)  # none for a log
        if path == "/version":
            return 200, {"gitVersion": "v1.34.1"}
        match = _PATH.fullmatch(path)
        assert match is not None, path
        missing = (404, {"kind": "Status", "message": f'{match["plural"]} "{match["name"]}" not found'})
        if self.command == "POST":
            name = body["metadata"].get("name", "generated")
            if f"{path}/{name}" in objects:
                return 409, {"kind": "Status", "message": f"{name} already exists"}
            made = body if "dryrun" in options else self.server.put(f"{path}/{name}", body)
            return 201, _stored(made, name)
        if not match["name"] and "watch" in options:
            return 200, {}  # it ends at once
        if not match["name"]:
            return 200, self._list(path, options)
        if self.command == "PATCH" and "apply" in self.headers["Content-Type"]:
            return self._applied(path, options, body)
        if there is None:
            return missing
        if self.command == "PATCH":
            return 200, self.server.put(path, _merged(there, body))
        if self.command == "DELETE":
            return self._deleted(path, there, body)
        return 200, _stored(there)

    def _deleted(self, path: str, there: Object, body: Object) -> tuple[int, Object]:
        there_uid = there["metadata"].get("uid")
        uid = body.get("preconditions", {}).get("uid", there_uid)
        if uid != there_uid:
            said = f"the UID in the precondition ({uid}) does not match the UID in record ({there_uid})"
            return 409, {"kind": "Status", "message": said}
        self._collect(uid)
        return 200, self.server.objects.pop(path)

    def _collect(self, owner: str | None) -> None:
        """Delete the objects that an object owns."""
        for path, item in list(self.server.objects.items()):
            if self.server.collects and owner in [
                one.get("uid") for one in item["metadata"].get("ownerReferences") or ()
            ]:
                self.server.objects.pop(path)

    def _discovered(self, path: str) -> tuple[int, Object]:
        if path not in self.server.kinds:
            return 404, {"kind": "Status", "message": "the server could not find the requested resource"}
        return 200, {"resources": [{"kind": kind} for kind in self.server.kinds[path]]}

    def _reviewed(self, body: Object) -> Object:
        asked = body["spec"]["resourceAttributes"]
        part = f"/{asked['subresource']}" if "subresource" in asked else ""
        right = f"{asked['verb']} {asked['resource']}{part}"
        return {**body, "status": {"allowed": right not in self.server.denied}}

    def _applied(self, path: str, options: dict[str, str], body: Object) -> tuple[int, Object]:
        there, version = self.server.objects.get(path), body["metadata"].get("resourceVersion")
        if version is not None and (there is None or there["metadata"]["resourceVersion"] != version):
            return 409, {"kind": "Status", "message": f"{path}: the object has been modified; try again"}
        made = body if "dryrun" in options else self.server.put(path, body)
        return 201 if there is None else 200, _stored(made)

    def _list(self, path: str, options: dict[str, str]) -> Object:
        items = [item for at, item in self.server.objects.items() if at.rpartition("/")[0] == path]
        for term in options.get("labelselector", "").split(","):
            key, equals, text = term.partition("=")
            if term and " in " not in term:
                items = [
                    item
                    for item in items
                    if (have := item["metadata"].get("labels", {}).get(key)) is not None
                    and (not equals or have == text)
                ]
        return {"items": [_stored(item) for item in items], "metadata": {}}

    def _answer(self, status: int, value: Object) -> None:
        self._send(status, "application/json", json.dumps(value).encode())

    def _send(self, status: int, form: str, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", form)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_PATCH = do_DELETE = do_POST = _do  # noqa: N815 - the names that are looked for

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


def _stored(item: Object, name: str = "") -> Object:
    """The object with all that an API server gives to each."""
    given = {"uid": "uid-0", "creationTimestamp": "2026-11-22T00:00:00Z"}
    return {**item, "metadata": {**given, "name": name, "namespace": "analytics", **item["metadata"]}}


def _merged(there: Any, change: Any) -> Any:
    """JSON merge patch (RFC 7396)."""
    if not isinstance(change, dict) or not isinstance(there, dict):
        return change
    return {**there, **{key: _merged(there.get(key), value) for key, value in change.items()}}
