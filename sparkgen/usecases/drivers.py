"""Waits for a run's driver, and reads it again."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sparkgen.live.explain import fares
from sparkgen.live.facts import gather
from sparkgen.live.find import choose, one
from sparkgen.live.state import Life
from sparkgen.live.values import Run

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster

LOOK_SECONDS = 1.0


def wait(
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
        time.sleep(LOOK_SECONDS)
        run = again(cluster, run)
    return run


def again(cluster: Cluster, run: Run) -> Run:
    """Returns the run as it is now; a Deployment's also after an apply that gave it another name.

    Raises SparkgenError if it no longer exists.
    """
    application = one(cluster, run.application, run.namespace)
    deployed = (candidate for candidate in application.runs if candidate.kind == run.kind == "Deployment")
    return next(deployed, None) or choose(application, run.name)
