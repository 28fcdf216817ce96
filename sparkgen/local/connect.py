"""A Connect server on this machine: where it listens, whom it lets in, and what a person is told of it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping

from sparkgen import contract
from sparkgen.local.errors import CannotRun
from sparkgen.local.ports import LOOPBACK
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
"""What a client of HTTP/2 begins with: the preface, and a frame of no settings (RFC 9113, 3.4)."""


def check(application: Application) -> None:
    """CannotRun where the server would be open to the whole network.

    Spark 3.5 has no property for the address (SparkConnectService.startGRPCService), and knows no token.
    """
    if application.connect is not None and not application.spark_version.startswith(ASKS_FOR_TOKEN):
        raise CannotRun(
            f"the Connect server of Spark {application.spark_version} listens on every address of this "
            "machine and requires no token, so everyone in your network could run programs as you; use "
            "Spark 4"
        )


def properties(port: int) -> dict[str, str]:
    """What makes the server listen at this port of the loopback address, and nowhere else."""
    return {PORT_PROPERTY: str(port), ADDRESS_PROPERTY: LOOPBACK}


def token(application: Application, environment: Mapping[str, str]) -> dict[str, str]:
    """The variable with the token that a Connect server asks for: that of the user's own environment.

    Its clients, which are started in the same environment, send it. Empty where there is none.
    """
    own = environment.get(contract.ENV_CONNECT_TOKEN)
    return {contract.ENV_CONNECT_TOKEN: own} if own and application.connect is not None else {}


def token_place(application: Application, driver: Mapping[str, str]) -> str:
    """Where the token is that clients have to show: the name of a property, which wins, or of a variable.

    Empty where none is asked for. `driver`: the environment of the driver.
    """
    if application.properties.get(TOKEN_PROPERTY):
        return TOKEN_PROPERTY
    return contract.ENV_CONNECT_TOKEN if driver.get(contract.ENV_CONNECT_TOKEN) else ""


def answers(port: int) -> bool:
    """Whether the server at this port answers: in HTTP/2, with its settings.

    That is enough here, where the port is the run's own: Spark opens it when the server serves. The allocator
    of a cluster asks more, and needs h2, which is in its image alone.
    """
    try:
        with socket.create_connection((LOOPBACK, port), TIMEOUT_SECONDS) as connection:
            connection.sendall(_HELLO)
            with connection.makefile("rb") as received:
                return received.read(9)[3:4] == _SETTINGS
    except OSError:
        return False


def wait(answers: Callable[[], bool], ended: threading.Event) -> bool:
    """Wait until what serves answers; False when the run has `ended` before."""
    while not ended.wait(EVERY_SECONDS):
        if answers():
            return True
    return False


def lines(port: int, token: str) -> list[str]:
    """What a person needs to use a server that answers. `token`: as of token_place."""
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
