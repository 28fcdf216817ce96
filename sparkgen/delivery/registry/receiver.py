"""Checks who gets credentials that leave without TLS: on this machine, anybody may listen at a free port."""

from __future__ import annotations

import pwd
import socket
from collections.abc import Callable, Mapping
from typing import Any

import urllib3

from sparkgen.delivery.registry.errors import RegistryError
from sparkgen.runtime.addresses import url_host
from sparkgen.runtime.registry.login import carries_credentials
from sparkgen.runtime.sockets import own_users, plain, servers
from sparkgen.runtime.watched_pool import WatchedConnection, WatchedPool

Check = Callable[[socket.socket], None]


def checked(pools: urllib3.PoolManager, check: Check) -> urllib3.PoolManager:
    """Have watched pools call `check` with a connection without TLS before credentials go over it."""

    class Connection(WatchedConnection):
        """A connection without TLS, to whose other end credentials may not go."""

        def request(self, method: str, url: str, body: Any = None, headers: Any = None, **more: Any) -> None:
            """Send a request, over the very connection that was checked."""
            if carries_credentials(headers or {}):
                if self.sock is None:
                    self.connect()
                check(self.sock)
            super().request(method, url, body, headers, **more)

    class Pool(WatchedPool):
        """Connections to one server, without TLS."""

        ConnectionCls = Connection

    pools.pool_classes_by_scheme = {**pools.pool_classes_by_scheme, "http": Pool}
    return pools


def check_receiver(
    connection: socket.socket, host: str, environment: Mapping[str, str], *, anywhere: bool
) -> None:
    """Raise RegistryError if credentials must not go over a connection without TLS.

    On this machine, they may go to programs of this user and of root. They may go to a program of which the
    kernel does not tell whose it is: on another system than Linux, or where root redirects the port.
    `host`: the name of the other end; `anywhere`: whether they may go to other machines.
    """
    near, far = connection.getsockname()[:2], connection.getpeername()[:2]
    where = f"{url_host(str(plain(far[0])))}:{far[1]}"
    if not plain(far[0]).is_loopback:
        if not anywhere:
            raise RegistryError(
                f"{host} is not on this machine, but at {where}, and does not speak TLS: sparkgen did not "
                "send the credentials; to use plain HTTP, set `delivery.insecure: true`"
            )
        return
    if foreign := servers(far, near) - own_users(environment):
        raise RegistryError(
            f"the program at {where} belongs to {', '.join(map(_user, sorted(foreign)))}: sparkgen did not "
            "send the credentials; without TLS, only your own programs and root's get them; start your "
            f"port-forward before you push, and write 127.0.0.1:{far[1]}, not localhost, or use TLS"
        )


def _user(uid: int) -> str:
    try:
        return f"{pwd.getpwuid(uid).pw_name} (uid {uid})"
    except KeyError:
        return f"uid {uid}"
