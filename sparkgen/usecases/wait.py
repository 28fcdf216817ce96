"""Waits for a run: until its driver is ready, or until its end, for its exit code.

A watch reports a Job's end at once; the pods are read every few seconds, to show progress to the user.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sparkgen import contract
from sparkgen.cluster import ClusterError
from sparkgen.errors import SparkgenError
from sparkgen.killing import KILLED
from sparkgen.live.driverlog import telling_lines
from sparkgen.live.explain import explain, fares
from sparkgen.live.facts import gather
from sparkgen.live.find import reread
from sparkgen.live.state import Life, State, life_of
from sparkgen.live.values import (
    Run,
    annotation_of,
    conditions,
    container,
    label_of,
    leaving,
    newest_first,
    owner_of,
    served_as,
    uid_of,
)

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster
    from sparkgen.live.reason import Reason

DRIVER_SECONDS = 1.0
"""Seconds between two reads of a driver that is not ready."""
LOOK_SECONDS = 10.0
"""Seconds between two reads of the pods. The Job's end is seen at once."""
MOST_SECONDS_BETWEEN_TRIES = 30.0
_PASSING = (429, 500, 502, 503, 504)


def until(
    cluster: Cluster,
    run: Run,
    reached: Callable[[Run], bool],
    awaited: Callable[[Life, str], str],
    say: Callable[[str], None],
) -> Run:
    """Wait until `reached` is true of a run; returns the run as it is then.

    `awaited`: returns what the wait is for, from the run's state and its state in words; a SparkgenError that
    it raises ends the wait. `say`: called with that text whenever it changes.
    """
    last = ""
    while not reached(run):
        facts = gather(cluster, run)
        text = awaited(facts.life, fares(facts, datetime.now(UTC)))
        if text != last:
            say(f"waiting: {text}")
            last = text
        time.sleep(DRIVER_SECONDS)
        run = reread(cluster, run)
    return run


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """How long to wait until a driver is ready. `text`: as written; `deadline`: of the monotonic clock."""

    text: str
    deadline: float


def until_ready(
    cluster: Cluster,
    run: Run,
    name: str,
    ends: Collection[State],
    limit: TimeLimit,
    say: Callable[[str], None],
) -> Run:
    """Wait until the driver's container is ready; returns the run as it is then.

    `name`: of what is awaited, in messages; `say`: as of `until`. Raises SparkgenError if the run gets into a
    state of `ends` instead, or not in time.
    """

    def awaited(life: Life, state: str) -> str:
        text = f"{name} is {state}"
        if life.state in ends:
            raise SparkgenError(text)
        if life.state is State.RUNNING:
            text = f"{name} is running, but not ready yet"
        if time.monotonic() >= limit.deadline:
            raise SparkgenError(
                f"{text}; it was not ready within {limit.text}. To wait longer, increase --timeout"
            )
        return text

    return until(cluster, run, is_ready, awaited, say)


def is_ready(run: Run) -> bool:
    """Whether the driver's container is ready: a server then answers, and so does a session's allocator."""
    pod = run.driver
    return pod is not None and not leaving(pod) and container(pod).get("ready") is True


@dataclass(frozen=True, slots=True)
class Ended:
    """The result of a wait: exit code, and message. `run`: as it was then; None if it no longer exists."""

    code: int
    text: str
    run: Run | None = None


@dataclass(frozen=True, slots=True)
class Pause:
    """The seconds until the next look at a run. `job`: whoever sees it change may look sooner."""

    seconds: float
    job: Mapping[str, Any] | None = None


class Waiting:
    """A wait for the end of a run, one look after the other; who waits decides how to pass the time between.

    `run`: as it was at the last look; `seconds`: the longest time; None: no limit. `tell`: called with each
    state of the run. `say`: called with each error that passes by itself; it is tried again.
    SparkgenError for a run that has no end.
    """

    def __init__(
        self,
        cluster: Cluster,
        run: Run,
        seconds: float | None,
        tell: Callable[[Run, Life], None],
        say: Callable[[str], None],
    ) -> None:
        if run.kind == "Deployment":
            name = run.application
            connect = f"sparkgen connect {name} -n {run.namespace}"
            step = f"; to wait until it is ready: {connect}" if served_as(run.workload) else ""
            raise SparkgenError(f"{name} is a Deployment, which never ends{step}")
        self.run = run
        self._cluster, self._tell, self._say = cluster, tell, say
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._pause = 1.0
        self._failing = False

    def look(self) -> Ended | Pause | None:
        """Read the run, and report it: how it has ended, or how long to wait; None when the time is over.

        ClusterError for an error that does not pass.
        """
        left = self._left()
        try:
            current = _look(self._cluster, self.run)
        except ClusterError as error:
            return self.failed(error)
        if not self._failing:  # not right after an error: a watch may fail after each look
            self._pause = 1.0
        self._failing = False
        if current is None:
            return Ended(1, f"{self.run.name} was deleted before it ended")
        self.run, life = current, life_of(current)
        if life.over:
            return replace(ending(current, life), run=current)
        if left <= 0:
            return None
        self._tell(current, life)
        return Pause(left, current.workload)

    def failed(self, error: ClusterError) -> Pause | None:
        """Returns how long to wait after an error, longer each time; None when the time is over.

        Raises the error if it does not pass by itself.
        """
        if error.status is not None and error.status not in _PASSING:
            raise error
        left = self._left()
        if left <= 0:
            return None
        self._say(f"{error}; retrying")
        self._failing = True
        pause = Pause(min(self._pause, max(left, 0.1)))
        self._pause = min(self._pause * 2, MOST_SECONDS_BETWEEN_TRIES)
        return pause

    def _left(self) -> float:
        """Returns the seconds until the next look at the latest, or until the time is over."""
        if self._deadline is None:
            return LOOK_SECONDS
        return min(self._deadline - time.monotonic(), LOOK_SECONDS)


