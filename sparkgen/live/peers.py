"""The user of this machine whose program has connected at a loopback address, as Linux knows it."""

from __future__ import annotations

import ipaddress
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from sparkgen.runtime.allocator.driver.sockets import TABLES

GONE = -1
"""Instead of a user: the client has closed its socket, which the kernel then shows as root's."""
Address = tuple[str, int]
"""An IP address and a port."""


def user_of(client: Address, server: Address, tables: Sequence[Path] = TABLES) -> int | None:
    """Returns the user of a client of this process's port; GONE, or None if the kernel does not tell.

    A client without a row is gone, too: who resets a connection has none, but what it sent can be read. The
    tables are read twice before that, because they change while they are read.
    """
    tells = False
    for _ in range(2):
        for table in tables:
            try:
                text = table.read_text("ascii")
            except (OSError, UnicodeDecodeError):  # as on macOS
                continue
            uid = uid_in(text, client, server)
            if uid is not None:
                return uid
            tells = tells or listens_in(text, server)
    return GONE if tells else None


def own(environment: Mapping[str, str]) -> frozenset[int]:
    """Returns the users that may use this process's ports: its own, root, and the one who called sudo."""
    caller = environment.get("SUDO_UID", "")
    return frozenset({0, os.getuid(), *([int(caller)] if caller.isdecimal() else [])})


def uid_in(table: str, client: Address, server: Address) -> int | None:
    """Returns the user of a client's socket in the text of /proc/net/tcp or tcp6; None without its row.

    GONE if the client has closed its socket. Pure.
    """
    for form in (_ipv4, _ipv6):
        # sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode ...
        _, found, rest = table.partition(f" {form(client)} {form(server)} ")
        fields = rest.split(maxsplit=7)
        if found and len(fields) > 6:
            return GONE if fields[6] == "0" else int(fields[4])
    return None


def listens_in(table: str, server: Address) -> bool:
    """Whether a table has the row of a port that is listened to: not every system fills tables. Pure."""
    anybody = (("0.0.0.0", 0), ("::", 0))  # noqa: S104 - as the kernel writes it
    return any(
        f" {form(server)} {form(nobody)} 0A " in table
        for form, nobody in zip((_ipv4, _ipv6), anybody, strict=True)
    )


def _ipv4(address: Address) -> str:
    packed = ipaddress.ip_address(address[0]).packed
    return f"{_words(packed)}:{address[1]:04X}"


def _ipv6(address: Address) -> str:
    """An address as in tcp6: a program may connect to an IPv4 address through a socket for IPv6."""
    host = ipaddress.ip_address(address[0])
    packed = host.packed if host.version == 6 else bytes(10) + b"\xff\xff" + host.packed
    return f"{_words(packed)}:{address[1]:04X}"


def _words(packed: bytes) -> str:
    """The kernel writes four bytes at a time, as a number in this machine's order."""
    words = (packed[at : at + 4] for at in range(0, len(packed), 4))
    return "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)
