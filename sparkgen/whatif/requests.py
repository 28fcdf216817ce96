"""When executors were requested. Logs since Spark 3.4 have these times; for older logs they are inferred.

With a fixed number of executors, this many come with the application, and each further one replaces a lost
one. With dynamic allocation, Spark's own rules (policy.py) give the times of requests, from the tasks that
waited and ran.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from sparkgen.eventlog import Executor, Recording, Stage
from sparkgen.runtime.allocator.decide import ceiling
from sparkgen.whatif.configuration import Configuration, DynamicAllocation
from sparkgen.whatif.policy import AllocationPolicy, next_tick

WITH_APPLICATION = None
"""The time of an executor that came with the application, and was not requested by a job."""
WITHDRAWN_FOR = 30.0
"""Seconds for which an executor may still come after its request was withdrawn, as it is already starting."""
MOST_WITHDRAWN = 1000
Asked = Sequence[float | None]


def asked_at(recording: Recording, settings: Configuration, lost: frozenset[int]) -> Asked:
    """For each executor, in their order, the time of its request, or WITH_APPLICATION."""
    first_job = recording.first_job
    if all(one.requested is not None for one in recording.executors):
        return [_said(one, first_job) for one in recording.executors]
    by_time = sorted(
        range(len(recording.executors)), key=lambda place: (recording.executors[place].added, place)
    )
    first = set(by_time[: settings.initial])
    later = [place for place in by_time if place not in first]
    guessed = (
        _replacing(recording, later, lost)
        if settings.dynamic is None
        else _by_policy(recording, settings, later)
    )
    return [
        _said(one, first_job) if one.requested is not None else guessed.get(place)
        for place, one in enumerate(recording.executors)
    ]


def _said(executor: Executor, first_job: float) -> float | None:
    return WITH_APPLICATION if executor.is_first(first_job) else executor.requested


def _replacing(recording: Recording, later: Sequence[int], lost: frozenset[int]) -> dict[int, float]:
    """Executor -> the time of the first loss without a replacement so far; its own time if there is none."""
    gone = deque(sorted(recording.executors[place].removed or recording.ended for place in lost))
    found = {}
    for place in later:
        added = recording.executors[place].added
        found[place] = gone.popleft() if gone and gone[0] <= added else added
    return found


def _by_policy(recording: Recording, settings: Configuration, later: Sequence[int]) -> dict[int, float]:
    if settings.dynamic is None:
        raise ValueError("a fixed number of executors")
    asked: dict[int, float] = {}
    executors: dict[int, list[int]] = {}
    for place, executor in enumerate(recording.executors):
        executors.setdefault(executor.profile, []).append(place)
    stages: dict[int, list[Stage]] = {}
    for stage in recording.stages:
        stages.setdefault(stage.profile, []).append(stage)
    guessed = set(later)
    for profile in {recording.executors[place].profile for place in later}:
        requests = _Requests(recording, _policy(settings, settings.dynamic, profile), profile)
        asked.update(requests.asked(executors[profile], stages.get(profile, ()), guessed))
    return asked


def _policy(settings: Configuration, dynamic: DynamicAllocation, profile: int) -> AllocationPolicy:
    return AllocationPolicy(dynamic, settings.shape(profile).slots, ceiling.maximum(settings.allocation))


@dataclass(slots=True)
class _Open:
    """Open requests for executors. Those of one time are one entry, because a log can claim billions."""

    count: int = 0
    _asked: deque[tuple[float, int]] = field(default_factory=deque)
    """Times with the number of requests, in their order."""

    def ask(self, now: float, number: int) -> None:
        """Add requests."""
        if number > 0:
            self.count += number
            self._asked.append((now, number))

    def first(self) -> float:
        """Remove the oldest request. Returns its time."""
        time, number = self._asked.popleft()
        if number > 1:
            self._asked.appendleft((time, number - 1))
        self.count -= 1
        return time

    def withdraw(self, number: int) -> Iterator[float]:
        """Remove the newest requests. Yields the times of the last MOST_WITHDRAWN of these."""
        left = min(number, self.count)
        while left > 0:
            time, there = self._asked.pop()
            gone = min(there, left)
            if there > gone:
                self._asked.append((time, there - gone))
            self.count -= gone
            left -= gone
            yield from itertools.repeat(time, min(gone, MOST_WITHDRAWN))


class _Requests:
    """Spark's policy, applied to the recorded tasks and executors of one resource profile."""

    def __init__(self, recording: Recording, policy: AllocationPolicy, profile: int) -> None:
        self.recording = recording
        self.policy = policy
        self.waiting = self.running = 0
        self.there = 0
        self.open = _Open()
        """The requests for which no executor has come yet."""
        self.open.ask(0.0, 0 if profile else self.policy.target)
        self.withdrawn: deque[float] = deque(maxlen=MOST_WITHDRAWN)
        """The times of requests that Spark withdrew. An executor that is already starting comes anyway."""
        self.found: dict[int, float] = {}

    def asked(
        self, executors: Sequence[int], stages: Sequence[Stage], later: Container[int]
    ) -> dict[int, float]:
        """Later executor -> the time of its request, or of its registration if there was none.

        `executors`, `stages`: those of the profile.
        """
        look: float | None = None
        for time, call in sorted(self._events(executors, stages, later), key=lambda event: event[0]):
            while look is not None and look < time:
                look = self._look(look)
            call(time)
            look = next_tick(time) if look is None else min(look, next_tick(time))
        return self.found

    def _events(
        self, executors: Sequence[int], stages: Sequence[Stage], later: Container[int]
    ) -> Iterator[tuple[float, Callable[[float], None]]]:
        for place in executors:
            executor = self.recording.executors[place]
            yield executor.added, partial(self._added, place, is_later=place in later)
            if executor.removed is not None:
                yield executor.removed, partial(self._removed, place)
        for stage in stages:
            yield stage.submitted, partial(self._submitted, stage.size)
            yield from ((time, self._launched) for time in stage.tasks.launched)
            yield from ((time, self._finished) for time in stage.tasks.finished)
            never = max(0, stage.size - len(set(stage.tasks.index)))
            ended = self.recording.ended if stage.completed is None else stage.completed
            yield ended, partial(self._dropped, never)

    def _added(self, place: int, now: float, *, is_later: bool) -> None:
        self.there += 1
        self.policy.executor_added(place, now)
        asked = self._request_for(now)
        if is_later:
            self.found[place] = asked

    def _request_for(self, now: float) -> float:
        """The time of the request for which an executor came."""
        if self.open.count:
            return self.open.first()
        if self.withdrawn and self.withdrawn[-1] >= now - WITHDRAWN_FOR:
            return self.withdrawn.pop()
        return now

    def _removed(self, place: int, _now: float) -> None:
        self.there -= 1
        self.policy.begun()
        self.policy.executor_removed(place)

    def _submitted(self, size: int, now: float) -> None:
        self.waiting += size
        self.policy.stage_submitted(now)

    def _launched(self, _now: float) -> None:
        self.running += 1
        self.waiting = max(0, self.waiting - 1)
        if self.waiting == 0:
            self.policy.queue_empty()

    def _finished(self, _now: float) -> None:
        self.running -= 1

    def _dropped(self, count: int, _now: float) -> None:
        self.waiting = max(0, self.waiting - count)
        if self.waiting == 0:
            self.policy.queue_empty()

    def _look(self, now: float) -> float | None:
        """Do one check of Spark's policy. Returns the time of the next check that may change something."""
        self.policy.set_target(now, self.waiting + self.running)
        missing = self.policy.target - self.there - self.open.count
        self.open.ask(now, missing)
        self.withdrawn.extend(self.open.withdraw(-missing))
        grows = self.policy.grows_at(now)
        return None if grows is None else next_tick(grows)
