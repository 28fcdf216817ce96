"""Blobs and manifests into a repository: only what it has not, and from where an upload broke off."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO, Literal, Protocol
from urllib.parse import urlencode

from urllib3.exceptions import HTTPError

from sparkgen import contract
from sparkgen.delivery.oci import Blob, sha256
from sparkgen.delivery.registry import errors
from sparkgen.delivery.registry.client import PAUSES, Answer, Client, absolute
from sparkgen.delivery.registry.errors import RegistryError

_CHUNK = 1 << 18
_DIGEST = "docker-content-digest"
_OK = 200
_MANIFEST = {"Accept": contract.ARTIFACT_MANIFEST_TYPE}

Sent = Callable[[int], None]
"""Is told how many bytes of a blob are sent so far; fewer than before where some are sent again."""


Kept = Literal["right", "missing", "wrong"]
"""What a registry has under a digest; "right" where nothing else is known."""


class Look(Protocol):
    """Asks a registry for what it has. `verify`: whether the bytes are read."""

    def __call__(self, blob: Blob, /, *, verify: bool) -> Kept:
        """Ask for a manifest or a blob."""
        ...


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository of a registry, to which `client.begin()` has spoken."""

    client: Client

    @property
    def host(self) -> str:
        """Its registry."""
        return self.client.target.host

    def manifest(self, manifest: Blob, *, verify: bool = False) -> Kept:
        """What the registry has of a manifest."""
        return self._kept(f"manifests/{manifest.digest}", manifest, _MANIFEST, verify=verify)

    def blob(self, blob: Blob, *, verify: bool = False) -> Kept:
        """What the registry has of a blob."""
        return self._kept(f"blobs/{blob.digest}", blob, {}, verify=verify)

    def _kept(self, path: str, blob: Blob, headers: Mapping[str, str], *, verify: bool) -> Kept:
        """Bytes are read with `verify`, and where the registry says that there are more or fewer of them."""
        url = self.client.url(path)
        answer = self.client.request("HEAD", url, headers)
        if not self._there(answer, blob.digest):
            return "missing"
        size = answer.headers.get("content-length") if answer.status == _OK else None
        if not verify and size in (None, str(blob.size)):
            return "right"
        answer = self.client.read(url, headers, lambda chunks: _digest(chunks, blob.size))
        if not self._there(answer, blob.digest):
            return "missing"
        return "right" if answer.body == blob.digest.encode() else "wrong"

    def _there(self, answer: Answer, digest: str) -> bool:
        if answer.status == 404 or (
            answer.status in (301, 302, 303, 307, 308) and "location" not in answer.headers
        ):
            return False
        if answer.status in (200, 302, 303, 307, 308):
            return True
        raise errors.refused(self.host, f"look for {digest[:19]}", answer.status, answer.body)

    def put_manifest(self, data: bytes, tag: str) -> None:
        """Put a manifest under a tag. RegistryError where the registry gives it another digest."""
        url = self.client.url(f"manifests/{tag}")
        headers = {"Content-Type": contract.ARTIFACT_MANIFEST_TYPE, "Content-Length": str(len(data))}
        answer = self.client.request("PUT", url, headers, lambda: [data])
        if answer.status not in (200, 201, 202):
            raise errors.refused(self.host, "put the manifest", answer.status, answer.body)
        self._same(answer, sha256(data))

    def upload(self, blob: Blob, file: BinaryIO, sent: Sent) -> None:
        """Upload a blob from a file. It goes on where a connection broke; RegistryError after some tries."""
        rounds = iter(PAUSES)
        location, done = self._begin(), 0
        while True:
            answer = self._patch(location, blob, file, done, sent)
            if answer is not None and answer.status in (200, 201, 202, 204):
                location = self._next(location, answer)
                break
            if answer is not None and not _may_go_on(answer.status):
                raise errors.refused(self.host, "upload", answer.status, answer.body)
            pause = next(rounds, None)
            if pause is None:
                if answer is not None:
                    raise errors.refused(self.host, "upload", answer.status, answer.body)
                raise RegistryError(f"the connection to {self.host} broke repeatedly during the upload")
            self.client.sleep(pause)
            location, done = self._state(location)
            sent(done)
        mark = "&" if "?" in location else "?"
        url = f"{location}{mark}{urlencode({'digest': blob.digest})}"
        answer = self.client.request("PUT", url, {"Content-Length": "0"}, list)
        if answer.status not in (201, 202, 204):
            raise errors.refused(self.host, "finish the upload", answer.status, answer.body)
        self._same(answer, blob.digest)

    def _begin(self) -> str:
        url = self.client.url("blobs/uploads/")
        answer = self.client.request("POST", url, {"Content-Length": "0"}, list)
        if answer.status != 202:
            raise errors.refused(self.host, "begin an upload", answer.status, answer.body)
        return self._next(url, answer)

    def _next(self, url: str, answer: Answer) -> str:
        location = answer.headers.get("location", "")
        if not location:
            raise RegistryError(
                f"{self.host} does not say where to continue the upload: check that it is a registry"
            )
        return absolute(url, location)

    def _patch(self, location: str, blob: Blob, file: BinaryIO, start: int, sent: Sent) -> Answer | None:
        """The answer to the rest of a blob; None where the connection broke."""
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(blob.size - start)}
        if start:
            headers["Content-Range"] = f"{start}-{blob.size - 1}"
        try:
            return self.client.once("PATCH", location, headers, lambda: _rest(file, start, sent))
        except (HTTPError, OSError):
            return None

    def _state(self, location: str) -> tuple[str, int]:
        """Where a broken upload goes on, and with which byte: a new one where the registry has none."""
        answer = self.client.request("GET", location)
        found = re.fullmatch(r"(?:bytes=)?0-([0-9]{1,18})", answer.headers.get("range", ""))
        if answer.status != 204 or found is None:
            return self._begin(), 0
        return self._next(location, answer), int(found[1]) + 1 if int(found[1]) else 0

    def _same(self, answer: Answer, digest: str) -> None:
        given = answer.headers.get(_DIGEST, digest)
        if given != digest:
            raise RegistryError(
                f"{self.host} stored something other than what was sent: it answers {given[:80]}, not "
                f"{digest}; check for a proxy that changes the data"
            )


def _digest(chunks: Iterator[bytes], size: int) -> bytes:
    """The digest of what comes; of no more than is needed to see that it is too much."""
    whole, read = hashlib.sha256(), 0
    for chunk in chunks:
        whole.update(chunk)
        read += len(chunk)
        if read > size:
            break
    return f"sha256:{whole.hexdigest()}".encode()


def _may_go_on(status: int) -> bool:
    """Whether what is left may be sent again: a login that has run out, or a registry that stumbled."""
    return status in (401, 416, 429, 500, 502, 503, 504)


def _rest(file: BinaryIO, start: int, sent: Sent) -> Iterator[bytes]:
    file.seek(start)
    while chunk := file.read(_CHUNK):
        yield chunk
        start += len(chunk)
        sent(start)
