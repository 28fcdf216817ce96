"""Reads everything that the checks need from the cluster, in few requests, none of which changes anything.

Dry runs go through the API server's own admission (rights, escalation, quotas, Pod Security, webhooks), so
sparkgen need not guess their result: https://kubernetes.io/docs/reference/using-api/api-concepts/#dry-run
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar

from sparkgen import contract
from sparkgen.cluster import Cluster, ClusterError
from sparkgen.cluster.annotations import apply_over
from sparkgen.objects import ObjectView
from sparkgen.preflight import needs
from sparkgen.preflight.values import ClusterFacts, Key, Live, Refusal, Shared, Storage, Unknown, Wanted

FORBIDDEN = 403
_MOST_NAMES = 50
"""The largest number of names in a label selector."""
_CLAIM = "PersistentVolumeClaim"
_Value = TypeVar("_Value")


def look_around(cluster: Cluster, all_wanted: Sequence[Wanted]) -> dict[str, Shared]:
    """Returns, for each namespace, the facts that all its applications share: each is requested only once.

    Raises ClusterError if the cluster does not answer, or does not accept the credentials (401).
    """
    version = _known(cluster.version)
    nodes = _known(lambda: tuple(cluster.list("v1", "Node")))
    return {
        namespace: _shared(cluster, namespace, all_wanted, version, nodes)
        for namespace in dict.fromkeys(wanted.namespace for wanted in all_wanted)
    }


def _shared(
    cluster: Cluster,
    namespace: str,
    all_wanted: Iterable[Wanted],
    version: str | Unknown,
    nodes: tuple[ObjectView, ...] | Unknown,
) -> Shared:
    found = _known(lambda: cluster.get("v1", "Namespace", namespace))
    if found is None:
        return Shared(version, None)
    quotas = _known(lambda: tuple(cluster.list("v1", "ResourceQuota", namespace)))
    referred = [
        one
        for wanted in all_wanted
        if wanted.namespace == namespace
        for one in needs.references(wanted.objects, wanted.runtime)
    ]
    asked = {(one.kind, one.name) for one in referred}
    seen = {key: _known(_looking(cluster, key, namespace)) for key in sorted(asked)}
    there = {key: one if isinstance(one, Unknown) else one is not None for key, one in seen.items()}
    claims = [name for kind, name in asked if kind == _CLAIM and there[kind, name] is True]
    storage = _known(lambda: _storage(cluster, claims, namespace))
    runs = _known(lambda: _runs(cluster, namespace, all_wanted))
    gangs = not any(
        needs.has_gang(one.objects) for one in all_wanted if one.namespace == namespace
    ) or _known(lambda: any(cluster.knows(served, "PodGroup") for served in contract.POD_GROUP_VERSIONS))
    keys = {key: names for key, names in seen.items() if names and not isinstance(names, Unknown)}
    return Shared(version, found, quotas, nodes, there, keys, storage, runs, gangs)


def _storage(cluster: Cluster, names: Iterable[str], namespace: str) -> Storage:
    """The claims that are Pending, and what may bind them; if none is, classes and volumes are not read."""
    found = {name: cluster.get("v1", _CLAIM, name, namespace) for name in names}
    waiting = {name: item for name, item in found.items() if item and _phase(item) == "Pending"}
    if not waiting:
        return Storage()
    classes = cluster.list("storage.k8s.io/v1", "StorageClass")
    return Storage(waiting, tuple(classes), tuple(cluster.list("v1", "PersistentVolume")))


def _phase(item: ObjectView) -> str:
    return str((item.get("status") or {}).get("phase") or "")


def gather(
    cluster: Cluster, wanted: Wanted, shared: Shared, now: datetime, *, force: bool = False
) -> ClusterFacts:
    """Returns all facts about one application. Raises ClusterError as `look_around` does.

    `force`: the apply will take over fields of other managers, so they are no conflict.
    """
    if shared.namespace is None:
        return ClusterFacts(shared.version, None, now=now)
    live: dict[Key, ObjectView | Unknown | None] = {}
    refused: dict[Key, Refusal] = {}
    for item in wanted.objects:
        tried = _tried(cluster, item, force=force)
        if isinstance(tried, Refusal):
            refused[_key(item)] = tried
        # An object that the apply would create does not exist: this saves the request that reads it.
        live[_key(item)] = None if tried is True else _known(_reading(cluster, item, wanted.namespace))
    return ClusterFacts(
        shared.version,
        shared.namespace,
        live,
        refused,
        _pods(cluster, wanted, live),
        {one: shared.there[one.kind, one.name] for one in needs.references(wanted.objects, wanted.runtime)},
        shared.keys,
        shared.quotas,
        shared.nodes,
        shared.storage,
        shared.runs if isinstance(shared.runs, Unknown) else _active(wanted, shared.runs),
        now,
        shared.gangs,
    )


def _runs(cluster: Cluster, namespace: str, all_wanted: Iterable[Wanted]) -> tuple[ObjectView, ...]:
    """The active Jobs of the applications that run as a Job here; of all applications if these are many."""
    names = [wanted.name for wanted in all_wanted if wanted.namespace == namespace and own_job(wanted)]
    if not names:
        return ()
    chosen = f"{contract.LABEL_APPLICATION} in ({','.join(names)})," if len(names) <= _MOST_NAMES else ""
    jobs = cluster.list("batch/v1", "Job", namespace, f"{chosen}{contract.LABEL_RUN}")
    return tuple(job for job in jobs if is_active(job))


def own_job(wanted: Wanted) -> str:
    """The name of the Job that runs the application; "" if no Job does."""
    jobs = (item for item in wanted.objects if item["kind"] == "Job" and needs.driver(item) is not None)
    return next(map(needs.name_of, jobs), "")


def _active(wanted: Wanted, runs: tuple[ObjectView, ...]) -> tuple[str, ...]:
    """The names of the application's other runs that are active."""
    own = own_job(wanted)
    return tuple(
        needs.name_of(job)
        for job in runs
        if own not in ("", needs.name_of(job))
        and (job["metadata"].get("labels") or {}).get(contract.LABEL_APPLICATION) == wanted.name
    )


