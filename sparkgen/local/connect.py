"""A Connect server on this machine: its address, its token, and the lines for the user."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping

from sparkgen import contract
from sparkgen.local.errors import CannotRun
from sparkgen.local.ports import LOOPBACK, is_ours
from sparkgen.model.application import Application
from sparkgen.model.connect import (
    ADDRESS_PROPERTY,
    ASKS_FOR_TOKEN,
    PORT_PROPERTY,
    REMOTE,
    TOKEN_PROPERTY,
    address,
)

EVERY_SECONDS = 0.5
TIMEOUT_SECONDS = 2.0
_SETTINGS = b"\x04"
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + _SETTINGS + bytes(5)
"""The first bytes of an HTTP/2 client: the preface, and a frame without settings (RFC 9113, 3.4)."""


def check(application: Application) -> None:
    """Raises CannotRun if the server would be open to the whole network.

    Spark 3.5 has no property for the address (SparkConnectService.startGRPCService), and supports no token.
    """
    if application.connect is not None and not application.spark_version.startswith(ASKS_FOR_TOKEN):
        raise CannotRun(
            f"the Connect server of Spark {application.spark_version} listens on every address of this "
            "machine and requires no token, so everyone in your network could run programs as you; use "
            "Spark 4"
        )


def properties(port: int) -> dict[str, str]:
    """The properties for a server that listens only at this port of the loopback address."""
    return {PORT_PROPERTY: str(port), ADDRESS_PROPERTY: LOOPBACK}


def token(application: Application, environment: Mapping[str, str]) -> dict[str, str]:
    """The variable with the token that a Connect server requires, from the user's own environment.

    Clients that are started in the same environment send this token. Empty if the variable is not set.
    """
    own = environment.get(contract.ENV_CONNECT_TOKEN)
    return {contract.ENV_CONNECT_TOKEN: own} if own and application.connect is not None else {}


def token_place(application: Application, driver: Mapping[str, str]) -> str:
    """The name of the property (which wins) or variable with the token that clients must send.

    "" if no token is required. `driver`: the driver's environment.
    """
    if application.properties.get(TOKEN_PROPERTY):
        return TOKEN_PROPERTY
    return contract.ENV_CONNECT_TOKEN if driver.get(contract.ENV_CONNECT_TOKEN) else ""


def answers(port: int) -> bool:
    """Whether a server of this user answers at this port with HTTP/2 settings.

    That is enough here: Spark opens the port when the server serves. In a cluster, the allocator checks more,
    and needs h2, which is only in its image.
    """
    if not is_ours(port):
        return False
    try:
        with socket.create_connection((LOOPBACK, port), TIMEOUT_SECONDS) as connection:
            connection.sendall(_HELLO)
            with connection.makefile("rb") as received:
                return received.read(9)[3:4] == _SETTINGS
    except OSError:
        return False


def wait(answers: Callable[[], bool], ended: threading.Event) -> bool:
    """Wait until the server answers; returns False if the run has `ended` before."""
    while not ended.wait(EVERY_SECONDS):
        if answers():
            return True
    return False


def lines(port: int, token: str) -> list[str]:
    """The lines with what a user needs for using the server. `token`: the result of token_place."""
    place, variable = address(port), contract.ENV_CONNECT_TOKEN
    asked = {
        "": "it requires no token, so every user of this machine can run programs as you; "
        f"set {variable} to require one",
        variable: f"clients need the same token: set {variable} for them, too",
        TOKEN_PROPERTY: f"clients need the token in {TOKEN_PROPERTY}; set {variable} to it for each client",
    }
    return [
        f"the Connect server answers at {place}",
        f'for clients: export {REMOTE}={place}, or SparkSession.builder.remote("{place}")',
        asked[token],
    ]
