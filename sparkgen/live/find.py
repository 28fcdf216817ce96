"""Finds the applications in a namespace, with their runs and pods: by labels, in few requests."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sparkgen import contract
from sparkgen.cluster import ALL_NAMESPACES, Cluster
from sparkgen.errors import Conflict, NotFound
from sparkgen.live.places import SHOWN, Listed, look, namespace_of, run_label
from sparkgen.live.values import (
    Application,
    Run,
    annotation_of,
    born,
    label_of,
    leaving,
    name_of,
    newest_first,
    owner_of,
    owners_of,
    uid_of,
)
from sparkgen.objects import ObjectView
from sparkgen.phrases import some_of
from sparkgen.runtime.history.plan import SUPERSEDED
from sparkgen.textdiff import nearest


@dataclass(frozen=True, slots=True)
class Found:
    """The applications that were found. `unseen`: kinds that the user may not list, each as a sentence."""

    applications: tuple[Application, ...]
    unseen: tuple[str, ...] = ()


def find(cluster: Cluster, names: Collection[str] = (), namespaces: Sequence[str] = ()) -> Found:
    """Returns the applications of the namespaces (by default the connection's namespace), by name.

    `names`: of applications, or of runs; then the application has only that run. NotFound for a name
    that none has, with the existing names. `namespaces`: names, or only ALL_NAMESPACES, for all in which the
    user may list Jobs and pods.
    """
    places = [*dict.fromkeys(namespaces or [cluster.namespace])]
    looked, unseen = look(cluster, places, names)
    applications = [
        application
        for listed in looked
        for space in _spaces(listed)
        for application in _chosen(_applications(*space), names)
    ]
    known = [
        (label_of(item, contract.LABEL_APPLICATION), name_of(item))
        for listed in looked
        for item in listed.workloads
    ]
    _all_there(names, applications, known, places)
    return Found(tuple(applications), tuple(text for listed in looked for text in listed.unseen) + unseen)


def one(cluster: Cluster, name: str, namespace: str = "") -> Application:
    """Returns the application with this name, or with a run of this name. NotFound if there is none.

    If an application has the same name as a run of another application, the application is returned.
    """
    applications = find(cluster, [name], [namespace] if namespace else []).applications
    return next((application for application in applications if application.name == name), applications[0])


def choose(application: Application, wanted: str = "") -> Run:
    """Returns the latest run, or the run that `wanted` names: by its name, its hash, or the end of its name.

    NotFound if there is none, Conflict if several match.
    """
    runs = application.runs
    if not runs:
        raise NotFound(
            f"{application.name} has no run in {application.namespace}: its schedule has not fired yet, or "
            "its Job was deleted"
        )
    if not wanted:
        return runs[0]
    exact = [run for run in runs if run.name == wanted]
    fitting = exact or [run for run in runs if run.name.endswith(wanted) or run.label == wanted]
    if len(fitting) == 1:
        return fitting[0]
    listed = some_of([run.name for run in fitting or runs], SHOWN)
    if fitting:
        raise Conflict(f"{wanted} matches several runs of {application.name}: {listed}; name one of them")
    raise NotFound(f"{application.name} has no run {wanted} in {application.namespace}; it has {listed}")


def reread(cluster: Cluster, run: Run) -> Run:
    """Returns the run as it is now; a Deployment's also after an apply that gave it another name.

    Raises NotFound if it no longer exists.
    """
    application = one(cluster, run.application, run.namespace)
    deployed = (candidate for candidate in application.runs if candidate.kind == run.kind == "Deployment")
    return next(deployed, None) or choose(application, run.name)


def _spaces(listed: Listed) -> list[tuple[str, list[ObjectView], list[ObjectView]]]:
    """Returns each namespace that has workloads, with them and its pods, by name."""
    of = partial(namespace_of, listed=listed)
    pods = _grouped(listed.pods, of)
    return [(name, own, pods.get(name, [])) for name, own in sorted(_grouped(listed.workloads, of).items())]


def _applications(
    namespace: str, workloads: Sequence[ObjectView], pods: Sequence[ObjectView]
) -> list[Application]:
    """Returns the applications of a namespace, built from its objects, sorted by name."""
    drivers = [pod for pod in pods if label_of(pod, contract.LABEL_ROLE) == "driver"]
    found = _Pods(
        _grouped(drivers, owner_of),
        _grouped(drivers, _deployment_of),
        _grouped((pod for pod in pods if label_of(pod, contract.LABEL_ROLE) == "executor"), owner_of),
    )
    result = []
    for name, own in sorted(_grouped(workloads, _application_of).items()):
        runs = [_run(namespace, item, found) for item in own if item["kind"] != "CronJob"]
        schedule = next((item for item in own if item["kind"] == "CronJob"), None)
        result.append(Application(name, namespace, tuple(_ordered(runs)), schedule))
    return result


@dataclass(frozen=True, slots=True)
class _Pods:
    """The pods of a namespace.

    `drivers`, `executors`: by their owner's UID; `drivers_of_deployments`: by the name of the Deployment, as
    they belong to ReplicaSets. Jobs of the same name may be left from before.
    """

    drivers: Mapping[str, Sequence[ObjectView]]
    drivers_of_deployments: Mapping[str, Sequence[ObjectView]]
    executors: Mapping[str, Sequence[ObjectView]]


def _grouped(items: Iterable[ObjectView], key: Callable[[ObjectView], str]) -> dict[str, list[ObjectView]]:
    groups: dict[str, list[ObjectView]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def _application_of(item: ObjectView) -> str:
    return label_of(item, contract.LABEL_APPLICATION)


def _deployment_of(pod: ObjectView) -> str:
    """Returns the name of the Deployment that a pod belongs to; "" if it belongs to no ReplicaSet.

    A ReplicaSet has the name of its Deployment, a dash, and a hash without dashes.
    """
    names = (str(one.get("name")) for one in owners_of(pod) if one["kind"] == "ReplicaSet")
    return next(names, "").rpartition("-")[0]


def _run(namespace: str, workload: ObjectView, pods: _Pods) -> Run:
    application, label = _application_of(workload), run_label(workload)
    deployed = workload["kind"] == "Deployment"
    own = (
        pods.drivers_of_deployments.get(name_of(workload), ())
        if deployed
        else pods.drivers.get(uid_of(workload), ())
    )
    own = sorted(newest_first(own), key=leaving)
    mine = [pod for driver in own for pod in pods.executors.get(uid_of(driver), ())]
    name = label if deployed else name_of(workload)
    return Run(application, namespace, name, label, workload, tuple(own), tuple(mine))


def _ordered(runs: Sequence[Run]) -> list[Run]:
    """Returns the latest run (the newest that is not marked as superseded), then the others, newest first.

    A session is the latest only if there is no run.
    """
    ordered = sorted(
        runs,
        key=lambda run: (
            not contract.is_session(run.workload),
            not annotation_of(run.workload, SUPERSEDED),
            born(run.workload),
            run.name,
        ),
        reverse=True,
    )
    rest = sorted(ordered[1:], key=lambda run: (born(run.workload), run.name), reverse=True)
    return [*ordered[:1], *(replace(run, latest=False) for run in rest)]


def _chosen(applications: Sequence[Application], names: Collection[str]) -> list[Application]:
    """Returns the named applications; an application of which only runs were named has only those runs."""
    result = []
    for application in applications:
        if not names or application.name in names:
            result.append(application)
            continue
        runs = tuple(run for run in application.runs if {run.name, run.label} & set(names))
        if runs:
            result.append(replace(application, runs=runs))
    return result


def _all_there(
    names: Collection[str],
    found: Sequence[Application],
    known: Sequence[tuple[str, str]],
    namespaces: Sequence[str],
) -> None:
    """Raises NotFound for a name that no application and no run has."""
    runs = {name for application in found for run in application.runs for name in (run.name, run.label)}
    have = runs | {application.name for application in found}
    for name in names:
        if name not in have:
            raise NotFound(_nothing(name, known, namespaces))


def _nothing(name: str, known: Sequence[tuple[str, str]], namespaces: Sequence[str]) -> str:
    where = in_words(namespaces)
    applications = sorted({application for application, _ in known})
    if not applications:
        return (
            f"there is no application {name} in {where}, and no other application of sparkgen; check "
            "--namespace and --context"
        )
    near = nearest(name, sorted({text for pair in known for text in pair}))
    step = f"did you mean {near}?" if near else f"there is {some_of(applications, SHOWN)}"
    return f"there is no application {name} in {where}: {step}"


def in_words(namespaces: Sequence[str]) -> str:
    """Returns the namespaces as a part of a sentence."""
    return " and ".join("all namespaces" if one == ALL_NAMESPACES else one for one in namespaces)
