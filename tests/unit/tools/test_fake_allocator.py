"""The allocator that tests of the scheduler jar start: its own faults would look like the jar's."""

from __future__ import annotations

import socket
from pathlib import Path

from spark.fake_allocator import FakeAllocator


def test_a_connection_that_comes_while_it_stops_is_cut(tmp_path: Path) -> None:
    """Otherwise a driver would go on being answered by an allocator that is away."""
    allocator = FakeAllocator(tmp_path, tmp_path, port=0, driver_port=0)
    allocator.stop()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(5)
        allocator.serve(theirs)
        assert ours.recv(1) == b""
        allocator.forget(theirs)
