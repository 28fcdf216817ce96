"""The user of this machine whose program has connected at a loopback address, as Linux knows it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from sparkgen.runtime.sockets import LISTENS, NO_INODE, TABLES, Address, forms, own_users, rows, texts

GONE = -1
"""Instead of a user: the client has closed its socket, which the kernel then shows as root's."""


def user_of(client: Address, server: Address, tables: Sequence[Path] = TABLES) -> int | None:
    """Returns the user of a client of this process's port; GONE, or None if the kernel does not tell.

    A client without a row is gone, too: who resets a connection has none, but what it sent can be read. The
    tables are read twice before that, because they change while they are read.
    """
    tells = False
    for _ in range(2):
        for text in texts(tables):
            uid = uid_in(text, client, server)
            if uid is not None:
                return uid
            tells = tells or listens_in(text, server)
    return GONE if tells else None


def is_own(uid: int | None) -> bool:
    """Whether a user's program may use a forwarded port. `uid`: as of `user_of`; None may."""
    return uid is None or uid in own_users(os.environ)


def uid_in(table: str, client: Address, server: Address) -> int | None:
    """Returns the user of a client's socket in the text of /proc/net/tcp or tcp6; None without its row.

    GONE if the client has closed its socket. Pure.
    """
    near, far = forms(client), forms(server)
    for row in rows(table, client[1]):
        if row.local in near and row.remote in far:
            return GONE if row.inode == NO_INODE else row.uid
    return None


def listens_in(table: str, server: Address) -> bool:
    """Whether a table has the row of a port that is listened to: not every system fills tables. Pure."""
    places = forms(server)
    return any(row.state == LISTENS and row.local in places for row in rows(table, server[1]))
