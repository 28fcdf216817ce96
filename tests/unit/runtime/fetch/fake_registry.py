"""A registry of a few artifacts in this process, which fails as a test wants it to."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from sparkgen import contract
from sparkgen.delivery.oci import Blob, image, sha256
from sparkgen.delivery.tar import Member, archive

REPOSITORY = "team/etl"


def tar_of(files: Mapping[str, bytes]) -> bytes:
    """The archive that `sparkgen push` makes of these files."""

    def read(data: bytes) -> Callable[[], Iterable[bytes]]:
        return lambda: iter([data])

    members = [Member(path, len(data), path.endswith(".sh"), read(data)) for path, data in files.items()]  # type: ignore[arg-type]
    return b"".join(archive(members))


@dataclass
class Pushed:
    """An artifact as the registry has it, and as the document asks for it."""

    layer: bytes
    manifest: bytes
    wanted: dict[str, Any]


def pushed(host: str, layer: bytes, unpacked: int, name: str = "code") -> Pushed:
    """What `push` leaves in a registry, and in the lock."""
    manifest = image(Blob(sha256(layer), len(layer))).manifest
    wanted = {
        "name": name,
        "reference": f"{host}/{REPOSITORY}@{sha256(manifest)}",
        "digest": sha256(layer),
        "size": len(layer),
        "unpackedSize": unpacked,
    }
    return Pushed(layer, manifest, wanted)


def environment(*wanted: Mapping[str, Any]) -> dict[str, str]:
    """The variables of the container `fetch`, for a registry without TLS."""
    return {
        contract.ENV_CONTRACT: str(contract.VERSION),
        contract.ENV_ARTIFACTS: json.dumps(list(wanted)),
        contract.ENV_ARTIFACTS_INSECURE: "true",
    }


@dataclass
class Answer:
    """An answer in place of the registry's own. `cut`: bytes after which the connection ends."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None


class FakeRegistry:
    """Serves blobs by their digests. `script`: answers to the next requests whose path contains a text."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        self.script: list[tuple[str, Answer | None]] = []
        """(part of a path, the answer; None: the connection ends without one)."""
        self.user: tuple[str, str] | None = None
        self.token: str | None = None
        self.asked: list[tuple[str, dict[str, str]]] = []
        """Path and headers of every request."""
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def host(self) -> str:
        """Its address."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    def push(self, files: Mapping[str, bytes], name: str = "code") -> Pushed:
        """Have an artifact of these files."""
        return self.push_layer(tar_of(files), sum(map(len, files.values())), name)

    def push_layer(self, layer: bytes, unpacked: int = 1 << 30, name: str = "code") -> Pushed:
        """Have an artifact with this layer, whatever that is."""
        found = pushed(self.host, layer, unpacked, name)
        for data in (found.layer, found.manifest):
            self.blobs[sha256(data)] = data
        return found

    def paths(self, part: str) -> list[str]:
        """The requests whose path contains a text."""
        with self._lock:
            return [path for path, _ in self.asked if part in path]

    def close(self) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()

    def _next(self, path: str, headers: dict[str, str]) -> tuple[bool, Answer | None]:
        with self._lock:
            self.asked.append((path, headers))
            for index, (part, answer) in enumerate(self.script):
                if part in path:
                    del self.script[index]
                    return True, answer
        return False, None

    def _own(self, path: str, headers: Mapping[str, str]) -> Answer:
        if path.startswith("/token"):
            return Answer(200, json.dumps({"token": self.token}).encode())
        given = headers.get("authorization", "")
        if self.token is not None and given != f"Bearer {self.token}":
            realm = f'Bearer realm="http://{self.host}/token",service="fake",scope="x"'
            return Answer(401, b"", {"WWW-Authenticate": realm})
        if self.user is not None:
            basic = base64.b64encode(":".join(self.user).encode()).decode()
            if given != f"Basic {basic}":
                return Answer(401, b"", {"WWW-Authenticate": 'Basic realm="x"'})
        data = self.blobs.get(path.rpartition("/")[2])
        if data is None or f"/v2/{REPOSITORY}/" not in path:
            return Answer(404)
        if start := headers.get("range", "").removeprefix("bytes=").removesuffix("-"):
            if int(start) >= len(data):
                return Answer(416, b"", {"Content-Range": f"bytes */{len(data)}"})
            span = f"bytes {start}-{len(data) - 1}/{len(data)}"
            return Answer(206, data[int(start) :], {"Content-Range": span})
        return Answer(200, data)

    def _handler(registry) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - `self` is the handler's
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                headers = {name.lower(): text for name, text in self.headers.items()}
                scripted, answer = registry._next(self.path, headers)
                if not scripted:
                    answer = registry._own(self.path, headers)
                if answer is None:
                    self.close_connection = True
                    return
                cut = answer.cut
                if cut is not None and not answer.body:
                    answer = registry._own(self.path, headers)
                self.send_response(answer.status)
                for name, text in answer.headers.items():
                    self.send_header(name, text)
                self.send_header("Content-Length", answer.headers.get("Length", str(len(answer.body))))
                self.end_headers()
                self.wfile.write(answer.body if cut is None else answer.body[:cut])
                if cut is not None:
                    self.close_connection = True

            do_POST = do_GET  # noqa: N815 - http.server's names

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return Handler
