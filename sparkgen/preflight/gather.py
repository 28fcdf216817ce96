"""Asking the cluster: everything that the checks need, in few requests, none of which changes anything.

Dry runs go through the API server's own admission (rights, escalation, quotas, Pod Security, webhooks), so
that its answer is the truth and not a guess: https://kubernetes.io/docs/reference/using-api/api-concepts/#dry-run
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Protocol, TypeVar

from sparkgen.cluster import ClusterError
from sparkgen.cluster.marks import apply_over
from sparkgen.preflight import needs
from sparkgen.preflight.values import Facts, Key, Object, Reference, Refusal, Unknown, Wanted

FORBIDDEN = 403
_Value = TypeVar("_Value")


class Asked(Protocol):
    """What can be asked: a Cluster."""

    def version(self) -> str: ...  # noqa: D102 - see Cluster
    def get(self, api_version: str, kind: str, name: str, namespace: str = "") -> Any: ...  # noqa: D102
    def has(self, api_version: str, kind: str, name: str, namespace: str = "") -> bool: ...  # noqa: D102
    def list(self, api_version: str, kind: str, namespace: str = "", selector: str = "") -> Any: ...  # noqa: D102
    def apply(self, item: Object, *, dry_run: bool = False, force: bool = False) -> Any: ...  # noqa: D102
    def create(self, item: Object, *, dry_run: bool = False) -> Any: ...  # noqa: D102


def gather(cluster: Asked, wanted: Wanted, now: datetime, *, force: bool = False) -> Facts:
    """All facts. ClusterError where there is no answer at all, or nobody knows who asks (401).

    `force`: fields of other managers will be taken over, so that they are no conflict.
    """
    version = _known(cluster.version)
    namespace = _known(lambda: cluster.get("v1", "Namespace", wanted.namespace))
    if namespace is None:
        return Facts(version, None, now=now)
    live = {_key(item): _known(_reading(cluster, item, wanted.namespace)) for item in wanted.objects}
    return Facts(
        version,
        namespace,
        live,
        dict(_refused(cluster, wanted.objects, force=force)),
        _pods(cluster, wanted, live),
        {one: _known(_looking(cluster, one, wanted.namespace)) for one in needs.references(wanted.objects)},
        _known(lambda: tuple(cluster.list("v1", "ResourceQuota", wanted.namespace))),
        _known(lambda: node_images(cluster.list("v1", "Node"))),
        now,
    )


def _known(ask: Callable[[], _Value]) -> _Value | Unknown:
    """The answer, or why it may not be had."""
    try:
        return ask()
    except ClusterError as error:
        if error.status == FORBIDDEN:
            return Unknown(str(error))
        raise


def _reading(cluster: Asked, item: Object, namespace: str) -> Callable[[], Object | None]:
    metadata = item["metadata"]
    where = str(metadata.get("namespace") or namespace)
    return lambda: cluster.get(item["apiVersion"], item["kind"], metadata["name"], where)


def _looking(cluster: Asked, reference: Reference, namespace: str) -> Callable[[], bool]:
    return lambda: cluster.has("v1", reference.kind, reference.name, namespace)


def _refused(cluster: Asked, objects: Iterable[Object], *, force: bool) -> Iterable[tuple[Key, Refusal]]:
    for item in objects:
        try:
            apply_over(cluster, item, dry_run=True, force=force)
        except ClusterError as error:
            if error.status is None or error.status == 401:
                raise
            yield _key(item), Refusal(error.status, str(error))


def _pods(
    cluster: Asked, wanted: Wanted, live: dict[Key, Object | Unknown | None]
) -> dict[str, Refusal | None]:
    """What creating one pod of each role would come to, if this person did it."""
    found: dict[str, Refusal | None] = {}
    for group in needs.pods(wanted.objects):
        try:
            cluster.create(_pod(group, wanted, live), dry_run=True)
            found[group.role] = None
        except ClusterError as error:
            if error.status is None or error.status == 401:
                raise
            found[group.role] = Refusal(error.status, str(error))
    return found


def _pod(group: needs.Pods, wanted: Wanted, live: dict[Key, Object | Unknown | None]) -> dict[str, Any]:
    metadata, spec = dict(group.template.get("metadata") or {}), dict(group.template["spec"])
    if live.get(("ServiceAccount", str(spec.get("serviceAccountName"))), spec) is None:
        # It is among what is to be applied. Until it is there, a pod that names it is refused for that.
        spec.pop("serviceAccountName", None)
    name = f"{wanted.name}-preflight-"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**metadata, "generateName": name, "namespace": wanted.namespace},
        "spec": spec,
    }


def node_images(nodes: Iterable[Object]) -> frozenset[str]:
    """The images that nodes say they have: 50 each at most (kubelet's nodeStatusMaxImages)."""
    return frozenset(
        str(name)
        for node in nodes
        for image in node.get("status", {}).get("images") or ()
        for name in image.get("names") or ()
    )


def _key(item: Object) -> Key:
    return str(item["kind"]), str(item["metadata"]["name"])
