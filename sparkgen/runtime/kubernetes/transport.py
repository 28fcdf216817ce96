"""HTTP to the API server: address, certificate, token, connections, time-outs. Uses urllib3.

urllib3 rather than the official client, which takes 0.7 s and 66 MB to import: all that is needed here is
JSON over a pool of connections (docs/design/dependencies.md).
"""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any, Protocol
from urllib.parse import urlencode

import urllib3

from sparkgen.jsonvalue import decode_object
from sparkgen.runtime.addresses import url_host
from sparkgen.runtime.deadline import within
from sparkgen.runtime.kubernetes.access import Access, ReloadedFile
from sparkgen.runtime.kubernetes.answers import CallFailed, Reply
from sparkgen.runtime.kubernetes.response_body import (
    CONNECT_TIMEOUT,
    MAX_ANSWER,
    MAX_REFUSAL,
    WHOLE_TIMEOUT,
    LineStream,
    as_call_failures,
    whole_of,
)
from sparkgen.runtime.watched_pool import WatchedPool, WatchedTlsPool

CONNECTIONS = 20
"""The connections kept open: one for each write in flight (apply_outcomes.MAX_WINDOW), and some for lists and
watches."""
READ_TIMEOUT = 30.0
"""Seconds for an answer: longer than all admission webhooks may take together in most clusters."""

KEEP_ALIVE = [
    (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    *(
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3))
        if hasattr(socket, name)
    ),
]
"""The system detects a server that has silently vanished (its machine is gone) after 30 s, also in a
watch."""


class LineSource(Protocol):
    """An answer that arrives in lines: `LineStream`."""

    def lines(self) -> Iterator[bytes]:
        """Yields each whole line as it arrives, until the answer ends. Raises CallFailed if it breaks off."""
        ...

    def stop(self) -> None:
        """Wake up the thread that waits for a line, which gets CallFailed. Call it from another thread."""
        ...


MERGE_PATCH: Mapping[str, str] = {"Content-Type": "application/merge-patch+json"}
"""The headers of a PATCH that is merged into an object (RFC 7386)."""


class Calls(Protocol):
    """Single calls to an API server, with headers of one's own: `Transport`."""

    def call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Make one call. Raises CallFailed without an answer; an error answer is a Reply, too."""
        ...


class ApiCalls(Protocol):
    """Calls to an API server: `Transport`, or a simulated server."""

    def call(self, method: str, path: str, query: Mapping[str, str] | None = None, body: Any = None) -> Reply:
        """Make one call. Raises CallFailed without an answer; an error answer is a Reply, too."""
        ...

    def stream(
        self, path: str, query: Mapping[str, str], silence: float
    ) -> AbstractContextManager[LineSource | Reply]:
        """Make a call whose answer arrives in lines. Yields a Reply if the server refuses it."""
        ...

    def close(self) -> None:
        """Close idle connections."""
        ...


class Transport:
    """Calls to one API server, from any number of threads."""

    def __init__(
        self,
        access: Access,
        agent: str = "sparkgen-allocator",
        read_timeout: float = READ_TIMEOUT,
        hook: Callable[[dict[str, Any]], Any] | None = None,
    ) -> None:
        """`hook` replaces each JSON object while an answer is decoded (jsonvalue.decode_object)."""
        self._access = access
        self._hook = hook
        self._headers = {"User-Agent": agent, "Accept": "application/json"}
        self._read_timeout = read_timeout
        self._lock = threading.Lock()
        self._token = ReloadedFile(access.token_file)
        self._ca = None if access.ca_file is None else ReloadedFile(access.ca_file)
        self._pool: urllib3.HTTPConnectionPool | None = None

    def call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Make one call. Raises CallFailed without an answer; an error answer is a Reply, too.

        `headers` replace the default ones of the same name.
        """
        data = None if body is None else json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()
        timeout = urllib3.Timeout(connect=CONNECT_TIMEOUT, read=self._read_timeout)
        pool, own = self._ready()
        content = {} if data is None else {"Content-Type": "application/json"}
        with as_call_failures(), within(WHOLE_TIMEOUT):
            response = pool.request(
                method,
                _target(path, query),
                body=data,
                headers={**own, **content, **(headers or {})},
                timeout=timeout,
                retries=False,
                redirect=False,
                preload_content=False,
            )
            return self._reply(response)

    @contextmanager
    def stream(self, path: str, query: Mapping[str, str], silence: float) -> Iterator[LineStream | Reply]:
        """Make a call whose answer arrives in lines, over minutes. Yields a Reply if the server refuses it.

        `silence`: seconds without a byte after which the connection is given up.
        """
        pool, headers = self._ready()
        with ExitStack() as stack:
            with as_call_failures(), within(WHOLE_TIMEOUT):
                response = pool.urlopen(
                    "GET",
                    _target(path, query),
                    headers=headers,
                    timeout=urllib3.Timeout(connect=CONNECT_TIMEOUT, read=silence),
                    retries=False,
                    redirect=False,
                    preload_content=False,
                )
                stack.callback(response.close)  # not returned to the pool: more bytes may arrive on it
                found = LineStream(response) if response.status == 200 else self._reply(response)
            yield found

    def _reply(self, response: urllib3.BaseHTTPResponse) -> Reply:
        """The reply with its body: a Status object or, from a proxy in between, any text."""
        good = response.status < 300
        data = whole_of(response, MAX_ANSWER if good else MAX_REFUSAL, cut=not good)
        try:
            body = decode_object(data, self._hook) if data else {}
        except ValueError:
            body = data.decode(errors="replace")[:1000]
        if not isinstance(body, dict):
            if good:
                raise CallFailed("the API server's answer is not a JSON object", sent=True)
            body = {"message": str(body)}
        return Reply(response.status, body, response.headers.get("Retry-After", ""))

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()

    def _ready(self) -> tuple[urllib3.HTTPConnectionPool, dict[str, str]]:
        """The connection pool with the current certificate authority, and headers with the current token."""
        try:
            with self._lock:
                token, _ = self._token.text()
                changed = self._ca is not None and self._ca.text()[1]
                if self._pool is None or changed:
                    self._pool = self._new_pool()
                return self._pool, {**self._headers, "Authorization": f"Bearer {token}"}
        except (OSError, ssl.SSLError, ValueError) as error:
            raise CallFailed(f"cannot read the service account's files ({error})", sent=False) from error

    def _new_pool(self) -> urllib3.HTTPConnectionPool:
        host, port, ca_file = url_host(self._access.host), self._access.port, self._access.ca_file
        options: dict[str, Any] = {"maxsize": CONNECTIONS, "socket_options": KEEP_ALIVE}
        if ca_file is None:
            return WatchedPool(host, port, **options)
        # Not ssl.create_default_context: from Python 3.13 on, that requires extensions which the certificate
        # authorities of many clusters do not have.
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.load_verify_locations(cafile=str(ca_file))
        return WatchedTlsPool(host, port, ssl_context=context, **options)


def _target(path: str, query: Mapping[str, str] | None) -> str:
    return f"{path}?{urlencode(query)}" if query else path
