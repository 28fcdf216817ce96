"""Who has to go when there is no room: fairness between addresses. Pure, and not safe for threads."""

from __future__ import annotations

import ipaddress
from collections import OrderedDict, deque
from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)

PREFIX = 64
"""Bits of an IPv6 address that count: whoever has one address has all of its network."""


def address_group(address: str) -> str:
    """What counts as one client: an IPv4 address, also where an IPv6 socket shows it, or an IPv6 network."""
    found = ipaddress.ip_address(address)
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(ipaddress.IPv6Address(int(found) >> (128 - PREFIX) << (128 - PREFIX)))


class ConnectionLimiter(Generic[K]):
    """Connections by group, the oldest first; at most `limit` of them, and `per_group` in a group.

    A newcomer is always taken in: another connection goes for it, the oldest of the group that has most. So
    whoever holds many connections loses them, and one that has just come has time to say what it wants. A
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
        """Take in a connection that is not in yet; the one that goes for it, and is not in any more."""
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
        """The oldest of the group that has most, which is not in any more; None when there is none."""
        if not self._groups:
            return None
        group, mine = max(self._groups.items(), key=_claim)
        oldest = next(iter(mine))
        self.remove(oldest, group)
        return oldest

    def remove(self, connection: K, group: str) -> None:
        """Forget a connection; it may be gone already."""
        mine = self._groups.get(group)
        if mine is None or connection not in mine:
            return
        del mine[connection]
        self._total -= 1
        if not mine:
            del self._groups[group]


def _claim(entry: tuple[str, OrderedDict[K, float]]) -> tuple[int, float]:
    """How many connections a group has; of two with as many, the one with the older connection goes first."""
    return len(entry[1]), -next(iter(entry[1].values()))


T = TypeVar("T")


class FairQueue(Generic[T]):
    """Items that wait, at most `limit` in all and `per_group` of a group; groups take turns."""

    def __init__(self, limit: int, per_group: int) -> None:
        self._limit = limit
        self._per_group = per_group
        self._groups: OrderedDict[str, deque[T]] = OrderedDict()
        self._total = 0

    def __len__(self) -> int:
        return self._total

    def push(self, group: str, item: T) -> T | None:
        """Let an item wait; the item that has no place: this one, or the newest of the group with most."""
        if self._limit <= 0 or len(self._groups.get(group, ())) >= self._per_group:
            return item
        self._groups.setdefault(group, deque()).append(item)
        self._total += 1
        if self._total <= self._limit:
            return None
        most = max(self._groups, key=lambda name: (len(self._groups[name]), name == group))
        return self._take(most, newest=True)

    def pop(self) -> T | None:
        """The next item: each group has its turn."""
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
