"""Reading from a registry, by the OCI distribution specification: manifests and blobs, by digest.

Nothing that it answers is believed: sizes are bounded, digests are for the caller to compare, and redirects
lead to TLS alone and take no credentials along.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import urllib3

from sparkgen import contract
from sparkgen.runtime.deadline import Deadline, Overdue, within
from sparkgen.runtime.fetch import answers
from sparkgen.runtime.fetch.values import Artifact, BadArtifact, Passing
from sparkgen.runtime.registry.credentials import Credentials
from sparkgen.runtime.registry.headers import is_number
from sparkgen.runtime.registry.login import (
    MOST_REDIRECTS,
    REDIRECTS,
    BadAddress,
    Body,
    Login,
    NoLogin,
    Place,
    next_address,
)
from sparkgen.runtime.watched_pool import watched

LARGEST_MANIFEST = 1 << 20
LARGEST_TOKEN = 64 << 10
CHUNK = 1 << 18
CONNECT_SECONDS, READ_SECONDS = 10.0, 30.0
WHOLE_SECONDS = 60.0
"""For a whole answer, and for each piece of a layer, however its bytes arrive."""


@dataclass(frozen=True, slots=True)
class Access:
    """How registries are reached. `insecure`: by plain HTTP; `ca_file`: in place of the image's own."""

    insecure: bool = False
    ca_file: Path | None = None
    credentials: Mapping[str, Credentials] | None = None
    """By the reference of an artifact."""


class Registry:
    """Reads from the registries of some artifacts. Passing or BadArtifact from each method."""

    def __init__(self, access: Access, agent: str = "sparkgen-fetch") -> None:
        self._access = access
        self._agent = agent
        self._logins: dict[str, Login[urllib3.BaseHTTPResponse]] = {}
        options: dict[str, Any] = {} if access.insecure else {"ssl_context": _context(access.ca_file)}
        self._pool = watched(urllib3.PoolManager(num_pools=4, retries=False, **options))

    def manifest(self, artifact: Artifact) -> bytes:
        """The manifest, as it was sent."""
        path = f"manifests/{artifact.manifest}"
        with self._answer(artifact, path, {"Accept": contract.ARTIFACT_MANIFEST_TYPE}) as (answer, _):
            if answer.status != 200:
                raise answers.refused(answer, artifact, "the manifest")
            return self._whole(answer, LARGEST_MANIFEST, "the manifest")

    @contextmanager
    def layer(self, artifact: Artifact, start: int) -> Iterator[tuple[int, Iterator[bytes]]]:
        """The layer from a byte on: at which byte the answer begins, and its chunks.

        It begins at 0 where the registry sends all of it whatever it is asked for.
        """
        headers = {"Range": f"bytes={start}-"} if start else {}
        with self._answer(artifact, f"blobs/{artifact.digest}", headers) as (answer, deadline):
            if answer.status == 416:
                raise answers.too_short(answer, artifact, start)
            if answer.status not in (200, 206):
                raise answers.refused(answer, artifact, "the layer")
            begins = answers.begins_at(answer, start)
            length = answer.headers.get("Content-Length", "")
            if begins is None:
                raise Passing(f"{artifact.host} sends a part of the layer that was not requested")
            if is_number(length) and begins + int(length) != artifact.size:
                raise BadArtifact(
                    f"the layer of {artifact.name} has {begins + int(length)} bytes in the registry, but "
                    f"{artifact.size} in the lock",
                    "push again: sparkgen push FILE",
                )
            yield begins, _stream(answer, artifact.host, deadline)

    def close(self) -> None:
        """Let go of all connections."""
        self._pool.clear()

    @contextmanager
    def _answer(
        self, artifact: Artifact, path: str, headers: Mapping[str, str]
    ) -> Iterator[tuple[urllib3.BaseHTTPResponse, Deadline]]:
        """An answer, and its deadline. Passing when that passes."""
        try:
            with within(WHOLE_SECONDS) as deadline, self._found(artifact, path, headers) as answer:
                yield answer, deadline
        except Overdue as error:
            raise Passing(f"{artifact.host} sent {error}") from None

    @contextmanager
    def _found(
        self, artifact: Artifact, path: str, headers: Mapping[str, str]
    ) -> Iterator[urllib3.BaseHTTPResponse]:
        """An answer, after a challenge was met and redirects were followed."""
        login = self._login(artifact)
        url = login.place.url(path)
        answer = self._requested(login, url, headers, artifact)
        try:
            for _ in range(MOST_REDIRECTS):
                if answer.status not in REDIRECTS:
                    break
                url = _redirect(url, answer, artifact)
                answer.close()
                answer = self._requested(login, url, headers, artifact)
            yield answer
        finally:
            answer.close()

    def _login(self, artifact: Artifact) -> Login[urllib3.BaseHTTPResponse]:
        known = (self._access.credentials or {}).get(artifact.reference)
        if artifact.reference not in self._logins:
            scheme = "http" if self._access.insecure else "https"
            place = Place(scheme, artifact.host, artifact.repository)
            self._logins[artifact.reference] = Login(place, "pull", self._agent, lambda: known, self)
        return self._logins[artifact.reference]

    def _requested(
        self,
        login: Login[urllib3.BaseHTTPResponse],
        url: str,
        headers: Mapping[str, str],
        artifact: Artifact,
    ) -> urllib3.BaseHTTPResponse:
        try:
            return login.request("GET", url, headers)
        except NoLogin as error:
            raise answers.no_login(error, artifact) from None

    def send(
        self, method: str, url: str, headers: Mapping[str, str], body: Body | None
    ) -> urllib3.BaseHTTPResponse:
        """One request, without following redirects."""
        timeout = urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS)
        try:
            return self._pool.request(
                method, url, headers=headers, body=body and body(), redirect=False, retries=False,
                timeout=timeout, preload_content=False, decode_content=False,
            )  # fmt: skip
        except urllib3.exceptions.HTTPError as error:
            raise _failed(error, urlsplit(url).netloc) from None

    def whole(self, answer: urllib3.BaseHTTPResponse) -> bytes:
        """A token server's answer."""
        try:
            return self._whole(answer, LARGEST_TOKEN, "the token")
        finally:
            answer.close()

    def close_answer(self, answer: urllib3.BaseHTTPResponse) -> None:
        """Let go of an answer that is not read."""
        answer.close()

    def _whole(self, answer: urllib3.BaseHTTPResponse, most: int, what: str) -> bytes:
        """A small answer. BadArtifact for one that is larger than `most`."""
        data = b""
        for chunk in _stream(answer, "the registry"):
            data += chunk
            if len(data) > most:
                raise BadArtifact(f"{what} is larger than {most} bytes", "push again: sparkgen push FILE")
        return data