def is_active(job: ObjectView) -> bool:
    """Whether a Job has pods or will have some: it is not suspended, has not ended, and is not a session."""
    status = job.get("status") or {}
    over = any(
        one.get("type") in ("Complete", "Failed") and one.get("status") == "True"
        for one in status.get("conditions") or ()
    )
    return not over and not (job.get("spec") or {}).get("suspend") and not contract.is_session(job)


def read_live(cluster: Cluster, wanted: Wanted) -> Live:
    """Returns the objects of an application that exist already, without any other request."""
    return {_key(item): _known(_reading(cluster, item, wanted.namespace)) for item in wanted.objects}


def _known(ask: Callable[[], _Value]) -> _Value | Unknown:
    """Returns the result of `ask`, or an Unknown if the user may not read it (403)."""
    try:
        return ask()
    except ClusterError as error:
        if error.status == FORBIDDEN:
            return Unknown(str(error), error.said)
        raise


def _reading(cluster: Cluster, item: ObjectView, namespace: str) -> Callable[[], ObjectView | None]:
    metadata = item["metadata"]
    where = str(metadata.get("namespace") or namespace)
    return lambda: cluster.get(item["apiVersion"], item["kind"], metadata["name"], where)


def _looking(cluster: Cluster, key: Key, namespace: str) -> Callable[[], frozenset[str] | None]:
    return lambda: cluster.data_keys(*key, namespace)


def _tried(cluster: Cluster, item: ObjectView, *, force: bool) -> bool | Refusal:
    """Returns whether applying would create the object, or why the API server refuses it."""
    try:
        return apply_over(cluster, item, dry_run=True, force=force).created
    except ClusterError as error:
        if error.status is None or error.status == 401:
            raise
        return Refusal(error.status, str(error), error.said)


def _pods(
    cluster: Cluster, wanted: Wanted, live: dict[Key, ObjectView | Unknown | None]
) -> dict[str, Refusal | None]:
    """Returns, for each role, why the API server refuses a pod that this user creates, or None."""
    found: dict[str, Refusal | None] = {}
    for group in needs.pods(wanted.objects):
        try:
            cluster.create(_pod(group, wanted, live), dry_run=True)
            found[group.role] = None
        except ClusterError as error:
            if error.status is None or error.status == 401:
                raise
            found[group.role] = Refusal(error.status, str(error), error.said)
    return found


def _pod(group: needs.Pods, wanted: Wanted, live: dict[Key, ObjectView | Unknown | None]) -> dict[str, Any]:
    metadata, spec = dict(group.template.get("metadata") or {}), dict(group.template["spec"])
    if live.get(("ServiceAccount", str(spec.get("serviceAccountName"))), spec) is None:
        # The account is to be applied, too. Until it exists, a pod that names it is refused for that reason.
        spec.pop("serviceAccountName", None)
    name = f"{wanted.name}-preflight-"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**metadata, "generateName": name, "namespace": wanted.namespace},
        "spec": spec,
    }


def _key(item: ObjectView) -> Key:
    return str(item["kind"]), str(item["metadata"]["name"])
