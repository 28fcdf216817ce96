"""What a recorded run of an application says, as far as rules look at it. Pure values, read from a log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Evidence:
    """One recorded run. Memory in MiB, times in seconds."""

    source: str
    """The event log, as the user named it."""
    application: str
    """The name of the application; "" if the log does not say it: another tool than sparkgen started it."""
    heap_used: int = 0
    """The most heap of any executor; 0 where nobody measured."""
    useful_tasks: int = 0
    """The run is no faster with more tasks at one time; 0 where a replay cannot say."""
    held: float = 0.0
    """Executor-seconds past the idle time-out, of executors that had written shuffle output."""
    executor_seconds: float = 0.0


def of_application(name: str, known: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Those of the application of this name, and those that name none."""
    return tuple(one for one in known if one.application in ("", name))


def unused(names: Sequence[str], known: Iterable[Evidence]) -> list[Evidence]:
    """Those that no single application can be found for among these names."""
    return [
        one for one in known if (one.application not in names if one.application else len(set(names)) != 1)
    ]
