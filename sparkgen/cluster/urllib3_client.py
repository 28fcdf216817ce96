"""Sends requests with urllib3 alone, for common kubeconfigs.

Importing the official client takes half a second, several times as long as the work of a command. It is not
needed for a kubeconfig of one file with an address, a certificate authority, and a token, a client
certificate or a program that logs in (exec_login.py), possibly to act as another user (identity.py).
Everything else, from a proxy to a missing file, is left to the official client, which supports it or explains
the error. Tests require the same requests of both.
"""

from __future__ import annotations

import base64
import json
import os
import ssl
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import urllib3
from urllib3.util.ssl_ import create_urllib3_context

from sparkgen.cluster import exec_login, identity
from sparkgen.cluster.channel import (
    CONNECTIONS,
    Answer,
    Call,
    Channel,
    Refused,
    with_scheme,
)
from sparkgen.cluster.errors import ClusterError
from sparkgen.cluster.exec_login import Credential
from sparkgen.cluster.place import Chosen, read

_CLUSTER = {
    "server",
    "certificate-authority",
    "certificate-authority-data",
    "disable-compression",
    "extensions",
}
_USER = {"client-certificate", "client-certificate-data", "client-key", "client-key-data", "token"}
_UNAUTHORIZED = 401
_NO_PASSWORD = b""  # an encrypted key is an error; ssl would ask for its password on the terminal
MOST_OF_REFUSAL = 64 * 1024
"""The most bytes that are read of an answer that refuses a request."""
LONGEST_PAUSE = 10.0
_FILES = ("certificate-authority", "client-certificate", "client-key")


class Again(urllib3.Retry):
    """Retries as a server asks, but waits for at most LONGEST_PAUSE seconds."""

    def get_retry_after(self, response: urllib3.BaseHTTPResponse) -> float | None:
        """Returns the seconds until the next try; None if the server names none."""
        asked = super().get_retry_after(response)
        return None if asked is None else min(asked, LONGEST_PAUSE)


class Plain:
    """A channel over a pool of connections."""

    def __init__(self, server: str, headers: identity.Headers, tls: ssl.SSLContext | None) -> None:
        self.server = server
        self._prefix = urlsplit(server).path
        self._headers = headers
        more: dict[str, Any] = {"ssl_context": tls} if tls else {}
        self._pool = urllib3.connection_from_url(server, maxsize=CONNECTIONS, **more)

    def send(self, call: Call) -> Answer:
        """Returns the answer; retries once if the connection fails. Raises Refused, or an HTTPError."""
        connect, read = call.timeout
        url = f"{self._prefix}{call.path}{'?' if call.query else ''}{urlencode(call.query)}"
        headers = urllib3.HTTPHeaderDict({"Accept": "application/json", **call.headers})
        headers.extend(self._headers)
        answer = self._pool.urlopen(
            call.method,
            url,
            body=None if call.body is None else json.dumps(call.body).encode(),
            headers=headers,
            retries=Again(1),
            redirect=False,
            timeout=urllib3.Timeout(connect=connect, read=read),
            preload_content=False,
        )
        return accepted(answer)


def accepted(answer: urllib3.BaseHTTPResponse) -> Answer:
    """Returns the answer. Raises Refused, with the beginning of its body, for a status outside 200 to 299."""
    if 200 <= answer.status <= 299:
        return answer
    said = answer.read(MOST_OF_REFUSAL, decode_content=True)
    if len(said) == MOST_OF_REFUSAL:
        answer.close()
    raise Refused(answer.status, answer.reason or "", said)


class LoggedIn:
    """A channel that logs in with a program.

    The program runs before the first request, when its credential has expired, and once more when the server
    refuses the credential. Threads that need it at the same time wait for the same login.
    """

    def __init__(
        self,
        server: str,
        log_in: Callable[[], Credential],
        opened: Callable[[Credential], Plain],
        now: Callable[[], datetime],
    ) -> None:
        self.server = server
        self._log_in = log_in
        self._opened = opened
        self._now = now
        self._held = threading.Lock()
        self._plain: Plain | None = None
        self._expires: datetime | None = None

    def send(self, call: Call) -> Answer:
        """Returns the answer. Raises Refused, an HTTPError, or ClusterError if the login fails."""
        used = self._current(None)
        try:
            return used.send(call)
        except Refused as error:
            if error.status != _UNAUTHORIZED:
                raise
        return self._current(used).send(call)

    def _current(self, refused: Plain | None) -> Plain:
        """Returns a channel, other than `refused`, with a credential that has not expired."""
        with self._held:
            expired = self._expires is not None and self._expires <= self._now()
            if self._plain is None or self._plain is refused or expired:
                credential = self._log_in()
                self._plain, self._expires = self._opened(credential), credential.expires
            return self._plain


