"""Compares the objects in a cluster with those of a document, by server-side dry runs.

In a dry run, the server fills in defaults and runs admission, so that only real changes differ. Each object
is tried with the field manager that applied it before, because server-side apply removes only fields that the
same manager set: https://kubernetes.io/docs/reference/using-api/server-side-apply/
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sparkgen import contract
from sparkgen.cluster import FIELD_MANAGER, Cluster, ClusterError
from sparkgen.cluster.annotations import REQUESTED
from sparkgen.diff.values import ObjectChange, Side
from sparkgen.jsonvalue import decode
from sparkgen.objects import ObjectView

KINDS = (
    ("v1", "ServiceAccount"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("v1", "ConfigMap"),
    ("networking.k8s.io/v1", "NetworkPolicy"),
    ("policy/v1", "PodDisruptionBudget"),
    ("v1", "Service"),
    ("networking.k8s.io/v1", "Ingress"),
    ("gateway.networking.k8s.io/v1", "GRPCRoute"),
    ("gateway.networking.k8s.io/v1", "HTTPRoute"),
    (contract.POD_GROUPS_OF_VOLCANO, "PodGroup"),
    ("batch/v1", "Job"),
    ("batch/v1", "CronJob"),
    ("apps/v1", "Deployment"),
)
"""The kinds of all objects that sparkgen renders for an application."""
_REFUSALS = (400, 409, 422)
_SERVERS_OWN = ("creationTimestamp", "generation", "managedFields", "resourceVersion", "uid", "selfLink")
_ASSIGNED = ("clusterIP", "clusterIPs", "healthCheckNodePort")
_JOB_LABEL = re.compile(r"(?:batch\.kubernetes\.io/)?(?:controller-uid|job-name)")
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_KEPT_KINDS = ("ConfigMap", "Job", "PodGroup")
"""Kinds of a run's objects: an earlier run's objects stay when a newer run is applied."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """An application in a cluster: its state, its state after an apply, and what a comparison cannot show.

    `before` is None if the cluster has no object of the application. Objects on both sides are without the
    fields that belong to the server. `special`: objects that the server refuses or keeps. `unseen`: one
    sentence for each kind that could not be listed, and of which the document has no object.
    """

    before: Side | None
    after: Side
    special: tuple[ObjectChange, ...]
    unseen: tuple[str, ...]


def gather(cluster: Cluster, wanted: Side) -> Gathered:
    """Gather the objects of an application from a cluster, by dry runs. Raises ClusterError."""
    owned, unseen = _owned(cluster, wanted)
    there = {_key(item): item for item in owned}
    before: list[ObjectView] = []
    after: list[ObjectView] = []
    special: list[ObjectChange] = []
    for item in wanted.objects:
        live = there.pop(_key(item), None) or _get(cluster, item)
        if live is not None:
            before.append(plain(live))
        try:
            after.append(plain(_tried(cluster, item, live)))
        except ClusterError as error:
            if error.status == 404 and item["kind"] == "RoleBinding":
                # Its Role does not exist yet, so the server cannot check the Role's permissions.
                after.append(plain(item))
                continue
            if error.status not in _REFUSALS:
                raise
            name = str(item["metadata"]["name"])
            special.append(ObjectChange("changed", item["kind"], name, name, note=str(error)))
            before = [one for one in before if _key(one) != _key(item)]
    earlier = [item for key, item in there.items() if _is_of_a_run(item)]
    gone = [plain(item) for key, item in there.items() if not _is_of_a_run(item)]
    run = _latest(earlier)
    shown = [plain(item) for item in earlier if _run(item) == run and not _same_run(before, wanted)]
    special += _kept(earlier, {_key(item) for item in shown})
    old = [*before, *gone, *shown]
    return Gathered(
        Side(wanted.name, wanted.namespace, tuple(old)) if old else None,
        Side(wanted.name, wanted.namespace, tuple(after), source=wanted.source),
        tuple(special),
        unseen,
    )


def _owned(cluster: Cluster, wanted: Side) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """The application's objects that somebody applied (the allocator's have an owner), and the kinds unseen.

    Leaves out objects of `sparkgen run`, which belong to no document.
    """
    selector = f"{contract.LABEL_APPLICATION}={wanted.name},{contract.LABEL_MANAGED_BY}=sparkgen,!{REQUESTED}"
    needed = {item["kind"] for item in wanted.objects}
    found, unseen = listed(cluster, KINDS, selector, wanted.namespace, needed)
    return [item for item in found if not item["metadata"].get("ownerReferences")], unseen


def listed(
    cluster: Cluster,
    kinds: Iterable[tuple[str, str]],
    selector: str,
    namespace: str = "",
    needed: Container[str] = (),
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """The objects of these kinds (apiVersion and kind), and a sentence for each kind that may not be listed.

    A kind that the cluster does not know has no objects; without the Gateway API, for example. The API server
    checks permissions first, so for most users an unknown kind is a forbidden one (403). Raises ClusterError
    for any other error, and for a kind in `needed` that may not be listed.
    """
    found: list[dict[str, Any]] = []
    unseen: list[str] = []
    for api_version, kind in kinds:
        try:
            found += cluster.list(api_version, kind, namespace, selector)
        except ClusterError as error:
            if error.status == 404 or (error.status == 403 and not cluster.knows(api_version, kind)):
                continue
            if error.status != 403 or kind in needed:
                raise
            unseen.append(str(error))
    return found, tuple(unseen)


def _get(cluster: Cluster, item: ObjectView) -> dict[str, Any] | None:
    """An existing object without our labels; None if there is none."""
    metadata = item["metadata"]
    return cluster.get(item["apiVersion"], item["kind"], metadata["name"], metadata.get("namespace", ""))


def _key(item: ObjectView) -> tuple[str, str]:
    return str(item["kind"]), str(item["metadata"]["name"])


def _tried(cluster: Cluster, item: ObjectView, live: ObjectView | None) -> dict[str, Any]:
    tried = cluster.apply(item, dry_run=True, force=True, manager=_manager(live)).item
    if live is not None:
        tried = without(tried, _last_applied(live), item)
    return tried


def _manager(live: ObjectView | None) -> str:
    """The manager of the last server-side apply; ours if there was none."""
    entries = live["metadata"].get("managedFields", ()) if live is not None else ()
    managers = [
        entry["manager"]
        for entry in entries
        if entry.get("operation") == "Apply" and not entry.get("subresource") and "manager" in entry
    ]
    return str(managers[-1]) if managers else FIELD_MANAGER


def _last_applied(live: ObjectView) -> Any:
    """The last client-side apply, from its annotation; such an apply removes keys that are only there."""
    text = (live["metadata"].get("annotations") or {}).get(_LAST_APPLIED, "{}")
    try:
        return decode(text)
    except ValueError:
        return {}


def without(result: Any, applied: Any, wanted: Any) -> Any:
    """A tree without the keys that were applied before and are no longer wanted."""
    if not (isinstance(result, Mapping) and isinstance(applied, Mapping) and isinstance(wanted, Mapping)):
        return result
    return {
        key: without(value, applied.get(key), wanted.get(key))
        for key, value in result.items()
        if key not in applied or key in wanted
    }


def plain(item: ObjectView) -> dict[str, Any]:
    """An object without its status, and without the metadata that the server sets."""
    metadata = {key: value for key, value in item["metadata"].items() if key not in _SERVERS_OWN}
    annotations = {
        key: value for key, value in (metadata.pop("annotations", None) or {}).items() if key != _LAST_APPLIED
    }
    if annotations:
        metadata["annotations"] = annotations
    rest = {key: value for key, value in item.items() if key not in ("metadata", "status")}
    head = {key: rest.pop(key) for key in ("apiVersion", "kind") if key in rest}
    result: dict[str, Any] = _sorted({**head, "metadata": metadata, **_unassigned(item["kind"], rest)})
    return result


def _unassigned(kind: str, rest: dict[str, Any]) -> dict[str, Any]:
    """The fields of an object without those that the server assigns: addresses, and the ids of Jobs."""
    spec = rest.get("spec", {})
    if kind == "Service":
        return {**rest, "spec": {key: value for key, value in spec.items() if key not in _ASSIGNED}}
    if kind != "Job":
        return rest
    template = spec["template"]
    labels = template.get("metadata", {}).get("labels", {})
    own = {key: value for key, value in labels.items() if not _JOB_LABEL.fullmatch(key)}
    metadata = {
        **{key: value for key, value in template.get("metadata", {}).items() if key not in _SERVERS_OWN},
        "labels": own,
    }
    kept = {key: value for key, value in spec.items() if key != "selector"}
    return {**rest, "spec": {**kept, "template": {**template, "metadata": metadata}}}


def _sorted(value: Any) -> Any:
    """The value with sorted keys, as servers write them in any order; an object's head stays first."""
    if isinstance(value, Mapping):
        head = [key for key in ("apiVersion", "kind", "metadata") if key in value]
        return {key: _sorted(value[key]) for key in dict.fromkeys([*head, *sorted(value)])}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def _is_of_a_run(item: ObjectView) -> bool:
    return item["kind"] in _KEPT_KINDS and bool(_run(item))


def _run(item: ObjectView) -> str:
    return str(item["metadata"].get("labels", {}).get(contract.LABEL_RUN, ""))


def _same_run(before: list[ObjectView], wanted: Side) -> bool:
    """Whether the wanted run exists already."""
    return any(_run(item) == wanted.run for item in before if item["kind"] in _KEPT_KINDS)


def _latest(earlier: list[dict[str, Any]]) -> str:
    """The run whose objects were created last; "" if there is none."""
    newest = max(earlier, key=lambda item: str(item["metadata"].get("creationTimestamp", "")), default=None)
    return _run(newest) if newest is not None else ""


def _kept(earlier: list[dict[str, Any]], shown: set[tuple[str, str]]) -> Iterator[ObjectChange]:
    """The objects of runs before the one that is compared."""
    for item in earlier:
        if _key(item) not in shown:
            yield ObjectChange("kept", item["kind"], _key(item)[1], "")
