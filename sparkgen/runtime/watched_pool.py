"""Connections of urllib3 whose answers have a deadline: that of the block `within` which they are read."""

from __future__ import annotations

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection

from sparkgen.runtime.deadline import watch


class WatchedConnection(HTTPConnection):
    """A connection without TLS."""

    def getresponse(self) -> urllib3.HTTPResponse:  # type: ignore[override] # as in urllib3's own class
        """Watch the connection from the end of the request on."""
        watch(self.sock)
        return super().getresponse()


class _TlsConnection(HTTPSConnection):
    """A connection with TLS."""

    def getresponse(self) -> urllib3.HTTPResponse:  # type: ignore[override] # as in urllib3's own class
        """Watch the connection from the end of the request on."""
        watch(self.sock)
        return super().getresponse()


class WatchedPool(urllib3.HTTPConnectionPool):
    """Connections to one server, without TLS."""

    ConnectionCls = WatchedConnection


class WatchedTlsPool(urllib3.HTTPSConnectionPool):
    """Connections to one server, with TLS."""

    ConnectionCls = _TlsConnection


def watched(pools: urllib3.PoolManager) -> urllib3.PoolManager:
    """Have pools make connections that are watched; returns them."""
    pools.pool_classes_by_scheme = {"http": WatchedPool, "https": WatchedTlsPool}
    return pools
