"""Lists drivers' objects and pods in a namespace, or in all: by labels, in few requests."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from sparkgen import contract, thread_map
from sparkgen.cluster import ALL_NAMESPACES, Cluster, ClusterError, Unreadable
from sparkgen.live.values import label_of, name_of
from sparkgen.objects import ObjectView
from sparkgen.phrases import some_of

MANY = 20
"""The largest number of names in a label selector; for more names, all pods are listed."""
AT_ONCE = 8
"""Namespaces that are read at the same time."""
_FORBIDDEN = 403
_EXPIRED = 410
"""Reading the pages of a list took longer than the API server remembers the list."""
_UNSTORED = 500
"""The API server cannot read one of the objects that it has stored, and so no list with this object."""
SHOWN = 10
"""The largest number of names that a message lists."""


@dataclass(frozen=True, slots=True)
class Listed:
    """The objects in a place: a namespace, or ALL_NAMESPACES. `unseen`: as in Found."""

    place: str
    workloads: tuple[ObjectView, ...]
    pods: tuple[ObjectView, ...]
    unseen: tuple[str, ...]


def look(
    cluster: Cluster, places: Sequence[str], names: Collection[str]
) -> tuple[list[Listed], tuple[str, ...]]:
    """Returns the objects in the places, and a sentence about namespaces that could not be read."""
    try:
        return [_list(cluster, place, names) for place in places], ()
    except ClusterError as error:
        if not is_of_some(error) or [*places] != [ALL_NAMESPACES]:
            raise
        return _one_by_one(cluster, names, error)


def is_of_some(error: ClusterError) -> bool:
    """Whether other namespaces may be read: the user lacks a permission, or somebody's object is unreadable.

    Whoever may write into one namespace must not hide the others.
    """
    return error.status in (_FORBIDDEN, _EXPIRED, _UNSTORED) or isinstance(error, Unreadable)


def _one_by_one(
    cluster: Cluster, names: Collection[str], first: ClusterError
) -> tuple[list[Listed], tuple[str, ...]]:
    """Returns the objects of each namespace whose Jobs and pods can be listed, and names the others.

    `first`: why they could not be listed all at once. Raises ClusterError if there is no such namespace, or
    if the user may not list the namespaces.
    """
    refused = "cannot list Jobs and pods in all namespaces"
    step = "ask for this permission, or name namespaces: -n NAME -n NAME"
    try:
        namespaces = sorted(name_of(item) for item in cluster.list("v1", "Namespace"))
    except ClusterError as error:
        if first.status != _FORBIDDEN:
            raise first from error
        if error.status != _FORBIDDEN:
            raise
        raise ClusterError(f"{refused}, and cannot list the namespaces; {step}", _FORBIDDEN) from error

    def listed(namespace: str) -> Listed | ClusterError:
        try:
            return _list(cluster, namespace, names)
        except ClusterError as error:
            if not is_of_some(error):
                raise
            return error

    answers = thread_map.results(listed, namespaces, AT_ONCE)
    looked = [one for one in answers if isinstance(one, Listed)]
    failed = [
        (name, one) for name, one in zip(namespaces, answers, strict=True) if isinstance(one, ClusterError)
    ]
    hidden = [name for name, error in failed if error.status == _FORBIDDEN]
    broken = [str(error) for _, error in failed if error.status != _FORBIDDEN]
    if not looked and broken:
        raise first
    if not looked:
        raise ClusterError(f"{refused}, nor in one of them; {step}", _FORBIDDEN)
    some = some_of(hidden, SHOWN)
    where = f"cannot list Jobs or pods in {len(hidden)} of {len(namespaces)} namespaces ({some})"
    return looked, ((where,) if hidden else ()) + _shown(broken)


def _shown(texts: Sequence[str]) -> tuple[str, ...]:
    """Returns the first texts, and how many more there are."""
    more = len(texts) - SHOWN
    return (*texts[:SHOWN], *([f"{more} more namespaces could not be read"] if more > 0 else []))


def _list(cluster: Cluster, place: str, names: Collection[str]) -> Listed:
    """Returns the drivers' objects of a place, and the pods of the chosen applications."""
    brief = not names  # all are shown, and nothing is made of one
    listed, unseen = _workloads(cluster, place, brief=brief)
    workloads = tuple(listed)
    wanted = _wanted(workloads, names)
    if names and not wanted:
        return Listed(place, workloads, (), tuple(unseen))
    pods = cluster.list("v1", "Pod", place, _selector(wanted if names else ()), brief=brief)
    return Listed(place, workloads, tuple(pods), tuple(unseen))


def _workloads(cluster: Cluster, namespace: str, *, brief: bool) -> tuple[list[ObjectView], list[str]]:
    """Returns the drivers' objects; where CronJobs or Deployments cannot be listed, still the Jobs."""
    label = contract.LABEL_APPLICATION
    workloads = [*cluster.list("batch/v1", "Job", namespace, label, brief=brief)]
    unseen = []
    for api_version, kind in (("batch/v1", "CronJob"), ("apps/v1", "Deployment")):
        try:
            workloads += cluster.list(api_version, kind, namespace, label, brief=brief)
        except ClusterError as error:
            if not is_of_some(error) or (namespace == ALL_NAMESPACES and error.status != _FORBIDDEN):
                raise
            unseen.append(str(error))
    # The Job that removes ended runs is not a run.
    return [item for item in workloads if item["kind"] != "Job" or label_of(item, contract.LABEL_RUN)], unseen


def _wanted(workloads: Iterable[ObjectView], names: Collection[str]) -> set[str]:
    """Returns the names of the applications that `names` has, or whose runs it has."""
    return {
        label_of(item, contract.LABEL_APPLICATION)
        for item in workloads
        if label_of(item, contract.LABEL_APPLICATION) in names or names_of(item) & set(names)
    }


def names_of(workload: ObjectView) -> set[str]:
    """Returns the names that a user may give for a run: its object's and its run's."""
    return {name_of(workload), run_label(workload)} - {""}


def run_label(workload: ObjectView) -> str:
    """Returns the name of the run of a driver's object; for a CronJob, that of its next firing."""
    spec = workload.get("spec") or {}
    if workload["kind"] == "CronJob":
        return label_of(spec["jobTemplate"], contract.LABEL_RUN)
    if workload["kind"] == "Deployment":
        return label_of(spec["template"], contract.LABEL_RUN)
    return label_of(workload, contract.LABEL_RUN)


def _selector(names: Collection[str]) -> str:
    if not names or len(names) > MANY:
        return contract.LABEL_APPLICATION
    return f"{contract.LABEL_APPLICATION} in ({','.join(sorted(names))})"


def namespace_of(item: ObjectView, listed: Listed) -> str:
    """Returns the namespace of an object that was listed."""
    return str(item["metadata"].get("namespace") or listed.place)
