"""Follow a run to its end, and take its exit code.

A watch tells of the Job's end at once; in between, a look at the pods every few seconds is for the person.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from sparkgen import contract
from sparkgen.cluster import ClusterError
from sparkgen.cluster.annotations import KILLED
from sparkgen.errors import SparkgenError
from sparkgen.live.driverlog import telling_lines
from sparkgen.live.explain import explain
from sparkgen.live.facts import gather
from sparkgen.live.state import Life, State, life_of
from sparkgen.live.values import (
    Run,
    annotation_of,
    conditions,
    label_of,
    newest_first,
    owner_of,
    served_as,
    uid_of,
)

if TYPE_CHECKING:
    from datetime import datetime

    from sparkgen.cluster import Cluster
    from sparkgen.live.reason import Reason

LOOK_SECONDS = 10.0
"""Between two looks at the pods. The Job's end is seen at once."""
MOST_SECONDS_BETWEEN_TRIES = 30.0
_PASSING = (429, 500, 502, 503, 504)


@dataclass(frozen=True, slots=True)
class Ended:
    """What a wait came to: the exit code, and what to say. `run`: as it was then; None where it is gone."""

    code: int
    text: str
    run: Run | None = None


class ProgressListener(Protocol):
    """Who hears how it goes."""

    def tell(self, run: Run, life: Life) -> None:
        """How a run fares now."""
        ...

    def say(self, text: str) -> None:
        """What is in the way, and passes."""
        ...


def follow(cluster: Cluster, run: Run, listener: ProgressListener, seconds: float | None) -> Ended | None:
    """Look, tell and watch until the run has ended (then how), or time is up (None).

    `seconds`: for how long at most; None for as long as it takes. What passes by itself is tried again.
    SparkgenError for a run that has no end; ClusterError for what does not pass.
    """
    if run.kind == "Deployment":
        name = run.application
        connect = f"sparkgen connect {name} -n {run.namespace}"
        until = f"; to wait until it is ready: {connect}" if served_as(run.workload) else ""
        raise SparkgenError(f"{name} is a Deployment, which never ends{until}")
    deadline = None if seconds is None else time.monotonic() + seconds
    pause = 1.0
    while True:
        left = LOOK_SECONDS if deadline is None else min(deadline - time.monotonic(), LOOK_SECONDS)
        try:
            found = _look(cluster, run)
            if found is None:
                return Ended(1, f"{run.name} was deleted before it ended")
            run, life = found, life_of(found)
            if life.over:
                return replace(ending(run, life), run=run)
            if left <= 0:
                return None
            listener.tell(run, life)
            _until_it_changes(cluster, run.workload, left)
            pause = 1.0
        except ClusterError as error:
            if error.status is not None and error.status not in _PASSING:
                raise
            if left <= 0:
                return None
            listener.say(f"{error}; retrying")
            time.sleep(min(pause, max(left, 0.1)))
            pause = min(pause * 2, MOST_SECONDS_BETWEEN_TRIES)


def _look(cluster: Cluster, run: Run) -> Run | None:
    """The run as it is now; None when its Job is gone, or is another one of the same name."""
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
    """Return when the Job changes, or the time is over; without the right to watch, after the time."""
    started = time.monotonic()
    try:
        for _ in cluster.watch(job, seconds):
            return
    except ClusterError as error:
        if error.status != 403:
            raise
    # A watch that ends at once, as behind some proxies, is no reason to ask again at once.
    if time.monotonic() - started < 1:
        time.sleep(min(seconds, 5.0))


def ending(run: Run, life: Life) -> Ended:
    """How a run has ended. A failure without an exit code of its own is 1."""
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
    """Why a run has failed, as `status` says it, and the lines of the driver's log that tell most.

    None, and no lines, where nobody may know; and of a run that was killed, which says it already.
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
    """A time for people: 42s, 3m12s, 2h05m."""
    whole = max(int(seconds), 0)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02}m"
