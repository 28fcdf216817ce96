"""End a run: the Job gets a deadline that is over.

Kubernetes ends its pods then and calls it failed, for good. Suspending it would leave a run that never ends
and, for a CronJob that forbids a second one, no later firing; deleting it would have Git, or the next apply,
run it again.
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
    """Have a run end: its driver's object as the server has it then. `now`: with a time zone."""
    text = now.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return cluster.patch(run.workload, killing(run.workload, text), manager=KILLER)


def killing(workload: Mapping[str, Any], now: str) -> dict[str, Any]:
    """What changes on a driver's object that is to end; `now`: as an API server writes times.

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
    """The run to end; None when none runs. SparkgenError when several do.

    A session is somebody's work at their own machine: only who names it ends it.
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
