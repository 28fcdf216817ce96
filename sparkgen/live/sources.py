"""Chooses the logs that a user names, and explains why a log is gone. Pure, but for the names of pods."""

from __future__ import annotations

from dataclasses import dataclass

from sparkgen import contract
from sparkgen.errors import SparkgenError
from sparkgen.grammar.whole import whole
from sparkgen.live import allocatorlog
from sparkgen.live.archived import reading
from sparkgen.live.values import (
    Run,
    by_spark,
    container,
    containers,
    label_of,
    name_of,
    newest_first,
    running,
    terminated,
    uid_of,
    waiting,
)
from sparkgen.objects import ObjectView
from sparkgen.phrases import some_of
from sparkgen.runtime.allocator.values.attempt import new_attempt

SHOWN = 10
"""The largest number of executors that a message lists."""


@dataclass(frozen=True, slots=True)
class Source:
    """A container's log. `title`: marks its lines among those of other logs, as in "executor 3"."""

    pod: str
    container: str
    title: str


def driver_source(run: Run) -> Source | None:
    """Returns the driver's log, or that of a container that failed before it; None if there is none yet.

    A session's driver writes its log outside the cluster: there, the allocator's log is returned.
    """
    pod = run.driver
    if pod is None:
        return None
    if contract.is_session(pod):
        return allocator_source(run)
    status = container(pod)
    if started(status):
        return Source(name_of(pod), contract.DRIVER_CONTAINER, "driver")
    for one in containers(pod):
        ended = terminated(one) or (one.get("lastState") or {}).get("terminated") or {}
        if ended.get("exitCode"):
            return Source(name_of(pod), str(one["name"]), str(one["name"]))
    return None


def allocator_source(run: Run) -> Source | None:
    """Returns the allocator's log; None if there is none yet."""
    pod = run.driver
    if pod is None or not started(container(pod, contract.ALLOCATOR_CONTAINER)):
        return None
    return Source(name_of(pod), contract.ALLOCATOR_CONTAINER, contract.ALLOCATOR_CONTAINER)


def executor_sources(run: Run) -> list[Source]:
    """Returns the logs of the existing executors, sorted by their ids."""
    with_log = [pod for pod in run.executors if started(container(pod, contract.EXECUTOR_CONTAINER))]
    return [
        Source(name_of(pod), contract.EXECUTOR_CONTAINER, f"executor {executor_id(pod)}")
        for pod in sorted(with_log, key=lambda pod: (_number(executor_id(pod)), name_of(pod)))
    ]


def executor_source(run: Run, wanted: str, allocator_log: str) -> Source:
    """Returns the log of one executor. SparkgenError if it has none, with what happened to it.

    `wanted`: its id, or its pod's name; `allocator_log`: the allocator's log, which has the executor's end.
    """
    id_ = wanted.rpartition("-exec-")[2]
    fitting = [pod for pod in run.executors if wanted == name_of(pod) or executor_id(pod) == id_]
    if not fitting:
        raise SparkgenError(_gone(run, id_, allocator_log))
    pod = newest_first(fitting)[0]
    status = container(pod, contract.EXECUTOR_CONTAINER)
    if not started(status):
        why = waiting(status)
        said = f" ({why.get('reason')})" if why.get("reason") else ""
        raise SparkgenError(
            f"executor {id_} has not started{said}: see sparkgen status {run.application} -n {run.namespace}"
        )
    return Source(name_of(pod), contract.EXECUTOR_CONTAINER, f"executor {id_}")


def executor_id(pod: ObjectView) -> str:
    """Returns an executor's id."""
    return label_of(pod, contract.LABEL_EXECUTOR_ID)


def started(status: ObjectView) -> bool:
    """Whether a container has a log: it runs, has ended, or has ended before."""
    return bool(running(status) or terminated(status) or (status.get("lastState") or {}).get("terminated"))


def _gone(run: Run, id_: str, allocator_log: str) -> str:
    """Returns what is known about an executor whose pod does not exist."""
    ids = sorted((executor_id(pod) for pod in run.executors), key=_number)
    now = f"it has executors {some_of(ids, SHOWN)}" if ids else "it has no executors now"
    number = whole(id_)
    said = allocatorlog.loss(allocator_log, number) if number is not None else ""
    read = reading(run, f" --executor {id_}")
    if not said and not (number is not None and run.driver is not None):
        return f"{run.name} has no executor {id_}: {now}" + (f"; for earlier ones: {read}" if read else "")
    pod = _pod_name(run, id_)
    where = f"its log was deleted with its pod {pod}: look for that name in your cluster's log collection"
    if read:
        where = f"its log is archived: {read}"
    if not said:
        return f"{run.name} has no executor {id_} any more; if it had one, {where}; {now}"
    return f"{said}; {where}; {now}"


def _pod_name(run: Run, id_: str) -> str:
    driver, number = run.driver, whole(id_)
    if by_spark(run):  # Spark's names have a random part
        return f"...-exec-{id_}"
    if driver is None or number is None:
        return f"{run.label}-...-exec-{id_}"
    attempt = new_attempt(run.application, run.label, run.namespace, name_of(driver), uid_of(driver), "")
    return attempt.executor_name(number)


def _number(id_: str) -> int:
    return whole(id_) or 0
