"""Ports for processes that must be told theirs before they listen."""

from __future__ import annotations

import random

from sparkgen.local.ports import RANGE, choose


def free_ports(count: int) -> list[int]:
    """Different ports of the loopback address where nobody listens now, and that no client is given."""
    return choose(count, random.sample(RANGE, len(RANGE)))


def free_port() -> int:
    """One such port."""
    return free_ports(1)[0]
