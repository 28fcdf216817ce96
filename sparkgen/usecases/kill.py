"""Ends a run: the Job gets a deadline that has passed.

Kubernetes then ends its pods and marks it as failed, for good. A suspended Job would be a run that never ends
and, with a CronJob that forbids a second run, no later firing; a deleted Job would run again with the next
apply or sync from Git.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sparkgen import contract
from sparkgen.cluster.annotations import DEADLINE, KILLED, KILLER
from sparkgen.errors import SparkgenError
from sparkgen.live.find import choose
from sparkgen.live.state import State, is_suspended, life_of
from sparkgen.live.values import Application, Run, annotation_of
from sparkgen.objects import Object

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster


def kill(cluster: Cluster, run: Run, now: datetime) -> Object:
    """End a run; returns its driver's object as the server has it then. `now`: with a time zone."""
    text = now.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return cluster.patch(run.workload, killing(run.workload, text), manager=KILLER)


def killing(workload: Mapping[str, Any], now: str) -> dict[str, Any]:
    """Returns the patch that ends a driver's object; `now`: as an API server writes times.

    A Deployment, which an apply starts again, is not marked.
    """
    if workload["kind"] == "Deployment":
        return {"spec": {"replicas": 0}}
    annotations = {KILLED: now}
    before = workload["spec"].get("activeDeadlineSeconds")
    if before is not None and not annotation_of(workload, KILLED):
        annotations[DEADLINE] = str(before)
    return {"metadata": {"annotations": annotations}, "spec": {"activeDeadlineSeconds": 1}}


def run_to_kill(application: Application, wanted: str) -> Run | None:
    """Returns the run to end; None if none runs. Raises SparkgenError if several do.

    A session is a user's work on their own machine: it is only returned if `wanted` names it.
    """
    if wanted:
        run = choose(application, wanted)
        if is_suspended(run.workload):
            raise SparkgenError(f"{run.name} is suspended; there is nothing to stop")
        return None if life_of(run).over else run
    runs = [
        run
        for run in application.runs
        if not contract.is_session(run.workload)
        and not life_of(run).over
        and not is_suspended(run.workload)
        and life_of(run).state is not State.DELETING
    ]
    if len(runs) > 1:
        names = ", ".join(run.name for run in runs)
        raise SparkgenError(f"several runs of {application.name} are running: {names}; choose one with --run")
    return runs[0] if runs else None
