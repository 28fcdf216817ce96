"""The time that executors take to register, from a log."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from sparkgen.eventlog import Recording
from sparkgen.whatif.remark import Remark, RemarkCode
from sparkgen.whatif.requests import WITH_APPLICATION, Asked

START_DELAY = 10.0
"""Seconds from the request of an executor until it registers, if the log does not tell."""
POD_START = 1.0
"""The approximate seconds that the kubelet needs to start a pod whose image is on its node."""
MASTER = "sparkgen://"
"""With this master, pods of the first executors start together with the driver's JVM, before it asks."""

NEWER = "record a run with Spark 3.4 or newer, whose logs show it"
LOCAL = ("", "127.0.0.1", "localhost")
"""Hosts of executors that are processes of the driver's machine."""


@dataclass(frozen=True, slots=True)
class Delays:
    """Seconds until executors registered."""

    first: tuple[float, ...]
    """For executors that came with the application: since its start."""
    later: tuple[float, ...]
    """For executors that were requested later: since their request, in the order of the requests."""
    usual: float
    """For any other executor, since its request."""
    assumed: tuple[Remark, ...]


def delays(recording: Recording, asked: Asked) -> Delays:
    """The delays in a recording. `asked`: when each executor was requested (requests.py)."""
    registered = [(one, asked[place]) for place, one in enumerate(recording.executors) if one.added > 0]
    since_start = tuple(sorted(one.added for one, time in registered if time is WITH_APPLICATION))
    later = sorted(
        (time, one.added)
        for one, time in registered
        if time is not WITH_APPLICATION and (time < one.added or one.requested is not None)
    )
    since_asked = tuple(max(0.0, added - time) for time, added in later)
    known = [one.added - one.requested for one, _ in registered if one.requested is not None]
    usual, said = _usual(since_start, since_asked, known, early=_is_early(recording))
    return Delays(since_start, since_asked, usual, (said,) if said else ())


def _usual(
    first: tuple[float, ...], later: tuple[float, ...], known: list[float], *, early: bool
) -> tuple[float, Remark | None]:
    """The usual delay, and a remark about what was assumed for it, if anything."""
    if known and not early:
        return statistics.median(known), None
    if known and later:
        return statistics.median(later), None
    if known:
        return statistics.median(known) + POD_START, Remark(
            RemarkCode.DELAY_ASSUMED,
            "all executors were requested with the application, and their pods started at the same time "
            f"as the driver's pod: the replay assumes that later executors take {POD_START:g} s longer",
            "record a run with dynamic allocation",
        )
    if later:
        return statistics.median(later), Remark(
            RemarkCode.DELAY_INFERRED,
            "the log does not show when executors were requested: the replay infers it from the tasks that "
            "waited and the executors that were lost",
            NEWER,
        )
    if first:
        return statistics.median(first), Remark(
            RemarkCode.DELAY_ASSUMED,
            "the log does not show when executors were requested: the replay assumes that each takes as long "
            "to register as the first ones took after the application started",
            NEWER,
        )
    return START_DELAY, Remark(
        RemarkCode.DELAY_ASSUMED,
        f"the log does not show how long executors take to register: the replay assumes {START_DELAY:g} s",
        "record a run with executors in pods",
    )


def _is_early(recording: Recording) -> bool:
    pods = any(executor.host not in LOCAL for executor in recording.executors)
    return pods and recording.properties.get("spark.master", "").startswith(MASTER)
