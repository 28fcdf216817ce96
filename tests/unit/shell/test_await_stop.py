"""The end of a session waits for Spark's own end, and for nothing else."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

import pytest

from sparkgen.shell import session
from sparkgen.shell.allocator_client import AllocatorClient, NoAnswer
from sparkgen.shell.driver_address import DriverAddress

LONG = 600.0


@dataclass
class Allocator:
    """Says whether a driver runs; `running`: its answers, the last one forever. None: no answer."""

    running: list[bool | None]
    asked: int = field(default=0)

    def say_alive(self) -> bool:
        """The next answer."""
        found = self.running[min(self.asked, len(self.running) - 1)]
        self.asked += 1
        if found is None:
            raise NoAnswer("nobody is there")
        return found


@contextlib.contextmanager
def driver() -> Iterator[DriverAddress]:
    """A driver's port that is open."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield DriverAddress("10.1.2.3", listening.getsockname()[1], 0)


def asked(running: list[bool | None], at: DriverAddress, seconds: float) -> int:
    """How often the allocator was asked before the wait was over."""
    allocator = Allocator(running)
    session.await_stop(cast("AllocatorClient", allocator), at, seconds)
    return allocator.asked


@pytest.mark.parametrize(
    ("running", "times"),
    [([False], 1), ([True, True, False], 3), ([True, None], 2), ([None], 1)],
    ids=["stopped", "stops", "ends", "away"],
)
def test_until_the_driver_has_stopped(running: list[bool | None], times: int) -> None:
    """As the allocator says; one that is away says nothing more."""
    with driver() as there:
        assert asked(running, there, LONG) == times


def test_not_for_a_driver_that_was_killed() -> None:
    """It says nothing any more, and its port is closed."""
    with driver() as there:
        pass
    assert asked([True], there, LONG) == 1


def test_not_for_ever() -> None:
    """The time is bounded."""
    with driver() as there:
        assert asked([True], there, 0.0) == 1