def follow(
    cluster: Cluster,
    run: Run,
    seconds: float | None,
    tell: Callable[[Run, Life], None],
    say: Callable[[str], None],
) -> Ended | None:
    """Read, report and watch a run until it has ended (returns how), or the time is over (returns None).

    The arguments and the errors are those of `Waiting`.
    """
    waiting = Waiting(cluster, run, seconds, tell, say)
    step = waiting.look()
    while isinstance(step, Pause):
        try:
            if step.job is None:
                time.sleep(step.seconds)
            else:
                _until_it_changes(cluster, step.job, step.seconds)
            step = waiting.look()
        except ClusterError as error:
            step = waiting.failed(error)
    return step


def _look(cluster: Cluster, run: Run) -> Run | None:
    """Returns the run as it is now; None if its Job is gone, or replaced by another of the same name."""
    job = cluster.get("batch/v1", "Job", run.name, run.namespace)
    if job is None or uid_of(job) != uid_of(run.workload):
        return None
    pods = cluster.list("v1", "Pod", run.namespace, f"{contract.LABEL_RUN}={run.label}")
    drivers = newest_first([pod for pod in pods if owner_of(pod) == uid_of(job)])
    own = {uid_of(pod) for pod in drivers}
    executors = [
        pod for pod in pods if owner_of(pod) in own and label_of(pod, contract.LABEL_ROLE) == "executor"
    ]
    return replace(run, workload=job, drivers=tuple(drivers), executors=tuple(executors))


def _until_it_changes(cluster: Cluster, job: Mapping[str, Any], seconds: float) -> None:
    """Return when the Job changes, or the time is over; sooner if the watch ends early or is forbidden."""
    started = time.monotonic()
    try:
        for _ in cluster.watch(job, seconds):
            return
    except ClusterError as error:
        if error.status != 403:
            raise
    # A watch may end at once, as behind some proxies: do not send the next request at once.
    if time.monotonic() - started < 1:
        time.sleep(min(seconds, 5.0))


def ending(run: Run, life: Life) -> Ended:
    """Returns how a run has ended. The exit code of a failure without its own is 1."""
    took = _took(life)
    if life.state is State.SUCCEEDED:
        return Ended(0, f"{run.name} succeeded{took}")
    if annotation_of(run.workload, KILLED):
        return Ended(life.exit_code or 1, f"{run.name} was killed{took}")
    if life.exit_code:
        return Ended(life.exit_code, f"{run.name} failed{took}: the driver's exit code is {life.exit_code}")
    failed = conditions(run.workload).get("Failed", {})
    why = str(failed.get("message") or failed.get("reason") or "unknown reason").rstrip(".")
    return Ended(1, f"{run.name} failed{took}: {why}")


def why(cluster: Cluster, ended: Ended, now: datetime) -> tuple[Reason | None, list[str]]:
    """Returns why a run has failed, as `status` shows it, and the most useful lines of the driver's log.

    None and no lines if that may not be read, or the run was killed, which its message already has.
    """
    if ended.run is None or annotation_of(ended.run.workload, KILLED):
        return None, []
    try:
        facts = gather(cluster, ended.run)
    except ClusterError:
        return None, []
    return explain(facts, now), telling_lines(facts.driver_log)


def _took(life: Life) -> str:
    if life.started is None or life.ended is None:
        return ""
    return f" after {lasting((life.ended - life.started).total_seconds())}"


def lasting(seconds: float) -> str:
    """Returns a time as text for messages: 42s, 3m12s, 2h05m."""
    whole = max(int(seconds), 0)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02}m"
