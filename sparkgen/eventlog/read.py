"""Reads an event log into a recording."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sparkgen.eventlog.errors import EventLogError, not_installed
from sparkgen.eventlog.files import log_files
from sparkgen.eventlog.lines import Counts, lines
from sparkgen.eventlog.recording import Reading, Recording


def silent(_done: int) -> None:
    """Ignore progress."""


def read_recording(source: str, progress: Callable[[int], None] = silent) -> Recording:
    """The recording of the log at `source`: a file, or the directory of a rolling log.

    `progress` is called from time to time with the number of bytes of the files that were read. Broken lines
    are counted (`Recording.reading`). Raises EventLogError if there is no log, or no application in it.
    """
    try:
        from sparkgen.eventlog import assemble, events, gather  # noqa: PLC0415 - msgspec is of the extra
    except ImportError as error:
        raise not_installed() from error
    files = log_files(Path(source))
    counts, so_far = Counts(), gather.Gathered()
    for path, number, line in lines(files, counts, progress):
        try:
            event = events.decode(line)
        except events.BrokenEvent as error:
            counts.note_broken(str(path), number, str(error))
            continue
        if event is not None:
            so_far.take(*event)
    if so_far.start is None:
        raise EventLogError(_no_application(source, counts))
    reading = Reading(
        len(files), counts.read_bytes, counts.lines, counts.broken, counts.first_broken, counts.cut_off
    )
    return assemble.recording(so_far, source, reading)


def _no_application(source: str, counts: Counts) -> str:
    text = (
        f"{source} is not a Spark event log: it has no SparkListenerApplicationStart event in "
        f"{counts.lines} lines"
    )
    return f"{text} ({counts.broken} broken, the first at {counts.first_broken})" if counts.broken else text
