"""A small client of registries, for tests: it exposes the protocol's own requests and answers.

It connects from the thread's network namespace: call it in `with network.inside(NAME)`.
The protocol is https://github.com/opencontainers/distribution-spec/blob/v1.1.1/spec.md.
"""

from __future__ import annotations

import base64
import http.client
import json
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from cluster import ociimage
from cluster.ociimage import Image

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
SECONDS = 20.0
"""The most seconds for an answer."""


class Refused(Exception):
    """The registry refused a request: `status` is HTTP's, `code` the answer's first error code, or ""."""

    def __init__(self, status: int, body: bytes) -> None:
        """Parse the answer's error code."""
        self.status = status
        try:
            self.code = str(json.loads(body)["errors"][0]["code"])
        except (ValueError, KeyError, IndexError, TypeError):
            self.code = ""
        super().__init__(f"{status} {self.code or body[:200].decode(errors='replace')}")


@dataclass(frozen=True, slots=True)
class Answer:
    """A registry's answer; the names of `headers` are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Client:
    """A registry ("10.77.0.1:5443"), and the user: with a CA's file by TLS, otherwise by plain HTTP.

    `name`: the name in its certificate, if this is not the host of `address`.
    """

    address: str
    authority: Path | None = None
    user: str = ""
    password: str = field(default="", repr=False)
    name: str = ""

    def call(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send one request. Returns its answer, whatever the status is. Raises OSError without an answer."""
        sent = dict(headers or {})
        if self.user:
            word = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
            sent["Authorization"] = f"Basic {word}"
        with self._connection() as connection:
            connection.request(method, path, body, sent)
            response = connection.getresponse()
            names = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, names, response.read())

    @contextmanager
    def _connection(self) -> Iterator[http.client.HTTPConnection]:
        connection: http.client.HTTPConnection
        if self.authority is None:
            connection = http.client.HTTPConnection(self.address, timeout=SECONDS)
        else:
            context = ssl.create_default_context(cafile=str(self.authority))
            connection = _Named(self.address, context, self.name)
        try:
            yield connection
        finally:
            connection.close()

    def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        """Send one request. Raises Refused if it does not succeed. `content_type` means Content-Type."""
        named = {name.replace("_", "-").title(): value for name, value in headers.items()}
        answer = self.call(method, path, body, named)
        if answer.status >= 400:
            raise Refused(answer.status, answer.body)
        return answer

    def push(self, repository: str, image: Image, tag: str = "") -> str:
        """Push the image, with a tag or by its digest alone. Returns its digest."""
        parts = ociimage.members({"pushed": image})
        wanted = ociimage.digest(image)
        manifest = _bytes(parts[f"blobs/{wanted.replace(':', '/')}"])
        described = json.loads(manifest)
        for blob in (described["config"], *described["layers"]):
            self.push_blob(repository, _bytes(parts[f"blobs/{blob['digest'].replace(':', '/')}"]))
        path = f"/v2/{repository}/manifests/{tag or wanted}"
        answer = self.ask("PUT", path, manifest, content_type=MANIFEST)
        return answer.headers["docker-content-digest"]

    def push_blob(self, repository: str, data: bytes) -> str:
        """Push one blob, if the registry does not have it. Returns its digest."""
        digest = ociimage.layer(data).digest
        if self.call("HEAD", f"/v2/{repository}/blobs/{digest}").status == 200:
            return digest
        place = self.begin_upload(repository)
        self.end_upload(place, digest, data)
        return digest

    def begin_upload(self, repository: str) -> str:
        """Start the upload of a blob. Returns the path for its bytes."""
        found = urlsplit(self.ask("POST", f"/v2/{repository}/blobs/uploads/", b"").headers["location"])
        return f"{found.path}?{found.query}"

    def end_upload(self, place: str, digest: str, data: bytes) -> None:
        """Send all bytes of a blob to the path of `begin_upload`."""
        self.ask("PUT", f"{place}&digest={digest}", data, content_type="application/octet-stream")

    def manifest(self, repository: str, reference: str) -> dict[str, Any]:
        """The manifest of a tag or digest."""
        answer = self.ask("GET", f"/v2/{repository}/manifests/{reference}", accept=MANIFEST)
        return dict(json.loads(answer.body))

    def blob(self, repository: str, digest: str) -> bytes:
        """The bytes that the registry has for a blob; the caller must check whether they are correct."""
        return self.ask("GET", f"/v2/{repository}/blobs/{digest}").body


class _Named(http.client.HTTPSConnection):
    """A connection whose certificate may be for a name other than the host's."""

    def __init__(self, address: str, context: ssl.SSLContext, name: str) -> None:
        super().__init__(address, timeout=SECONDS, context=context)
        self._trust, self._name = context, name

    def connect(self) -> None:
        """Connect, and check the certificate."""
        http.client.HTTPConnection.connect(self)
        self.sock = self._trust.wrap_socket(self.sock, server_hostname=self._name or self.host)


def _bytes(part: bytes | ociimage.Layer) -> bytes:
    if isinstance(part, bytes):
        return part
    with ociimage.opened(part) as data:
        return data.read()
