"""The facts of a recorded run of an application that rules use. Pure values, read from a log."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Evidence:
    """One recorded run. Memory in MiB, times in seconds."""

    source: str
    """The event log, as the user named it."""
    application: str
    """The name of the application; "" if the log lacks it, because a tool other than sparkgen started it."""
    heap_used: int = 0
    """The peak heap of any executor; 0 if not measured."""
    useful_tasks: int = 0
    """The number of tasks at one time above which the run is not faster; 0 if a replay cannot tell."""
    held: float = 0.0
    """Executor-seconds after the idle time-out, of executors that had written shuffle output."""
    executor_seconds: float = 0.0


def of_application(name: str, known: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """The evidence of the application of this name, and the evidence without a name."""
    return tuple(one for one in known if one.application in ("", name))


def unused(names: Sequence[str], known: Iterable[Evidence]) -> list[Evidence]:
    """The evidence that does not belong to exactly one of these applications."""
    return [
        one for one in known if (one.application not in names if one.application else len(set(names)) != 1)
    ]
