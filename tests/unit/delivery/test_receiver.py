"""Who gets credentials without TLS, by the connection that they go over."""

from __future__ import annotations

import re
import socket
from contextlib import nullcontext
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any
from unittest.mock import Mock

import pytest
import urllib3

from sparkgen.delivery.registry import receiver
from sparkgen.delivery.registry.errors import RegistryError
from sparkgen.delivery.registry.receiver import check_receiver, checked
from sparkgen.runtime.watched_pool import watched


def connection(near: str, far: str) -> Any:
    """A connection between two addresses."""
    ends = {"getsockname.return_value": (near, 40000, 0, 0), "getpeername.return_value": (far, 5000, 0, 0)}
    return Mock(spec=socket.socket, **ends)


@pytest.mark.parametrize(
    ("found", "may"),
    [({0}, True), ({1000}, True), ({1001}, False), ({1000, 1001}, False), (set(), True)],
    ids=["root's", "own", "another user's", "unclear", "the kernel does not tell"],
)
@pytest.mark.parametrize("insecure", [True, False])
@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1"])
def test_who_gets_credentials_on_this_machine(
    monkeypatch: pytest.MonkeyPatch, host: str, found: set[int], *, may: bool, insecure: bool
) -> None:
    """Whatever the document says about TLS: that is no word about other users."""
    monkeypatch.setattr(receiver, "own_users", lambda _: frozenset({0, 1000}))
    monkeypatch.setattr(receiver, "servers", lambda *_: frozenset(found))
    shown = "[::1]:5000" if host == "::1" else f"{host.removeprefix('::ffff:')}:5000"
    said = re.escape(f"the program at {shown} belongs to uid 1001: sparkgen did not send the credentials")
    with nullcontext() if may else pytest.raises(RegistryError, match=said):
        check_receiver(connection(host, host), "localhost:5000", {}, anywhere=insecure)


def test_a_local_name_of_another_machine() -> None:
    """Only `insecure` allows plain HTTP there."""
    elsewhere = connection("192.0.2.1", "192.0.2.2")
    check_receiver(elsewhere, "localhost:5000", {}, anywhere=True)
    with pytest.raises(RegistryError, match=r"localhost:5000 is not on this machine, but at 192\.0\.2\.2"):
        check_receiver(elsewhere, "localhost:5000", {}, anywhere=False)


class _Handler(BaseHTTPRequestHandler):
    """Closes the connection after each answer."""

    seen: list[tuple[tuple[str, int], bool]]

    def do_GET(self) -> None:
        """Note who sent credentials."""
        self.seen.append((self.client_address, "Authorization" in self.headers))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_args: Any) -> None:
        """Print nothing."""


def test_each_connection_with_credentials_is_checked() -> None:
    """The one that carries them, not one before it; others need no check."""
    seen: list[tuple[tuple[str, int], bool]] = []
    asked: list[tuple[str, int]] = []
    handler = type("Handler", (_Handler,), {"seen": seen})
    pools = checked(watched(urllib3.PoolManager()), lambda found: asked.append(found.getsockname()))
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        for headers in ({}, {"Authorization": "x"}, {}, {"Authorization": "x"}):
            answer = pools.request("GET", f"http://127.0.0.1:{server.server_port}/", headers=headers)
            assert answer.status == 204
        server.shutdown()
        thread.join()
    assert asked == [address for address, credentials in seen if credentials]
    assert len(set(asked)) == 2
