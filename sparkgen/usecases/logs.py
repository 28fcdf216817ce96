"""Chooses the log of a run that is wanted, and waits for it where that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkgen import contract
from sparkgen.cluster import ClusterError
from sparkgen.errors import NotFound, SparkgenError
from sparkgen.live import archived, sources
from sparkgen.live.values import by_spark
from sparkgen.usecases.wait import until

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster
    from sparkgen.live.sources import Source
    from sparkgen.live.state import Life
    from sparkgen.live.values import Run


@dataclass(frozen=True, slots=True)
class WantedLog:
    """Whose log it is: the driver's; an executor's, by its ID or its pod's name; or the allocator's."""

    executor: str = ""
    allocator: bool = False


def source_of(
    cluster: Cluster, run: Run, wanted: WantedLog, say: Callable[[str], None], *, wait: bool = False
) -> Source:
    """Returns the wanted log. Raises NotFound if there is none yet; with `wait`, waits for it.

    `say`: called with what is awaited, and with a sentence if it is another log than the driver's.
    """
    if wanted.executor:
        source = sources.allocator_source(run)
        log = "" if source is None else _text(cluster, source)
        return sources.executor_source(run, wanted.executor, log)
    if wanted.allocator and by_spark(run):
        step = f"the driver's log has what it does about executors: sparkgen logs {run.application}"
        raise SparkgenError(
            f"{run.name} has no allocator, because its document has `allocator: spark`; {step}"
        )
    find = sources.allocator_source if wanted.allocator else sources.driver_source
    chosen = find(run)
    if chosen is None:
        chosen = find(_until_there(cluster, run, find, say, wait=wait))
    assert chosen is not None  # noqa: S101 - the run that is returned has one
    if not wanted.allocator and contract.is_session(run.workload):
        say("the driver of a session logs to its own terminal; this is the log of its allocator:")
    elif not wanted.allocator and chosen.title != "driver":
        say(f"the driver has not started; this is the log of {chosen.container}:")
    return chosen


def _text(cluster: Cluster, source: Source) -> str:
    try:
        return cluster.log(source.pod, source.container)
    except ClusterError:
        return ""  # it only adds detail


def _until_there(
    cluster: Cluster,
    run: Run,
    find: Callable[[Run], Source | None],
    say: Callable[[str], None],
    *,
    wait: bool,
) -> Run:
    """Returns the run when it has a log. Raises NotFound if there will be none, or without `wait`."""

    def awaited(life: Life, fares: str) -> str:
        if life.over:
            read = archived.reading(run)
            raise NotFound(f"no log for {run.name}, which is {fares}" + (f": {read}" if read else ""))
        if not wait:
            raise NotFound(f"no log yet for {run.name}, which is {fares}; to wait for it, add -f")
        return f"{run.name} is {fares}"

    return until(cluster, run, lambda run: find(run) is not None, awaited, say)
