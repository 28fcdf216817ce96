"""How long executors take to register, from a log."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from sparkgen.eventlog import Executor, Recording
from sparkgen.whatif.remark import Remark, RemarkCode

START_DELAY = 10.0
"""Seconds from asking for an executor until it registers, where the log does not say."""
POD_START = 1.0
"""Seconds that the kubelet needs, about, to start a pod whose image is on its node."""
MASTER = "sparkgen://"
"""With it, pods of the first executors are there before the driver asks: they start while its JVM does."""

LOCAL = ("", "127.0.0.1", "localhost")
"""Hosts of executors that are processes of one machine."""


@dataclass(frozen=True, slots=True)
class Delays:
    """Seconds until executors registered."""

    first: tuple[float, ...]
    """Of those that came with the application: since its start."""
    later: tuple[float, ...]
    """Of those that were asked for later: since then, in the order in which they were asked for."""
    usual: float
    """Of any other, since it was asked for."""
    assumed: tuple[Remark, ...]


def delays(recording: Recording) -> Delays:
    """Those of a recording."""
    registered = [executor for executor in recording.executors if executor.added > 0]
    first = [executor for executor in registered if recording.is_first(executor)]
    later = sorted((one for one in registered if not recording.is_first(one)), key=_asked)
    known = [one.added - one.requested for one in registered if one.requested is not None]
    since_start = tuple(sorted(executor.added for executor in first))
    since_asked = tuple(executor.added - _asked(executor) for executor in later)
    usual, said = _usual(since_start, since_asked, known, early=_is_early(recording))
    remarks = (Remark(RemarkCode.DELAY_ASSUMED, said),) if said else ()
    return Delays(since_start, since_asked, usual, remarks)


def _usual(
    first: tuple[float, ...], later: tuple[float, ...], known: list[float], *, early: bool
) -> tuple[float, str]:
    """What is usual, and what was assumed for it."""
    if known and not early:
        return statistics.median(known), ""
    if known and later:
        return statistics.median(later), ""
    if known:
        return statistics.median(known) + POD_START, (
            "all executors were requested with the application, and their pods started at the same time "
            f"as the driver's pod: the replay assumes that later executors take {POD_START:g} s longer"
        )
    if first:
        return statistics.median(first), (
            "the log does not show when executors were requested: the replay assumes that each takes as long "
            "to register as the first ones took after the application started"
        )
    return START_DELAY, (
        f"the log does not show how long executors take to register: the replay assumes {START_DELAY:g} s"
    )


def _is_early(recording: Recording) -> bool:
    pods = any(executor.host not in LOCAL for executor in recording.executors)
    return pods and recording.properties.get("spark.master", "").startswith(MASTER)


def _asked(executor: Executor) -> float:
    return executor.added if executor.requested is None else min(executor.requested, executor.added)
