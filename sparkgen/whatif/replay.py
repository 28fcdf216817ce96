"""Replays an application with other settings, on a virtual clock: one queue of events, one thread.

Jobs and stages come from the workload (dependencies.py), executors from the cluster, and Spark's policy
reacts to both. Tasks go to executors in the order of tasks.py: in each round, one task to each executor with
a free slot, with the executors in a random order that depends on a seed.
"""

from __future__ import annotations

import bisect
import heapq
import math
import random
import statistics
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from sparkgen.runtime.allocator.decide import ceiling
from sparkgen.whatif.cluster import Cluster, Pods
from sparkgen.whatif.configuration import Configuration
from sparkgen.whatif.dependencies import Dependencies
from sparkgen.whatif.looks import Looks
from sparkgen.whatif.outcome import Lifetime, Outcome, Span, summed
from sparkgen.whatif.policy import next_tick
from sparkgen.whatif.profiles import Policies, Shares
from sparkgen.whatif.tasks import Tasks
from sparkgen.whatif.workload import Workload

STEPS_PER_TASK = 200
"""The most events for each task of a replay; a replay with more makes no progress."""
STEPS_PER_EXECUTOR = 20
MOST_EXECUTORS = 20_000
"""The most executors that count for this limit: with more, a replay takes hours."""


class ReplayStopped(Exception):
    """A replay cannot end: no executor ever registers, or each is lost too early; the text says so."""


@dataclass(slots=True)
class _Executor:
    """A registered executor."""

    since: float
    profile: int
    number: int
    """The number of its registration: executors are offered in this order, before it is made random."""
    free: int
    """The free shares (profiles.Shares): how many a task uses depends on its profile."""
    cold: int
    """The number of slots that have not run a task yet."""
    running: dict[tuple[int, int], int] = field(default_factory=dict)
    """Stage and task -> the number of the launch."""
    keeps: dict[int, list[int]] = field(default_factory=dict)
    """Stage -> its tasks whose output the executor keeps, in the order in which they ended."""


