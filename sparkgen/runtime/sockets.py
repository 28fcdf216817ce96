"""The TCP sockets of this machine or pod, in the kernel's tables: who listens, and who is connected."""

from __future__ import annotations

import ipaddress
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
LISTENS = "0A"
"""TCP_LISTEN, as the kernel writes it (include/net/tcp_states.h)."""
NO_INODE = "0"
"""Of a connection that nobody has accepted, or that was closed: its row's user says nothing."""
_ROW = re.compile(r" *\d+: (\w+:\w+) (\w+:\w+) (\w\w) \S+ \S+ \S+ +(\d+) +\d+ +(\d+) ")
"""sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode ..."""
_ANY_IPV4, _ANY_IPV6 = "0.0.0.0", "::"  # noqa: S104 - as the kernel writes it

Address = tuple[str, int]
"""An IP address and a port."""


class Row(NamedTuple):
    """A socket. `local`, `remote`: addresses as the kernel writes them; `inode`: differs between sockets."""

    local: str
    remote: str
    state: str
    uid: int
    inode: str


def rows(table: str, port: int) -> Iterator[Row]:
    """Yields the rows of the sockets with this port at their own end, in the text of a table. Pure.

    A row that breaks off is left out, as at the end of a table that changes while it is read.
    """
    own_end = f":{port:04X} "
    for line in table.splitlines():
        if own_end in line and (found := _ROW.match(line)) and f"{found[1]} ".endswith(own_end):
            yield Row(found[1], found[2], found[3], int(found[4]), found[5])


def texts(tables: Sequence[Path] = TABLES) -> Iterator[str]:
    """Yields the texts of the tables that can be read: none on macOS."""
    for table in tables:
        try:
            yield table.read_text("ascii")
        except (OSError, UnicodeDecodeError):
            continue


def forms(address: Address) -> frozenset[str]:
    """Returns an address as rows have it: an IPv4 address may also be in the table for IPv6."""
    host = plain(address[0])
    mapped = [bytes(10) + b"\xff\xff" + host.packed] if host.version == 4 else []
    return frozenset(f"{_words(packed)}:{address[1]:04X}" for packed in (host.packed, *mapped))


def plain(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Returns an IP address; the IPv4 address of one that is mapped to IPv6, as in a socket for both."""
    host = ipaddress.ip_address(address)
    mapped = host.ipv4_mapped if isinstance(host, ipaddress.IPv6Address) else None
    return mapped or host


def _words(packed: bytes) -> str:
    """The kernel writes four bytes at a time, as a number in this machine's order."""
    words = (packed[at : at + 4] for at in range(0, len(packed), 4))
    return "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)


def listening(port: int, tables: Sequence[Path] = TABLES) -> frozenset[str]:
    """The inodes of the sockets that listen at a port, on any address; none if the table cannot be read.

    The same port with another inode is another process, or a later socket.
    """
    return frozenset(row.inode for row in _listeners(port, tables)) - {NO_INODE}


def users(port: int, tables: Sequence[Path] = TABLES) -> frozenset[int]:
    """The users whose sockets listen at a port, on any address; none if the table cannot be read."""
    return frozenset(row.uid for row in _listeners(port, tables))


def _listeners(port: int, tables: Sequence[Path]) -> Iterator[Row]:
    return (row for text in texts(tables) for row in rows(text, port) if row.state == LISTENS)


def servers(server: Address, client: Address, tables: Sequence[Path] = TABLES) -> frozenset[int]:
    """The users of the socket at a server's end of a connection within this machine; none if it is unknown.

    As a rule, this is one user: who has accepted the connection. Until then, it is who listens at the
    server's address. Otherwise nobody's socket is there: root may have redirected the connection.
    """
    for _ in range(2):  # the tables change while they are read
        found = [row for text in texts(tables) for row in rows(text, server[1])]
        ends = forms(server), forms(client)
        accepted = {
            row.uid
            for row in found
            if row.local in ends[0] and row.remote in ends[1] and row.inode != NO_INODE
        }
        if owners := accepted or _listening_at(server, found):
            return frozenset(owners)
    return frozenset()


def _listening_at(server: Address, found: Sequence[Row]) -> set[int]:
    """The users who get connections to an address. As in the kernel, the narrowest listener gets them."""
    wide = (_ANY_IPV4, _ANY_IPV6) if plain(server[0]).version == 4 else (_ANY_IPV6,)
    for host in (server[0], *wide):
        places = forms((host, server[1]))
        if owners := {row.uid for row in found if row.state == LISTENS and row.local in places}:
            return owners
    return set()


def own_users(environment: Mapping[str, str]) -> frozenset[int]:
    """Returns the users that count as this one: its own, root, and the one who called sudo."""
    caller = environment.get("SUDO_UID", "")
    return frozenset({0, os.getuid(), *([int(caller)] if caller.isdecimal() else [])})
