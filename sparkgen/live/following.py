"""Reads logs as lines: one log after the other, or several at once while they are written."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from sparkgen.cluster import ClusterError
from sparkgen.live.sources import Source

LOOK_SECONDS = 2.0
"""Seconds between two searches for new containers."""
LONGEST_LINE = 16 * 2**20
"""The largest number of bytes of a line. The whole log of a container has 10 MiB, unless it is followed."""
LONGEST_OF_SEVERAL = 2**20
"""The same for several logs at once, each of which may hold the beginning of such a line."""
MOST_WAITING = 64
"""Lines that wait for their reader, such as a pager; then the logs wait, too."""

Read = Callable[[Source], Iterable[bytes]]
Look = Callable[[], tuple[Sequence[Source], bool]]
"""Returns the containers that have a log now, and whether no more will start."""

_Heard = tuple[Source, str | ClusterError | None]
"""A line; an error that ended the log; None at its end."""


def lines(pieces: Iterable[bytes], longest: int = LONGEST_LINE) -> Iterator[str]:
    """Yields the lines of a log that arrives in pieces, each with a line feed, as soon as it is complete.

    Bytes that are no UTF-8 are surrogates, as `surrogateescape` makes them. A line of more than `longest`
    bytes becomes several: an application may write one without an end.
    """
    rest = bytearray()
    for piece in pieces:
        first, *more = piece.split(b"\n")
        rest += first
        for line in more:
            yield f"{_text(rest)}\n"
            rest = bytearray(line)
        if len(rest) > longest:
            yield f"{_text(rest)}\n"
            rest = bytearray()
    if rest:
        yield f"{_text(rest)}\n"


def one_by_one(sources: Iterable[Source], read: Read) -> Iterator[str]:
    """Yields the present lines of the logs, one log after the other, each line marked with its container."""
    for source in sources:
        try:
            yield from (_marked(source, line) for line in lines(read(source)))
        except ClusterError as error:
            yield _marked(source, f"{error}\n")


def together(look: Look, read: Read, clock: Callable[[], float] = time.monotonic) -> Iterator[str]:
    """Yields the lines of logs as they are written, each marked; also of containers that start later."""
    heard: queue.Queue[_Heard] = queue.Queue(MOST_WAITING)
    begun: set[Source] = set()
    open_ = 0
    while True:
        sources, last = look()
        for source in sources:
            if source not in begun:
                begun.add(source)
                open_ += 1
                threading.Thread(target=_listen, args=(source, read, heard), daemon=True).start()
        if last and not open_:
            return
        for source, what in _for_a_while(heard, clock):
            if isinstance(what, str):
                yield _marked(source, what)
                continue
            open_ -= 1
            if what is not None:
                yield _marked(source, f"{what}\n")


def _for_a_while(heard: queue.Queue[_Heard], clock: Callable[[], float]) -> Iterator[_Heard]:
    """Yields what arrives, for LOOK_SECONDS or until a log has ended."""
    until = clock() + LOOK_SECONDS
    while (left := until - clock()) > 0:
        try:
            item = heard.get(timeout=left)
        except queue.Empty:
            return
        yield item
        if not isinstance(item[1], str):
            return


def _listen(source: Source, read: Read, heard: queue.Queue[_Heard]) -> None:
    try:
        for line in lines(read(source), LONGEST_OF_SEVERAL):
            heard.put((source, line))
    except ClusterError as error:
        heard.put((source, error))
    else:
        heard.put((source, None))


def _marked(source: Source, line: str) -> str:
    return f"[{source.title}] {line}"


def _text(line: bytes | bytearray) -> str:
    return line.decode("utf-8", errors="surrogateescape")
