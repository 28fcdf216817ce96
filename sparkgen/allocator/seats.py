"""How many connections may be open at once, in all and from one address. Safe for threads."""

from __future__ import annotations

import ipaddress
import threading
from collections import Counter


class Seats:
    """`count` seats, of which one address has at most `each`; loopback may have all of them."""

    def __init__(self, count: int, each: int) -> None:
        self._count = count
        self._each = each
        self._lock = threading.Lock()
        self._taken: Counter[str] = Counter()

    def take(self, address: str) -> bool:
        """Take a seat for `address`; False when there is none for it."""
        with self._lock:
            if self._taken.total() >= self._count:
                return False
            if self._taken[address] >= self._each and not is_loopback(address):
                return False
            self._taken[address] += 1
            return True

    def leave(self, address: str) -> None:
        """Give back a seat that `address` took."""
        with self._lock:
            self._taken[address] -= 1
            if not self._taken[address]:
                del self._taken[address]


def is_loopback(address: str) -> bool:
    """Whether an IP address is this machine's own, also one of version 4 that a socket of version 6 shows."""
    found = ipaddress.ip_address(address)
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback
