"""Reads the end of the allocator's log, from the facts of its lines, in both of its forms. Pure."""

from __future__ import annotations

from datetime import datetime

from sparkgen.codes import Code, Hindrance
from sparkgen.runtime.allocator.report.log_form import LogEvent, entries, read

OLDER = "the runtime image is older than this sparkgen, and the allocator's log has no codes"


def wanted(log: str) -> int | None:
    """Returns how many executors the driver wants; None if the log does not contain it."""
    counts = (entry.wanted for entry in entries(log, newest_first=True))
    return next((count for count in counts if count is not None), None)


def hindrances(log: str) -> tuple[Hindrance, ...]:
    """Returns what now prevents executors from starting, the most serious hindrance first."""
    for entry in entries(log, newest_first=True):
        if entry.event == LogEvent.DECISION:
            return entry.hindrances
        if entry.event in (LogEvent.FAILURE, LogEvent.ANSWER) and entry.hindrance is not None:
            return (entry.hindrance,)
    return ()


def failure(log: str) -> Hindrance | None:
    """Returns why the allocator stopped the application of the last driver; None if it did not."""
    for entry in entries(log, newest_first=True):
        if entry.event == LogEvent.FAILURE:
            return entry.hindrance
        if entry.event == LogEvent.DRIVER:
            return None
    return None


def session_over(log: str) -> Hindrance | None:
    """Returns why the allocator's session in client mode has ended; None if it has not."""
    ends = (entry.hindrance for entry in entries(log, newest_first=True) if entry.event == LogEvent.END)
    return next((end for end in ends if end is not None and end.code == Code.SESSION_ENDED), None)


def loss(log: str, executor: int) -> str:
    """Returns the log's sentence about an executor's end, without a full stop; "" if there is none."""
    for entry in entries(log, newest_first=True):
        if entry.event == LogEvent.LOSS and entry.facts.get("executor") == executor:
            return entry.text.rstrip(".")
    return ""


def sentence(line: str) -> str:
    """Returns the readable part of a line in the text form, with its end; the whole line without facts."""
    head, tab, _ = line.partition("\t")
    return f"{head}\n" if tab and read(line) else line


def has_no_codes(log: str) -> bool:
    """Whether a release without codes wrote the log: it has lines, and none of them has facts."""
    lines = [line for line in log.split("\n") if _is_of_the_log(line)]
    return bool(lines) and not any(map(read, lines))


def _is_of_the_log(line: str) -> bool:
    """Whether a line has one of the two forms of the log; the lines of a program's error have neither."""
    try:
        return line.startswith("{") or bool(datetime.fromisoformat(line.partition(" ")[0]))
    except ValueError:
        return False
