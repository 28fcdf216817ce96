"""Logs of several containers at once, while they are written."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator

import pytest

from sparkgen.live import following
from sparkgen.live.sources import Source

SOURCE = Source("pi-x", "spark", "driver")
LINES = 100


def test_logs_wait_for_a_reader_that_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pager shows a page, and waits for its reader, for hours: no more than some lines are in memory."""
    waits = threading.Event()
    read_lines = []

    class Watched(queue.Queue[object]):
        """A queue that tells when somebody has to wait for room."""

        def put(self, item: object, block: bool = True, timeout: float | None = None) -> None:
            """Put it in."""
            if self.full():
                waits.set()
            super().put(item, block, timeout)

    def read(_: Source) -> Iterator[bytes]:
        for number in range(LINES):
            read_lines.append(number)
            yield b"%d\n" % number

    monkeypatch.setattr(following, "MOST_WAITING", 5)
    monkeypatch.setattr(following.queue, "Queue", Watched)
    lines = following.together(lambda: ([SOURCE], True), read)
    first = next(lines)
    assert waits.wait(10)
    assert len(read_lines) <= 7  # one is shown, five wait, and one waits for room
    assert [first, *lines] == [f"[{SOURCE.title}] {number}\n" for number in range(LINES)]


def test_waiting_lines_have_few_bytes() -> None:
    """Each container could write lines without an end: 64 of them wait, and each log holds one more."""
    piece = b"x" * 2**16

    def read(_: Source) -> Iterator[bytes]:
        yield from [piece] * 100

    found = [line.partition("] ")[2] for line in following.together(lambda: ([SOURCE], True), read)]
    assert "".join(line.rstrip("\n") for line in found) == "x" * 100 * len(piece)
    assert max(map(len, found)) <= 2**20 + len(piece) + 1
