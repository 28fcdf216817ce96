"""Tells a driver that its session has ended, in place of the allocator, which is gone."""

from __future__ import annotations

import socket
from http import HTTPStatus
from typing import Any

from sparkgen.live import peers
from sparkgen.runtime.httpserver.limits import Limits
from sparkgen.runtime.httpserver.listening import Listener, serve
from sparkgen.runtime.httpserver.values import json_response

LIMITS = Limits(connections=64, per_address=64)
"""All clients at loopback have one address, whoever they are."""


def refuse_everything(listening: socket.socket, reason: str) -> Listener:
    """Refuse every request at a listening socket (409), with the reason, until the listener is closed.

    The driver's Spark stops at once when it gets this answer. If nothing listened at the port, Spark would
    expect a short interruption, and wait for a minute and a half. `listening`: at the forwarded port of the
    allocator, which was at no time free for others: the driver sends it the session's token. `reason`: a text
    for people. Connections of other users of this machine are closed, as the forwarded port did.
    """
    refusal = json_response(HTTPStatus.CONFLICT, {"error": reason})
    return serve(listening, lambda _: refusal, LIMITS, _is_own)


def _is_own(connection: socket.socket, client: Any) -> bool:
    return peers.is_own(peers.user_of(client[:2], connection.getsockname()[:2]))
