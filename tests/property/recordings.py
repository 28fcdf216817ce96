"""Generated recordings: applications that a model of a cluster ran, then damaged as logs are."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.unit.eventlog import event_log as made

SECONDS = st.integers(1, 300).map(lambda tenths: tenths / 10)
Events = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Made:
    """A recording: its events, and what made them."""

    events: Events
    executors: int
    cores: int
    stages: tuple[tuple[float, ...], ...]


@st.composite
def recordings(draw: st.DrawFn, *, dynamic: bool | None = None) -> Made:
    """Stages of one job each, one after the other, on a fixed number of executors."""
    count, cores = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    stages = tuple(
        tuple(tasks)
        for tasks in draw(st.lists(st.lists(SECONDS, min_size=1, max_size=12), min_size=1, max_size=4))
    )
    told, is_dynamic = draw(st.booleans()), draw(st.booleans()) if dynamic is None else dynamic
    properties = {"spark.executor.instances": str(count), "spark.executor.cores": str(cores)}
    if is_dynamic:
        properties |= {
            "spark.dynamicAllocation.enabled": "true",
            "spark.dynamicAllocation.maxExecutors": str(count),
        }
    events = made.start(draw(st.sampled_from(["3.3.2", "3.5.8", "4.3.0"])), **properties)
    events += [
        made.executor(str(number), 2.0 + number / 10, cores, 0.5 if told else None) for number in range(count)
    ]
    now, gap = 5.0, draw(st.integers(0, 30)) / 10
    for id_, tasks in enumerate(stages):
        rows, slots = [], [(now, number, core) for number in range(count) for core in range(cores)]
        heapq.heapify(slots)
        for seconds in tasks:
            free, number, core = heapq.heappop(slots)
            rows.append((str(number), free, free + seconds))
            heapq.heappush(slots, (free + seconds, number, core))
        ended = max(row[2] for row in rows)
        events += [
            made.job_start(id_, now, [id_]),
            *made.stage_run(id_, rows, now, ended),
            made.job_end(id_, ended),
        ]
        now = ended + gap
    return Made([*events, made.end(now)], count, cores, stages)


DAMAGES = ("drop", "lose", "executor late", "clock", "negative", "remove executor", "cut")


@st.composite
def damaged(draw: st.DrawFn) -> Events:
    """A recording with events that are missing, attempts that were lost, and clocks that were set."""
    events = list(draw(recordings()).events)
    for damage in draw(st.lists(st.sampled_from(DAMAGES), min_size=1, max_size=4)):
        place = draw(st.integers(3, len(events) - 2)) if len(events) > 5 else 3
        _damage(draw, events, place, damage)
    return events


def _damage(draw: st.DrawFn, events: Events, place: int, damage: str) -> None:
    event = events[place]
    if damage == "drop" and event["Event"] == "SparkListenerTaskEnd":
        del events[place]
    elif damage == "cut":
        del events[max(place, 5) :]
    elif damage == "lose" and event["Event"] == "SparkListenerTaskEnd":
        reason = draw(
            st.sampled_from(["ExecutorLostFailure", "FetchFailed", "Resubmitted", "ExceptionFailure"])
        )
        events.insert(place, {**event, "Task End Reason": {"Reason": reason}})
    elif damage == "executor late":
        events.insert(place, made.executor("late", draw(st.floats(-1e6, 1e9))))
    elif damage == "remove executor":
        reason = draw(st.sampled_from(["spot", "Executor killed by driver."]))
        events.insert(place, made.removed("0", draw(st.floats(-100, 1000)), reason))
    elif damage == "clock" and "Timestamp" in event:
        events[place] = {**event, "Timestamp": event["Timestamp"] + draw(st.integers(-(10**12), 10**12))}
    elif damage == "negative" and "Task Info" in event:
        field = draw(st.sampled_from(["Launch Time", "Finish Time"]))
        info = {**event["Task Info"], field: draw(st.integers(0, 2**42))}
        events[place] = {**event, "Task Info": info}