def channel(
    chosen: Chosen,
    environment: Mapping[str, str],
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Channel | None:
    """Returns the channel to a cluster; None if the official client is needed. ClusterError: bad login."""
    if not chosen.files or os.pathsep in chosen.files:
        return None
    try:
        cluster, name, user = _entries(read(chosen.files), chosen.context)
        server = with_scheme(str(cluster["server"] or ""))
        folder = Path(chosen.files).absolute().parent
        user, impersonation = identity.acting(cluster, name, user, folder, now())
        known = server.startswith(("http://", "https://")) and _is_plain(cluster, user)
        if not known or _proxied(server, environment):
            return None
        opened = partial(_opened, server, cluster, folder, impersonation)
        plain = opened(user, str(user.get("token") or ""))
        if "exec" not in user:
            return plain
        program = exec_login.plugin(name, user["exec"], cluster, folder, environment)
    except (OSError, ValueError, TypeError, KeyError, urllib3.exceptions.HTTPError):
        return None
    return LoggedIn(
        server,
        lambda: exec_login.log_in(program),
        lambda credential: _with_credential(opened, name, credential),
        now,
    )


def _with_credential(opened: Callable[..., Plain], name: str, credential: Credential) -> Plain:
    """Returns a channel with the credential of a program. Raises ClusterError if it cannot be used."""
    pem = {"client-certificate": credential.certificate, "client-key": credential.key}
    user = {f"{key}-data": base64.b64encode(text.encode()).decode() for key, text in pem.items() if text}
    try:
        return opened(user, credential.token)
    except (ssl.SSLError, UnicodeError) as error:
        raise ClusterError(
            f"cannot log in as the user {name} of the kubeconfig: the certificate or the key that its "
            f"program printed cannot be used ({error}): log in again as your cloud describes"
        ) from None


def _opened(
    server: str,
    cluster: Mapping[str, Any],
    folder: Path,
    impersonation: identity.Headers,
    user: Mapping[str, Any],
    token: str,
) -> Plain:
    """A channel with a token, a client certificate, or both. Raises errors of ssl, or OSError."""
    login = (("Authorization", f"Bearer {token}"),) if token else ()
    tls = _tls({**cluster, **user}, folder) if server.startswith("https:") else None
    return Plain(server, login + impersonation, tls)


def _entries(config: Mapping[str, Any], context: str) -> tuple[dict[str, Any], str, dict[str, Any]]:
    """Returns a context's cluster, its user's name, and the user. Raises ValueError if they are ambiguous."""
    chosen = _named(config["contexts"], context)["context"]
    cluster = _named(config["clusters"], chosen["cluster"])["cluster"]
    user = _named(config["users"], chosen["user"])["user"]
    return dict(cluster), str(chosen["user"]), dict(user)


def _named(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    [found] = [entry for entry in entries if entry["name"] == name]
    return found


def _is_plain(cluster: Mapping[str, Any], user: Mapping[str, Any]) -> bool:
    """Whether the entries have only fields that this module supports, and none in two forms."""
    said = {*cluster, *user}
    twice = any({name, f"{name}-data"} <= said for name in _FILES)
    logs_in = exec_login.can_read(user) if "exec" in user else set(user) <= _USER
    return set(cluster) <= _CLUSTER and logs_in and not twice


def _proxied(server: str, environment: Mapping[str, str]) -> bool:
    """Whether the environment may name a proxy for this server."""
    known = {name.lower(): text for name, text in environment.items() if text}
    where = urlsplit(server)
    if not {f"{where.scheme}_proxy", "all_proxy"} & set(known):
        return False
    import urllib.request  # noqa: PLC0415 - rare

    # typeshed leaves the function out.
    bypass: Callable[..., bool] = vars(urllib.request)["proxy_bypass_environment"]
    return not bypass(where.netloc, {"no": known.get("no_proxy", "")})


def _tls(said: Mapping[str, Any], folder: Path) -> ssl.SSLContext:
    """Returns the TLS settings (authorities, client certificate); paths are relative to the kubeconfig."""
    context = create_urllib3_context()
    if "certificate-authority-data" in said:
        context.load_verify_locations(cadata=base64.b64decode(said["certificate-authority-data"]).decode())
    elif "certificate-authority" in said:
        context.load_verify_locations(cafile=folder / said["certificate-authority"])
    else:
        context.load_default_certs()
    names = [name for name in ("client-certificate", "client-key") if {name, f"{name}-data"} & set(said)]
    if names:
        _load_client(context, said, folder)
    return context


def _load_client(context: ssl.SSLContext, said: Mapping[str, Any], folder: Path) -> None:
    """Load a client's certificate and key; ssl accepts only files."""
    if "client-certificate" in said and "client-key" in said:
        names = (folder / said["client-certificate"], folder / said["client-key"])
        context.load_cert_chain(*names, password=_NO_PASSWORD)
        return
    import tempfile  # noqa: PLC0415 - not for kubeconfigs that name files

    with tempfile.TemporaryDirectory() as own:
        certificate, key = (Path(own, name) for name in ("client-certificate", "client-key"))
        for file in (certificate, key):
            data = said.get(f"{file.name}-data")
            file.write_bytes(base64.b64decode(data) if data else (folder / said[file.name]).read_bytes())
        context.load_cert_chain(certificate, key, password=_NO_PASSWORD)
