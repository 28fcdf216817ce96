"""Tells a driver that its session has ended, in place of the allocator, which is gone."""

from __future__ import annotations

from http import HTTPStatus

from sparkgen.errors import SparkgenError
from sparkgen.live.tunnel import LOOPBACK
from sparkgen.runtime.httpserver.limits import Limits
from sparkgen.runtime.httpserver.listening import Listener, listen
from sparkgen.runtime.httpserver.values import json_response

LIMITS = Limits(connections=64, per_address=64)
"""All clients at loopback have one address, whoever they are."""


def refuse_everything(port: int, reason: str) -> Listener:
    """Refuse every request at a loopback port (409), with the reason, until the listener is closed.

    The driver's Spark stops at once when it gets this answer. If nothing listened at the port, Spark would
    expect a short interruption, and wait for a minute and a half. `port`: the forwarded port of the
    allocator. `reason`: a text for people. Raises SparkgenError if the port is in use.
    """
    refusal = json_response(HTTPStatus.CONFLICT, {"error": reason})
    try:
        return listen(LOOPBACK, port, lambda _: refusal, LIMITS)
    except OSError as error:
        raise SparkgenError(f"cannot listen on {LOOPBACK}:{port}: {error.strerror}") from error