def _context(ca_file: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=None if ca_file is None else str(ca_file))
    except (OSError, ssl.SSLError) as error:
        raise BadArtifact(
            f"cannot read the certificates of delivery.caConfigMap: {error}",
            "put PEM certificates into that ConfigMap",
        ) from None


def _redirect(url: str, answer: urllib3.BaseHTTPResponse, artifact: Artifact) -> str:
    try:
        return next_address(url, answer.headers.get("Location", ""))
    except BadAddress as error:
        if error.scheme is None:
            raise BadArtifact(
                f"{artifact.host} redirects to an invalid address", "ask the registry's administrator"
            ) from None
        raise BadArtifact(
            f"{artifact.host} redirects to an unsafe address ({error})",
            "let the registry answer without a redirect, or redirect to https",
        ) from None


def _failed(error: Exception, host: str) -> Exception:
    """A call that got no answer."""
    cause = error.__cause__ or error.__context__ or error
    reason = getattr(error, "reason", cause)
    of_tls = isinstance(error, urllib3.exceptions.SSLError) or isinstance(reason, ssl.SSLError)
    if of_tls and any(word in str(error).lower() for word in ("certificate", "hostname")):
        return BadArtifact(
            f"the certificate of {host} is not trusted: {error}",
            "put its certificate authority into delivery.caConfigMap, or ask the registry's administrator",
        )
    return Passing(f"{host} does not answer: {error}")


def _stream(answer: urllib3.BaseHTTPResponse, host: str, deadline: Deadline | None = None) -> Iterator[bytes]:
    """The pieces of a body. `deadline`: extended by each of them."""
    try:
        # What is there, and not whole chunks: whoever sends a byte a minute must not outstay any deadline.
        while chunk := answer.read1(CHUNK, decode_content=False):
            yield chunk
            if deadline is not None:
                deadline.extend()
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise Passing(f"{host} closed the connection: {error}") from None
