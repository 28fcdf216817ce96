"""Reading from a registry, by the OCI distribution specification: manifests and blobs, by digest.

Nothing that it answers is believed: sizes are bounded, digests are for the caller to compare, and redirects
lead to TLS alone and take no credentials along.
"""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import quote, urlencode, urljoin, urlsplit

import urllib3

from sparkgen import contract
from sparkgen.runtime.fetch import answers
from sparkgen.runtime.fetch.credentials import DOCKER_HUB, Credentials
from sparkgen.runtime.fetch.values import Artifact, BadArtifact, Passing

LARGEST_MANIFEST = 1 << 20
LARGEST_TOKEN = 64 << 10
MOST_REDIRECTS = 5
CHUNK = 1 << 18
_BASIC = "Basic "
"""How the header with a name and a password begins."""
CONNECT_SECONDS, READ_SECONDS = 10.0, 30.0
WHOLE_SECONDS = 60.0
"""For a manifest or a token."""
_CHALLENGE = re.compile(r'([a-zA-Z]+)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Access:
    """How registries are reached. `insecure`: by plain HTTP; `ca_file`: in place of the image's own."""

    insecure: bool = False
    ca_file: Path | None = None
    credentials: Mapping[str, Credentials] | None = None
    """By the reference of an artifact."""


class Registry:
    """Reads from the registries of some artifacts. Passing or BadArtifact from each method."""

    def __init__(
        self, access: Access, agent: str = "sparkgen-fetch", clock: Callable[[], float] = monotonic
    ) -> None:
        self._access = access
        self._agent = agent
        self._clock = clock
        self._authorization: dict[str, str] = {}
        options: dict[str, Any] = {} if access.insecure else {"ssl_context": _context(access.ca_file)}
        self._pool = urllib3.PoolManager(num_pools=4, retries=False, **options)

    def manifest(self, artifact: Artifact) -> bytes:
        """The manifest, as it was sent."""
        path = f"manifests/{artifact.manifest}"
        with self._answer(artifact, path, {"Accept": contract.ARTIFACT_MANIFEST_TYPE}) as answer:
            if answer.status != 200:
                raise answers.refused(answer, artifact, "the manifest")
            return self._whole(answer, LARGEST_MANIFEST, "the manifest")

    @contextmanager
    def layer(self, artifact: Artifact, start: int) -> Iterator[tuple[int, Iterator[bytes]]]:
        """The layer from a byte on: at which byte the answer begins, and its chunks.

        It begins at 0 where the registry sends all of it whatever it is asked for.
        """
        headers = {"Range": f"bytes={start}-"} if start else {}
        with self._answer(artifact, f"blobs/{artifact.digest}", headers) as answer:
            if answer.status == 416:
                raise answers.too_short(answer, artifact, start)
            if answer.status not in (200, 206):
                raise answers.refused(answer, artifact, "the layer")
            begins = answers.begins_at(answer, start)
            length = answer.headers.get("Content-Length", "")
            if begins is None:
                raise Passing(f"{artifact.host} sends a part of the layer that was not requested")
            if answers.is_number(length) and begins + int(length) != artifact.size:
                raise BadArtifact(
                    f"the layer of {artifact.name} has {begins + int(length)} bytes in the registry, but "
                    f"{artifact.size} in the lock",
                    "push again: sparkgen push FILE",
                )
            yield begins, _stream(answer, artifact.host)

    def close(self) -> None:
        """Let go of all connections."""
        self._pool.clear()

    @contextmanager
    def _answer(
        self, artifact: Artifact, path: str, headers: Mapping[str, str]
    ) -> Iterator[urllib3.BaseHTTPResponse]:
        """An answer, after a challenge was met and redirects were followed."""
        url = f"{self._base(artifact.host)}/v2/{artifact.repository}/{path}"
        authorization = self._authorization.get(artifact.reference)
        answer = self._get(url, headers, authorization)
        try:
            if answer.status == 401:
                authorization = self._authorized(answer, artifact, authorization)
                answer.close()
                answer = self._get(url, headers, authorization)
                if answer.status == 401 and authorization.startswith(_BASIC):
                    raise answers.no_rights(
                        artifact, (self._access.credentials or {}).get(artifact.reference)
                    )
            for _ in range(MOST_REDIRECTS):
                if answer.status not in (301, 302, 303, 307, 308):
                    break
                target = self._redirect(url, answer, artifact)
                answer.close()
                same = _origin(target) == _origin(url)
                url, answer = target, self._get(target, headers, authorization if same else None)
            yield answer
        finally:
            answer.close()

    def _base(self, host: str) -> str:
        scheme = "http" if self._access.insecure else "https"
        return f"{scheme}://{'registry-1.docker.io' if host == DOCKER_HUB else host}"

    def _get(
        self, url: str, headers: Mapping[str, str], authorization: str | None
    ) -> urllib3.BaseHTTPResponse:
        sent = {"User-Agent": self._agent, **headers}
        if authorization is not None:
            sent["Authorization"] = authorization
        return self._request("GET", url, sent)

    def _request(
        self, method: str, url: str, headers: Mapping[str, str], body: str | None = None
    ) -> urllib3.BaseHTTPResponse:
        timeout = urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS)
        try:
            return self._pool.request(
                method, url, headers=headers, body=body, redirect=False, retries=False, timeout=timeout,
                preload_content=False, decode_content=False,
            )  # fmt: skip
        except urllib3.exceptions.HTTPError as error:
            raise _failed(error, urlsplit(url).netloc) from None

    def _redirect(self, url: str, answer: urllib3.BaseHTTPResponse, artifact: Artifact) -> str:
        try:
            target = urljoin(url, answer.headers.get("Location", ""))
            parts = urlsplit(target)
        except ValueError:  # such as half an IPv6 address
            raise BadArtifact(
                f"{artifact.host} redirects to an invalid address", "ask the registry's administrator"
            ) from None
        allowed = ("https", "http") if self._access.insecure else ("https",)
        if parts.scheme not in allowed or not parts.hostname or parts.username is not None:
            raise BadArtifact(
                f"{artifact.host} redirects to an unsafe address ({parts.scheme}://{parts.hostname})",
                "let the registry answer without a redirect, or redirect to https",
            )
        return target

    def _authorized(self, answer: urllib3.BaseHTTPResponse, artifact: Artifact, tried: str | None) -> str:
        """The header that a challenge asks for; it is kept. BadArtifact where there is none."""
        challenge = answer.headers.get("WWW-Authenticate", "")
        known = (self._access.credentials or {}).get(artifact.reference)
        scheme = challenge.partition(" ")[0].lower()
        if scheme == "basic":
            if known is None or tried is not None:
                raise answers.no_rights(artifact, known)
            header = known.basic
        elif scheme == "bearer":
            header = f"Bearer {self._token(dict(_CHALLENGE.findall(challenge)), artifact, known)}"
        else:
            raise answers.no_rights(artifact, known)
        self._authorization[artifact.reference] = header
        return header

    def _token(self, challenge: Mapping[str, str], artifact: Artifact, known: Credentials | None) -> str:
        """A token from the server that a challenge names (docker's token authentication)."""
        realm = challenge.get("realm", "")
        try:
            parts = urlsplit(realm)
        except ValueError:
            raise BadArtifact(
                f"{artifact.host} names a token server with an invalid address",
                "ask the registry's administrator",
            ) from None
        own = parts.hostname == urlsplit(f"//{artifact.host}").hostname
        safe = parts.scheme == "https" or (self._access.insecure and parts.scheme == "http" and own)
        if not safe or not parts.hostname or parts.username is not None:
            raise BadArtifact(
                f"{artifact.host} names an unsafe token server: {parts.scheme}://{parts.hostname}",
                "configure the registry with an https token server",
            )
        wanted = {"scope": f"repository:{artifact.repository}:pull"}
        if "service" in challenge:
            wanted["service"] = challenge["service"]
        headers, method, body = {"User-Agent": self._agent}, "GET", None
        if known is not None and known.refresh:
            form = {
                **wanted,
                "grant_type": "refresh_token",
                "client_id": self._agent,
                "refresh_token": known.refresh,
            }
            method, body = "POST", urlencode(form)
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        else:
            realm = f"{realm}{'&' if parts.query else '?'}{urlencode(wanted, quote_via=quote)}"
            if known is not None:
                headers["Authorization"] = known.basic
        answer = self._request(method, realm, headers, body)
        try:
            if answer.status in (400, 401, 403):
                raise answers.no_rights(artifact, known)
            if answer.status != 200:
                raise answers.refused(answer, artifact, "a token")
            return _token_in(self._whole(answer, LARGEST_TOKEN, "the token"), artifact)
        finally:
            answer.close()

    def _whole(self, answer: urllib3.BaseHTTPResponse, most: int, what: str) -> bytes:
        """A small answer. Passing for one that takes long, BadArtifact for one that is larger than `most`."""
        data, began = b"", self._clock()
        for chunk in _stream(answer, "the registry"):
            data += chunk
            if len(data) > most:
                raise BadArtifact(f"{what} is larger than {most} bytes", "push again: sparkgen push FILE")
            if self._clock() - began > WHOLE_SECONDS:
                raise Passing(f"{what} did not arrive within {WHOLE_SECONDS:.0f} s")
        return data


def _context(ca_file: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=None if ca_file is None else str(ca_file))
    except (OSError, ssl.SSLError) as error:
        raise BadArtifact(
            f"cannot read the certificates of delivery.caConfigMap: {error}",
            "put PEM certificates into that ConfigMap",
        ) from None


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


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


def _stream(answer: urllib3.BaseHTTPResponse, host: str) -> Iterator[bytes]:
    try:
        # What is there, and not whole chunks: whoever sends a byte a minute must not outstay any deadline.
        while chunk := answer.read1(CHUNK, decode_content=False):
            yield chunk
    except (urllib3.exceptions.HTTPError, OSError) as error:
        raise Passing(f"{host} closed the connection: {error}") from None


def _token_in(data: bytes, artifact: Artifact) -> str:
    with suppress(ValueError, RecursionError):
        found = json.loads(data)
        token = (found.get("token") or found.get("access_token")) if isinstance(found, dict) else None
        if isinstance(token, str) and re.fullmatch(r"[\x21-\x7e]+", token):
            return token
    raise BadArtifact(
        f"the token server of {artifact.host} sends no token", "ask the registry's administrator"
    )
