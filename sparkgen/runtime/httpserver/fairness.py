"""Fairness between addresses: which connection to close if there are too many. Not thread-safe. Pure."""

from __future__ import annotations

import ipaddress
from collections import OrderedDict, deque
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)

PREFIX = 64
"""The significant bits of an IPv6 address: whoever has one address has its whole network."""


def address_group(address: str) -> str:
    """The key for one client: an IPv4 address (also one mapped to IPv6), or an IPv6 network."""
    found = ipaddress.ip_address(address)
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ipaddress.IPv6Address(int(found) >> (128 - PREFIX) << (128 - PREFIX)))


class ConnectionLimiter(Generic[K]):
    """Connections by group, the oldest first; at most `limit` of them, and `per_group` in a group.

    A new connection is always accepted. If there are too many, the oldest one of the largest group is closed.
    So a client with many connections loses some of them, and a new connection has time to send its request. A
    group may have more than `per_group` for `grace` seconds.
    """

    def __init__(self, limit: int, per_group: int, grace: float = 0.0) -> None:
        self._limit = limit
        self._per_group = per_group
        self._grace = grace
        self._groups: dict[str, OrderedDict[K, float]] = {}
        self._total = 0

    def __len__(self) -> int:
        return self._total

    def add(self, connection: K, group: str, now: float) -> K | None:
        """Add a new connection. Returns the connection that was removed for it, or None."""
        mine = self._groups.setdefault(group, OrderedDict())
        mine[connection] = now
        self._total += 1
        if len(mine) > self._per_group:
            oldest, since = next(iter(mine.items()))
            if now - since >= self._grace and oldest != connection:
                self.remove(oldest, group)
                return oldest
        return self.evict() if self._total > self._limit else None

    def evict(self) -> K | None:
        """Remove and return the oldest connection of the largest group; None if there is none."""
        if not self._groups:
            return None
        group, mine = max(self._groups.items(), key=_claim)
        oldest = next(iter(mine))
        self.remove(oldest, group)
        return oldest

    def remove(self, connection: K, group: str) -> None:
        """Remove a connection, if it is there."""
        mine = self._groups.get(group)
        if mine is None or connection not in mine:
            return
        del mine[connection]
        self._total -= 1
        if not mine:
            del self._groups[group]


def _claim(entry: tuple[str, OrderedDict[K, float]]) -> tuple[int, float]:
    """The sort key of a group: the number of connections, then the age of its oldest connection."""
    return len(entry[1]), -next(iter(entry[1].values()))


T = TypeVar("T")


class FairQueue(Generic[T]):
    """Waiting items, at most `limit` in all and `per_group` of a group; groups take turns."""

    def __init__(self, limit: int, per_group: int) -> None:
        self._limit = limit
        self._per_group = per_group
        self._groups: OrderedDict[str, deque[T]] = OrderedDict()
        self._total = 0

    def __len__(self) -> int:
        return self._total

    def push(self, group: str, item: T) -> T | None:
        """Add an item. Returns an item that has no place: this one, or the newest of the largest group."""
        if self._limit <= 0 or len(self._groups.get(group, ())) >= self._per_group:
            return item
        self._groups.setdefault(group, deque()).append(item)
        self._total += 1
        if self._total <= self._limit:
            return None
        most = max(self._groups, key=lambda name: (len(self._groups[name]), name == group))
        return self._take(most, newest=True)

    def pop(self) -> T | None:
        """Remove and return the next item, from each group in turn; None if there is none."""
        if not self._groups:
            return None
        group = next(iter(self._groups))
        self._groups.move_to_end(group)
        return self._take(group, newest=False)

    def _take(self, group: str, *, newest: bool) -> T:
        items = self._groups[group]
        item = items.pop() if newest else items.popleft()
        self._total -= 1
        if not items:
            del self._groups[group]
        return item
