"""Ends a run: which one, and how (sparkgen/killing.py)."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from sparkgen import contract
from sparkgen.cluster.annotations import KILLER
from sparkgen.errors import Conflict, SparkgenError
from sparkgen.killing import killing
from sparkgen.live.find import choose
from sparkgen.live.state import State, is_suspended, life_of
from sparkgen.live.values import Application, Run
from sparkgen.objects import Object

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster


def kill(cluster: Cluster, run: Run, now: datetime) -> Object:
    """End a run; returns its driver's object as the server has it then. `now`: with a time zone."""
    return cluster.patch(run.workload, killing(run.workload, now), manager=KILLER)


def run_to_kill(application: Application, wanted: str) -> Run | None:
    """Returns the run to end; None if none runs. Raises Conflict if several do.

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
        raise Conflict(f"several runs of {application.name} are running: {names}; choose one with --run")
    return runs[0] if runs else None
