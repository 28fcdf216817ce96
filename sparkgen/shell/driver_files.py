"""Agrees on the driver's address with the allocator, tests it, and writes the files that the driver reads."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sparkgen.errors import SparkgenError
from sparkgen.runtime.addresses import url_host
from sparkgen.shell import client_files, driver_address
from sparkgen.shell.allocator_client import AllocatorClient, DriverSettings, Refusal
from sparkgen.shell.client_files import ClientFolder
from sparkgen.shell.driver_address import DriverAddress

if TYPE_CHECKING:
    from sparkgen.model.application import Application

UNREACHABLE = 422


@dataclass(frozen=True, slots=True)
class Listening:
    """Where the driver listens; sparkgen chooses a value for "" and 0."""

    host: str = ""
    port: int = 0
    block_manager_port: int = 0


@dataclass(frozen=True, slots=True)
class Reached:
    """How executors reach this machine: at `host`, which resolves to `address`.

    `allocator_port`: of this machine, at which the driver reaches the allocator.
    """

    host: str
    address: str
    listening: Listening
    allocator_port: int


def prepare(
    application: Application,
    client: AllocatorClient,
    folder: ClientFolder,
    reached: Reached,
    home: Path,
    say: Callable[[str], None],
) -> DriverAddress:
    """Test whether pods reach this machine, and write the driver's files. Returns the driver's address."""
    settings, driver = _tried(client, reached)
    if not driver_address.reaches(settings.pod_address, settings.allocator_port):
        place = f"{url_host(settings.pod_address)}:{settings.allocator_port}"
        say(
            f"this machine cannot reach pods ({place}): task "
            "results larger than spark.task.maxDirectResultSize (1 MiB) cannot be fetched"
        )
    folder.write(folder.jar, client.jar(application.scala_version))
    folder.write(folder.token, client.token.encode())
    files = client_files.files(application, settings.properties, folder, reached.allocator_port, home)
    for name, text in files.items():
        folder.write(folder.conf / name, text.encode())
    say(f"executors will connect to {url_host(driver.host)}:{driver.port} and {driver.block_manager_port}")
    return driver


def _tried(client: AllocatorClient, reached: Reached) -> tuple[DriverSettings, DriverAddress]:
    """Returns the driver's settings and address. Raises SparkgenError if pods cannot reach the address."""
    listening = reached.listening
    taken = driver_address.taken_ports(reached.address, listening.port, listening.block_manager_port)
    with taken as sockets:
        port, block_manager_port = (int(one.getsockname()[1]) for one in sockets)
        driver, nonce = DriverAddress(reached.host, port, block_manager_port), secrets.token_hex(16)
        try:
            with driver_address.shown_nonce(sockets[0], nonce):
                settings = client.tell_driver(driver, nonce)
        except Refusal as error:
            if error.status != UNREACHABLE:
                raise
            raise SparkgenError(
                f"{error}. Executors could not connect, either. Open the port in this machine's firewall "
                "(choose it with --driver-port), or set another address with --driver-host. If pods cannot "
                "reach this machine at all, use a Connect server: docs/client-mode.md"
            ) from error
    return settings, driver
