"""Applications and their runs as rows of a table: reads the facts, and chooses what is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from sparkgen import contract, thread_map
from sparkgen.cluster import Cluster, ClusterError
from sparkgen.live.crowd import FEW, Crowd
from sparkgen.live.explain import explain
from sparkgen.live.facts import Executors, RunFacts, Shared, executors, gather, has_events
from sparkgen.live.reason import Reason, detail
from sparkgen.live.state import Life, State, life_of, schedule_life
from sparkgen.live.values import Application, Run, name_of
from sparkgen.terminal import visible

AT_ONCE = 8
"""Runs whose facts are read at the same time."""
KINDS = {"Job": "job.batch", "CronJob": "cronjob.batch", "Deployment": "deployment.apps"}
"""Kind -> the kind as kubectl prints it."""
_WITHOUT_EXECUTORS = frozenset({State.SUCCEEDED, State.FAILED, State.SUSPENDED, State.SCHEDULED})


_Asked = tuple[Application, Run | None]
"""An application and its run, None for its schedule."""


@dataclass(frozen=True, slots=True)
class RunStatus:
    """A run, or the schedule of an application that has not run, with all values that are shown.

    `run`: "" for a schedule; `workload`: as kubectl names it, "job.batch/pi-1a2b3c4d"; `executors`: None
    where there can be none; `driver`, `node`: the newest driver's pod and its node, "" if there is none;
    `session`: whether its driver is outside of the cluster.
    """

    namespace: str
    application: str
    run: str
    workload: str
    latest: bool
    life: Life
    executors: Executors | None
    reason: Reason | None
    driver: str = ""
    node: str = ""
    session: bool = False


def current(application: Application) -> list[Run]:
    """Returns the latest run, and earlier runs that have not ended."""
    return [run for index, run in enumerate(application.runs) if not index or not life_of(run).over]


def every(application: Application) -> list[Run]:
    """Returns all runs, the latest first."""
    return list(application.runs)


def rows(
    cluster: Cluster,
    applications: Iterable[Application],
    chosen: Callable[[Application], list[Run]],
    now: datetime,
    tell: Callable[[str], None] = lambda _: None,
) -> list[RunStatus]:
    """Returns a row for each chosen run, and for each schedule without one.

    `tell`: called once with each sentence about what the rows lack.
    """
    asked: list[_Asked] = []
    for application in applications:
        runs: list[Run | None] = [*chosen(application)]
        begun = any(run is not None and not contract.is_session(run.workload) for run in runs)
        asked += [(application, run) for run in ([] if begun else [None]) + runs]

    def row(shared: Shared, index: int) -> RunStatus | None:
        application, run = asked[index]
        if run is None:
            return _schedule(application)
        life = life_of(run)
        try:
            return _row(run, life, _known(cluster, application, run, now, shared))
        except Exception as error:  # one tenant's object must not hide the runs of the others
            if len(asked) == 1 and isinstance(error, ClusterError):
                raise
            return _row(run, life, _Known(None, _unreadable(run, error)))

    found: dict[int, RunStatus | None] = {}
    lacks: list[str] = []
    for shared, indexes in _groups(cluster, asked, lacks.append):
        made = thread_map.results(partial(row, shared), indexes, AT_ONCE)
        found |= zip(indexes, made, strict=True)
    for text in dict.fromkeys(lacks):
        tell(text)
    return [one for _, one in sorted(found.items()) if one is not None]


def _groups(
    cluster: Cluster, asked: Sequence[_Asked], tell: Callable[[str], None]
) -> Iterator[tuple[Shared, list[int]]]:
    """Yields which of `asked` are read with the same lists.

    A namespace with many runs is read by itself: the memory of its lists is then free for the next one.
    """
    counts = Counter(run.namespace for _, run in asked if run is not None and has_events(run, life_of(run)))
    crowded: dict[str, list[int]] = {namespace: [] for namespace, count in counts.items() if count > FEW}
    few: list[int] = []
    for index, (application, _) in enumerate(asked):
        crowded.get(application.namespace, few).append(index)
    yield Shared(cluster), few
    for namespace, indexes in crowded.items():
        runs = (run for _, run in map(asked.__getitem__, indexes) if run is not None)
        yield Crowd(cluster, namespace, runs, tell), indexes


@dataclass(frozen=True, slots=True)
class _Known:
    """What a row shows of a run's facts."""

    executors: Executors | None
    reason: Reason | None


def _known(cluster: Cluster, application: Application, run: Run, now: datetime, shared: Shared) -> _Known:
    latest = application.runs[0]
    alone = run.latest or not latest.latest or contract.is_session(run.workload)
    facts = gather(cluster, run, "" if alone else latest.name, shared)
    reason = explain(facts, now) or _again(application, run, facts)
    return _Known(None if facts.life.state in _WITHOUT_EXECUTORS else executors(facts), reason)


def _unreadable(run: Run, error: Exception) -> Reason:
    """The reason for a run of which an object, an annotation or a log has another form than sparkgen's."""
    return Reason(
        "unreadable",
        f"sparkgen cannot read its objects ({type(error).__name__}: {detail(visible(str(error)))})",
        f"look at them: kubectl get configmaps,events,pods -n {run.namespace} -o yaml",
    )


def _row(run: Run, life: Life, known: _Known) -> RunStatus:
    pod = run.driver
    return RunStatus(
        run.namespace,
        run.application,
        run.name,
        f"{KINDS[run.kind]}/{name_of(run.workload)}",
        run.latest,
        life,
        known.executors,
        known.reason,
        name_of(pod) if pod is not None else "",
        str(pod["spec"].get("nodeName") or "") if pod is not None else "",
        contract.is_session(run.workload),
    )


def _schedule(application: Application) -> RunStatus | None:
    life = schedule_life(application)
    if life is None or application.schedule is None:
        return None
    reason = Reason("suspended", "its schedule is suspended", "set spec.suspend to false, and apply it")
    if life.state is State.SCHEDULED:
        reason = Reason("scheduled", f"it has not fired yet ({_when(application)})")
    workload = f"{KINDS['CronJob']}/{name_of(application.schedule)}"
    return RunStatus(application.namespace, application.name, "", workload, True, life, None, reason)


def _again(application: Application, run: Run, facts: RunFacts) -> Reason | None:
    """Returns the reason of a scheduled run that succeeded: the schedule continues, or is suspended."""
    if application.schedule is None or not run.latest or facts.life.state is not State.SUCCEEDED:
        return None
    if application.schedule["spec"].get("suspend"):
        return Reason("suspended", "its schedule is suspended", "set spec.suspend to false, and apply it")
    return Reason("scheduled", f"it runs again on schedule ({_when(application)})")


def _when(application: Application) -> str:
    spec = (application.schedule or {}).get("spec") or {}
    zone = f" {spec['timeZone']}" if spec.get("timeZone") else ""
    return f"{spec.get('schedule')}{zone}"


def names(shown: Sequence[RunStatus]) -> str:
    """Returns a line for each row: the name of its object, as kubectl accepts it."""
    return "".join(f"{row.workload}\n" for row in shown)
