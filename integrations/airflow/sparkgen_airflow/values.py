"""What operator and trigger share: where a run is, and how a task finds its run. Without Airflow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sparkgen import api


@dataclass(frozen=True)
class Target:
    """A cluster and a namespace, as `sparkgen.api.connect` takes them; "" leaves the choice to it."""

    namespace: str = ""
    context: str = ""
    kubeconfig: str = ""

    def connect(self) -> api.Connection:
        """Returns a connection; nothing is sent yet."""
        return api.connect(**asdict(self))


@dataclass(frozen=True)
class TaskRequest:
    """A task's request for a run.

    `key`: the task instance, whatever its try; `attempt`: the number of its try, from 1, which grows with
    each retry and each time that somebody clears the task.
    """

    key: str
    attempt: int

    def id_of(self, attempt: int) -> str:
        """Returns the request ID of a try."""
        return f"{self.key}#{attempt}"


def run_of(
    cluster: api.Connection, application: str, request: TaskRequest, arguments: Sequence[str] | None
) -> str:
    """Returns the name of the task's run, which an earlier try may have started, or starts it.

    A run that goes on, or has succeeded, is the task's run, whichever try started it: a worker may have died
    since. Only after a run that has failed, or is gone, a try starts one of its own.
    """
    for attempt in range(request.attempt, 0, -1):
        found = cluster.requested(application, request.id_of(attempt))
        if found is None:
            continue
        if found.life.state is api.State.FAILED and attempt < request.attempt:
            break
        # It may lack some of its files, if the worker died while it started it.
        return cluster.run(application, request_id=request.id_of(attempt), arguments=arguments).name
    return cluster.run(application, request_id=request.id_of(request.attempt), arguments=arguments).name


def event_of(end: api.RunEnd) -> dict[str, Any]:
    """Returns how a run has ended, as values that Airflow can keep."""
    return {
        "run": end.run,
        "exit_code": end.exit_code,
        "message": end.message,
        "reason": end.reason.text if end.reason is not None else "",
        "log": list(end.log),
    }
