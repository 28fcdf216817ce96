"""Requests by urllib3 alone, where the kubeconfig says all there is to know.

Importing the official client takes half a second, several times what a command has to do. A kubeconfig of one
file with an address, a certificate authority, and a token or a client certificate needs nothing of it.
Anything else, from a login by a program to a proxy or a file that is missing, is left to the official client,
which knows what to do, or what to say. Tests hold both to the same requests.
"""

from __future__ import annotations

import base64
import json
import os
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import urllib3
from urllib3.util.ssl_ import create_urllib3_context

from sparkgen.cluster.channel import CONNECTIONS, Answer, Call, Refused
from sparkgen.cluster.place import Chosen, read

_CLUSTER = {"server", "certificate-authority", "certificate-authority-data", "extensions"}
_USER = {"client-certificate", "client-certificate-data", "client-key", "client-key-data", "token"}
_FILES = ("certificate-authority", "client-certificate", "client-key")


class Plain:
    """A channel over a pool of connections."""

    def __init__(self, server: str, headers: Mapping[str, str], tls: ssl.SSLContext | None) -> None:
        self.server = server
        self._prefix = urlsplit(server).path
        self._headers = {"Accept": "application/json", **headers}
        more: dict[str, Any] = {"ssl_context": tls} if tls else {}
        self._pool = urllib3.connection_from_url(server, maxsize=CONNECTIONS, **more)

    def send(self, call: Call) -> Answer:
        """The answer; tried once more where no connection came about. Refused, or an HTTPError."""
        connect, read = call.timeout
        url = f"{self._prefix}{call.path}{'?' if call.query else ''}{urlencode(call.query)}"
        answer = self._pool.urlopen(
            call.method,
            url,
            body=None if call.body is None else json.dumps(call.body).encode(),
            headers={**self._headers, **call.headers},
            retries=urllib3.Retry(1),
            redirect=False,
            timeout=urllib3.Timeout(connect=connect, read=read),
            preload_content=False,
        )
        if not 200 <= answer.status <= 299:
            raise Refused(answer.status, answer.reason or "", answer.data)
        return answer


def channel(chosen: Chosen, environment: Mapping[str, str]) -> Plain | None:
    """The channel to a cluster; None where the official client has to look."""
    if not chosen.files or os.pathsep in chosen.files:
        return None
    try:
        cluster, user = _entries(read(chosen.files), chosen.context)
        server = str(cluster["server"]).rstrip("/")
        known = server.startswith(("http://", "https://")) and _is_plain(cluster, user)
        if not known or _proxied(server, environment):
            return None
        token = {"Authorization": f"Bearer {user['token']}"} if user.get("token") else {}
        tls = _tls({**cluster, **user}, Path(chosen.files).parent) if server.startswith("https:") else None
        return Plain(server, token, tls)
    except (OSError, ValueError, TypeError, KeyError, urllib3.exceptions.HTTPError):
        return None


def _entries(config: Mapping[str, Any], context: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The cluster and the user of a context. ValueError where they are not clear."""
    chosen = _named(config["contexts"], context)["context"]
    cluster = _named(config["clusters"], chosen["cluster"])["cluster"]
    user = _named(config["users"], chosen["user"])["user"]
    return dict(cluster), dict(user)


def _named(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    [found] = [entry for entry in entries if entry["name"] == name]
    return found


def _is_plain(cluster: Mapping[str, Any], user: Mapping[str, Any]) -> bool:
    """Whether nothing is said that this module does not know, and nothing twice."""
    said = {*cluster, *user}
    twice = any({name, f"{name}-data"} <= said for name in _FILES)
    return set(cluster) <= _CLUSTER and set(user) <= _USER and not twice


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
    """Whom to trust, and who we are. Paths are relative to the kubeconfig's folder, as for kubectl."""
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
    """Load a client's certificate and key, which ssl takes as files only."""
    if "client-certificate" in said and "client-key" in said:
        context.load_cert_chain(folder / said["client-certificate"], folder / said["client-key"])
        return
    import tempfile  # noqa: PLC0415 - not for kubeconfigs that name files

    with tempfile.TemporaryDirectory() as own:
        certificate, key = (Path(own, name) for name in ("client-certificate", "client-key"))
        for file in (certificate, key):
            data = said.get(f"{file.name}-data")
            file.write_bytes(base64.b64decode(data) if data else (folder / said[file.name]).read_bytes())
        context.load_cert_chain(certificate, key)
