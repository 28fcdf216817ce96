"""The state of a run, read from its driver's object and pod. Pure.

Sources: the conditions of a Job (batch/v1 types.go: Complete, Failed and Suspended; SuccessCriteriaMet and
FailureTarget come first, while pods still end) and the states of containers (core/v1).
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime

from sparkgen.live.values import (
    Application,
    Run,
    born,
    conditions,
    container,
    containers,
    leaving,
    moment,
    running,
    status_of,
    terminated,
    waiting,
)
from sparkgen.objects import ObjectView


class State(enum.Enum):
    """The state of a run, or of a schedule."""

    SCHEDULED = "Scheduled"
    """A CronJob that has not fired yet."""
    SUSPENDED = "Suspended"
    PENDING = "Pending"
    """The driver's program has not started, or waits to start again."""
    RUNNING = "Running"
    RESTARTING = "Restarting"
    """A Deployment's driver has ended and will be started again."""
    ENDING = "Ending"
    """The driver's program has ended; other containers of its pod, or the Job, have not."""
    DELETING = "Deleting"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"


ENDED = frozenset({State.SUCCEEDED, State.FAILED})
"""The states of runs that no longer change."""


@dataclass(frozen=True, slots=True)
class Life:
    """The state of a run. `since`: when it began; `exit_code`: the driver's, once its program has ended.

    `started`: when the driver's object was created, or began after a suspension; `ended`: the run's end.
    """

    state: State
    since: datetime | None
    started: datetime | None = None
    ended: datetime | None = None
    exit_code: int | None = None

    @property
    def over(self) -> bool:
        """Whether the run has ended, and no longer changes."""
        return self.state in ENDED


def life_of(run: Run) -> Life:
    """Returns the state of a run, and its times."""
    code = exit_code(run)
    started = moment(status_of(run.workload).get("startTime") or born(run.workload))
    if run.kind == "Job" and (finished := _finished(run.workload)) is not None:
        state, at = finished
        return Life(state, at, started, at, code)
    if leaving(run.workload):
        deleted_at = moment(run.workload["metadata"]["deletionTimestamp"])
        return Life(State.DELETING, deleted_at, started, None, code)
    if is_suspended(run.workload):
        suspended = conditions(run.workload).get("Suspended", {}).get("lastTransitionTime")
        return Life(State.SUSPENDED, moment(suspended or born(run.workload)), None, None, code)
    state, since = _of_driver(run)
    return Life(state, since, started, None, code)


def schedule_life(application: Application) -> Life | None:
    """Returns the state of an application that has not run; None if it has no schedule."""
    if application.schedule is None:
        return None
    state = State.SUSPENDED if is_suspended(application.schedule) else State.SCHEDULED
    return Life(state, moment(born(application.schedule)))


def is_suspended(workload: ObjectView) -> bool:
    """Whether the driver's object is suspended: by `spec.suspend`, or with 0 replicas."""
    spec = workload.get("spec") or {}
    return spec.get("suspend") is True or (workload["kind"] == "Deployment" and spec.get("replicas") == 0)


def exit_code(run: Run) -> int | None:
    """Returns the exit code of the newest driver's program; None if it has not ended, or it is unknown."""
    ended = terminated(container(run.driver)) if run.driver is not None else {}
    return int(ended["exitCode"]) if "exitCode" in ended else None


def _finished(job: ObjectView) -> tuple[State, datetime | None] | None:
    true_conditions = conditions(job)
    for kind, state in (("Complete", State.SUCCEEDED), ("Failed", State.FAILED)):
        if kind in true_conditions:
            return state, moment(true_conditions[kind].get("lastTransitionTime"))
    return None


def _of_driver(run: Run) -> tuple[State, datetime | None]:
    """Returns the state of a run by its newest driver's pod, and the time since when."""
    pod = run.driver
    if pod is None:
        return State.PENDING, moment(status_of(run.workload).get("startTime") or born(run.workload))
    status = container(pod)
    if running(status):
        return State.RUNNING, moment(running(status).get("startedAt"))
    if ended := terminated(status):
        state = State.RESTARTING if run.kind == "Deployment" else State.ENDING
        return state, moment(ended.get("finishedAt") or born(pod))
    if waiting(status).get("reason") == "CrashLoopBackOff" or _restarts(pod):
        last = terminated({"state": status.get("lastState")})
        return State.RESTARTING, moment(last.get("finishedAt") or born(pod))
    if status_of(pod).get("phase") in ("Failed", "Succeeded"):
        ends = [str(terminated(one).get("finishedAt") or "") for one in containers(pod)]
        return State.ENDING, moment(max(ends, default="") or born(pod))
    return State.PENDING, moment(born(pod))


def _restarts(pod: ObjectView) -> bool:
    return bool(container(pod).get("restartCount"))
