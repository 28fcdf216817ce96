"""Finds the sockets that listen at a port of this pod, in the kernel's table, which all containers share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LISTENS = "0A"
"""TCP_LISTEN, as the kernel writes it (include/net/tcp_states.h)."""


def listening(port: int, tables: Sequence[Path] = TABLES) -> frozenset[str]:
    """The inodes of the sockets that listen at a port, on any address; none if the table cannot be read.

    Each socket has its own inode: the same port with another inode is another process, or a later socket.
    """
    return frozenset({inode for inode, _ in _sockets(port, tables)} - {"0"})


def users(port: int, tables: Sequence[Path] = TABLES) -> frozenset[int]:
    """The users whose sockets listen at a port, on any address; none if the table cannot be read."""
    return frozenset(int(uid) for _, uid in _sockets(port, tables) if uid.isdecimal())


def _sockets(port: int, tables: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Yields inode and user of each socket that listens at a port."""
    for table in tables:
        try:
            lines = table.read_text("ascii").splitlines()[1:]
        except (OSError, UnicodeDecodeError):
            continue
        # sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode ...
        for fields in map(str.split, lines):
            if len(fields) > 9 and fields[3] == _LISTENS and fields[1].endswith(f":{port:04X}"):
                yield fields[9], fields[7]