class Replay:
    """One run of a workload. `result` plays it."""

    def __init__(self, work: Workload, settings: Configuration, cluster: Cluster, looks: Looks) -> None:
        self._looks = looks
        self.work = work
        self.settings = settings
        self.cluster = cluster
        self.now = 0.0
        self._queue: list[tuple[float, int, Callable[[float], None]]] = []
        self._count = 0
        apart = settings.dynamic is not None and bool(settings.profiles)
        self._tasks = Tasks(work, looks.count, fair=settings.fair, by_profile=apart)
        self._stages = self._tasks.stages
        self._waits = Dependencies(work)
        self._together: dict[str, list[int]] = {}
        """SQL execution -> the stages of all its jobs."""
        for job in work.jobs:
            self._together.setdefault(job.execution, []).extend(job.stages)
        self._executors: dict[int, _Executor] = {}
        self._free: dict[int, list[tuple[int, int]]] = {}
        """Group of profiles (Tasks.group) -> its executors with free shares, as sorted pairs of the two."""
        self._registrations = 0
        self._began: dict[int, float] = {}
        """Job -> its start."""
        self._ready_at: float | None = None
        self._done_at: float | None = None
        self._look_at: float | None = None
        self._launches = 0
        self._task_seconds = 0.0
        self._lost = 0
        self._chance = random.Random(cluster.seed)  # noqa: S311 - the numbers must be reproducible
        self._delays = deque(work.start_delays)
        self._policy = None if settings.dynamic is None else Policies(settings, settings.dynamic)
        self._shares = Shares(settings)
        self._pods = Pods(
            settings.allocation, cluster, self._delay, self._later, self._registered, self._gone, looks.count
        )

    def result(self) -> Outcome:
        """Play the workload. Returns its outcome. Raises ReplayStopped if it cannot end."""
        self._pods.targets = {0: self.settings.initial}
        self._pods.decide_soon(0.0)
        self._later(self.work.context, self._ready_if_registered)
        self._later(self.work.context + self.settings.longest_wait, self._ready)
        for time in self.cluster.lose_at:
            self._later(time, self._lose_longest)
        bound = self._most_steps()
        while self._done_at is None or self.now < self._done_at:
            if not self._queue or bound == 0:
                raise ReplayStopped(
                    f"the replay is stuck: after {self.now:.0f} s, no executor can run the waiting tasks"
                )
            bound -= 1
            self.now, _, call = heapq.heappop(self._queue)
            call(self.now)
        return self._outcome(self._done_at)

    def _most_steps(self) -> int:
        """The most events of a replay that makes progress."""
        tasks = sum(len(one.tasks) for one in self.work.stages)
        executors = min(ceiling.maximum(self.settings.allocation), MOST_EXECUTORS)
        return 10_000 + STEPS_PER_TASK * (tasks + len(self.work.jobs)) + STEPS_PER_EXECUTOR * executors

    def forget(self) -> None:
        """Free its objects: replay and pods refer to each other, and would stay until garbage collection."""
        self.__dict__.clear()

    def _outcome(self, end: float) -> Outcome:
        pods = [*self._pods.ended, *self._pods.pods.values()]
        lives = [
            Lifetime(
                pod.began, pod.registered, end if pod.ended is None else min(pod.ended, end), pod.profile
            )
            for pod in sorted(pods, key=lambda pod: pod.id)
        ]
        spans = [
            Span(one.id, one.attempt, one.name, state.began, end if state.ended is None else state.ended)
            for one, state in zip(self.work.stages, self._stages, strict=True)
            if state.began is not None
        ]
        return summed(end, lives, spans, self._task_seconds, self.settings.all_slots, self._lost)

    def _later(self, time: float, call: Callable[[float], None]) -> None:
        if time == math.inf:
            return  # it never happens
        self._count += 1
        heapq.heappush(self._queue, (time, self._count, call))

    # Executors

    def _delay(self, id_: int, asked: float) -> float:
        first = self.work.first_delays
        if (
            asked < 1.0 and first
        ):  # one of the first executors: if there are more than in the log, the others get the median delay
            return first[id_ - 1] if id_ <= len(first) else statistics.median(first)
        if self._delays:
            return self._delays.popleft()
        return self.work.usual_delay

    def _registered(self, id_: int, profile: int, now: float) -> None:
        slots = self.settings.shape(profile).slots
        self._registrations += 1
        self._executors[id_] = _Executor(now, profile, self._registrations, 0, slots)
        self._set_free(id_, self._shares.whole)
        if self._policy is not None:
            self._policy.executor_added(profile, id_, now)
            self._look_soon(now)
        self._ready_if_registered(now)
        self._schedule(now)

    def _gone(self, id_: int, now: float) -> None:
        if id_ in self._executors:
            self._set_free(id_, 0)
        executor = self._executors.pop(id_, None)
        self._lost += id_ not in self._pods.kills
        if self._policy is not None:
            self._policy.executor_removed(id_)
            self._look_soon(now)
        if executor is None:
            return
        for place, task in executor.running:
            self._tasks.leave(place)
            self._requeue(place, task, now)
        if not self.settings.shuffle_service:
            self._lose_output(executor, now)
        self._schedule(now)

    def _lose_longest(self, now: float) -> None:
        if self._executors:
            id_ = min(self._executors, key=lambda one: (self._executors[one].since, one))
            self._pods.lose(id_, now)

    def _lose_output(self, executor: _Executor, now: float) -> None:
        """Repeat the tasks whose output the executor kept, of stages that others still have to read."""
        for place in sorted(executor.keeps):
            if not any(self._stages[child].left for child in self._waits.children[place]):
                continue
            state = self._stages[place]
            for task in executor.keeps[place]:
                state.left += 1
                self._requeue(place, task, now)
            if state.ended is not None:
                state.ended = None
                self._waits.reopen(place)

    def _requeue(self, place: int, task: int, now: float) -> None:
        self._tasks.put_back(place, task)
        if self._policy is not None:
            self._policy.backlogged(self.work.stages[place].profile, now)
            self._look_soon(now)

    # Jobs and stages

    def _ready_if_registered(self, now: float) -> None:
        if (
            now >= self.work.context
            and len(self._executors) >= self.settings.registered_ratio * self.settings.initial
        ):
            self._ready(now)

    def _ready(self, now: float) -> None:
        """Start the first jobs, because the driver is ready."""
        if self._ready_at is not None:
            return
        self._ready_at = now
        for place in self._waits.first_jobs():
            self._job_soon(place, now)
        self._finish_if_done(now)

    def _job_soon(self, place: int, now: float) -> None:
        job = self.work.jobs[place]
        time = max(now + job.gap, (self._ready_at or 0.0) + job.not_before)
        if job.batch is not None and job.batch.clock is not None:
            time = max(time, job.batch.clock.after(self._began.get(job.batch.before, 0.0)))
        self._later(time, partial(self._begin_job, place))

    def _begin_job(self, place: int, now: float) -> None:
        self._began[place] = now
        ready = self._waits.begin_job(place)
        self._shuffles_changed(now)
        if not self.work.jobs[place].stages:
            self._end_job_soon(place, now)
        for one in ready:
            self._stage_soon(one, now)

    def _stage_soon(self, place: int, now: float) -> None:
        self._later(now + self.work.stages[place].gap, partial(self._begin_stage, place))

    def _begin_stage(self, place: int, now: float) -> None:
        self._tasks.begin(place, now)
        if self._policy is not None:
            self._policy.stage_submitted(self.work.stages[place].profile, now)
            self._look_soon(now)
        if self._stages[place].left == 0:
            self._end_stage(place, now)
            return
        self._later(now + self.work.stages[place].launch, partial(self._launch_stage, place))

    def _launch_stage(self, place: int, now: float) -> None:
        self._tasks.open(place)
        self._schedule(now)

    def _end_stage(self, place: int, now: float) -> None:
        self._stages[place].ended = now
        for child in self._waits.end_stage(place):
            self._stage_soon(child, now)
        job = self.work.stages[place].job
        if self._waits.stages_left(job) == 0:
            self._end_job_soon(job, now)

    def _end_job_soon(self, place: int, now: float) -> None:
        self._later(now + self.work.jobs[place].tail, partial(self._end_job, place))

    def _end_job(self, place: int, now: float) -> None:
        if place not in self._waits.active or self._waits.stages_left(place) > 0:
            return
        freed = self._waits.end_job(place)
        self._shuffles_changed(now)
        for child in freed:
            self._job_soon(child, now)
        self._finish_if_done(now)

    def _finish_if_done(self, now: float) -> None:
        if self._waits.jobs_left == 0 and self._done_at is None:
            self._done_at = now + self.work.tail
            self._later(self._done_at, lambda _at: None)

    def _shuffles_changed(self, now: float) -> None:
        """Tell the policy the shuffles in use: those of running jobs, and of their SQL executions."""
        if self._policy is None or not self._policy.settings.tracking:
            return
        self._looks.count(len(self._executors))
        jobs = [self.work.jobs[job] for job in self._waits.active]
        active = {place for job in jobs for place in job.stages}
        active.update(*(self._together[one] for one in {job.execution for job in jobs} - {""}))
        self._looks.count(len(active))
        self._policy.shuffles_active(active)
        self._look_soon(now)

    # Tasks

    def _schedule(self, now: float) -> None:
        orders = [(one, self._tasks.order(one)) for one in self._tasks.open_groups() if self._free.get(one)]
        for group, order in orders:
            if (place := self._tasks.next_stage(order)) is not None:
                self._offer(order, self._free_executors(group, place, order), now)
        if self._policy is not None:
            self._policy.queue_empty(self._tasks.waiting)

    def _offer(self, order: list[int], free: list[int], now: float) -> None:
        """Assign tasks of these stages, in their order, to these executors: one to each in each round."""
        while free and (place := self._tasks.next_stage(order)) is not None:
            taken = []
            for id_ in free:
                place = self._tasks.next_stage(order)
                if place is None:
                    return
                if self._executors[id_].free >= self._share(place):
                    self._launch(place, id_, now)
                    taken.append(id_)
            free = [id_ for id_ in taken if self._executors[id_].free > 0]

    def _set_free(self, id_: int, free: int) -> None:
        executor = self._executors[id_]
        group = self._free.setdefault(self._tasks.group(executor.profile), [])
        if executor.free > 0:
            del group[bisect.bisect_left(group, (executor.free, id_))]
        executor.free = free
        if free > 0:
            bisect.insort(group, (free, id_))

    def _free_executors(self, group: int, first: int, order: list[int]) -> list[int]:
        """The executors that may get tasks of these stages, in a random order.

        While the first stage has tasks, nothing else is assigned. So if it has more of them than there are
        executors with room for one, the others get nothing.
        """
        free = self._with_free(group, self._share(first))
        if len(free) < len(self._free[group]) and len(self._stages[first].waiting) <= len(free):
            free = self._with_free(group, min(map(self._share, order)))
        free.sort(key=lambda id_: self._executors[id_].number)
        if len(free) > 1:
            self._chance.shuffle(free)
        return free

    def _with_free(self, group: int, share: int) -> list[int]:
        own = self._free[group]
        self._looks.count(len(own))
        return [id_ for _, id_ in own[bisect.bisect_left(own, (share, 0)) :] if id_ not in self._pods.kills]

    def _share(self, place: int) -> int:
        return self._shares.of(self.work.stages[place].profile)

    def _launch(self, place: int, id_: int, now: float) -> None:
        executor, task = self._executors[id_], self._tasks.take(place)
        attempts = self.work.stages[place].tasks[task]
        tried = min(self._stages[place].tried[task], len(attempts) - 1)
        seconds = attempts[tried]
        if executor.cold > 0:
            executor.cold -= 1
            seconds += self.work.warm_up
        self._set_free(id_, executor.free - self._share(place))
        self._launches += 1
        launch = executor.running[(place, task)] = self._launches
        if self._policy is not None:
            self._policy.task_started(id_)
        self._later(now + seconds, partial(self._end_task, place, task, id_, launch, seconds))

    def _end_task(self, place: int, task: int, id_: int, launch: int, seconds: float, now: float) -> None:
        executor = self._executors.get(id_)
        if executor is None or executor.running.get((place, task)) != launch:
            return  # the attempt was lost with its executor
        del executor.running[(place, task)]
        self._set_free(id_, executor.free + self._share(place))
        self._tasks.leave(place)
        self._task_seconds += seconds
        state, stage = self._stages[place], self.work.stages[place]
        state.tried[task] += 1
        failed = state.tried[task] < len(stage.tasks[task])
        if self._policy is not None:
            self._policy.task_ended(id_, now, place if stage.shuffle and not failed else None, stage.cached)
            self._look_soon(now)
        if failed:
            self._requeue(place, task, now)
        else:
            state.left -= 1
            if stage.shuffle:
                executor.keeps.setdefault(place, []).append(task)
            if state.left == 0:
                self._end_stage(place, now)
        self._schedule(now)

    # Spark's policy

    def _look_soon(self, now: float) -> None:
        self._look_by(next_tick(now))

    def _look_by(self, time: float) -> None:
        if self._look_at is None or time < self._look_at:
            self._look_at = time
            self._later(time, self._look)

    def _look(self, now: float) -> None:
        if self._policy is None or self._look_at is None or now < self._look_at:
            return
        self._look_at = None
        self._looks.count(1)
        before = self._policy.targets
        kills = self._policy.look(now, self._tasks.waiting + self._tasks.running)
        if kills or self._policy.targets != before:
            self._pods.targets = self._policy.targets
            self._pods.kills.update(kills)
            self._pods.decide_soon(now)
        again = self._policy.next_look(now)
        if again is not None and again < math.inf:
            self._look_by(again)


def replay(
    work: Workload, settings: Configuration, cluster: Cluster | None = None, looks: Looks | None = None
) -> Outcome:
    """The outcome of the work with these settings. `looks`: what is left of the work for several replays.

    Raises ReplayStopped if it cannot end, and TooMuchWork if it takes too long.
    """
    played = Replay(work, settings, cluster or Cluster(), looks or Looks())
    try:
        return played.result()
    finally:
        played.forget()


def with_fixed(settings: Configuration, count: int) -> Configuration:
    """The settings with a fixed number of executors."""
    allocation = replace(settings.allocation, dynamic=False, instances=count)
    return replace(settings, dynamic=None, instances=count, allocation=allocation)
