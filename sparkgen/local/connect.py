"""A Connect server on this machine: where it listens, whom it lets in, and what a person is told of it."""

from __future__ import annotations

import threading
from collections.abc import Mapping

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
from sparkgen.runtime.allocator.driver.connect_server import why_not_serving

EVERY_SECONDS = 0.5


def check(application: Application) -> None:
    """CannotRun where the server would be open to the whole network.

    Spark 3.5 has no property for the address (SparkConnectService.startGRPCService), and knows no token.
    """
    if application.connect is not None and not application.spark_version.startswith(ASKS_FOR_TOKEN):
        raise CannotRun(
            f"the Connect server of Spark {application.spark_version} listens on every address of this "
            "machine and asks for no token: everybody in your network could run programs as you; take Spark 4"
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


def asks_for_token(application: Application, driver: Mapping[str, str]) -> bool:
    """Whether clients have to show a token. `driver`: the environment of the driver."""
    return bool(driver.get(contract.ENV_CONNECT_TOKEN) or application.properties.get(TOKEN_PROPERTY))


def wait(port: int, ended: threading.Event) -> bool:
    """Wait until the server at this port answers; False when the run has `ended` before."""
    while not ended.wait(EVERY_SECONDS):
        if not why_not_serving(LOOPBACK, port):
            return True
    return False


def lines(port: int, *, token: bool) -> list[str]:
    """What a person needs to use a server that answers. `token`: whether it asks for one."""
    place = address(port)
    return [
        f"the Connect server answers at {place}",
        f'for clients: export {REMOTE}={place}, or SparkSession.builder.remote("{place}")',
        f"clients need the token that is in {contract.ENV_CONNECT_TOKEN}: they send it from there"
        if token
        else "it asks for no token: every user of this machine can run programs as you; it asks for the one "
        f"in {contract.ENV_CONNECT_TOKEN} if you set this variable here",
    ]
