"""Creates a ConfigMap with the runtime in a cluster, or checks the one that is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from sparkgen import contract
from sparkgen.cluster import ClusterError
from sparkgen.diff.values import owner_label
from sparkgen.errors import SparkgenError
from sparkgen.image.runtime_files import files_in
from sparkgen.usecases.runtime import config_maps

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster
    from sparkgen.objects import Object


Needed = tuple[str, str, str]
"""What an application needs: its namespace, and the two names that `config_map_of` returns."""


def bring_all(
    cluster: Cluster, needed: Iterable[Needed], *, dry_run: bool = False
) -> Iterator[tuple[Object, str]]:
    """Create the ConfigMaps with the runtime that applications need; yields each with what `bring` returns.

    Those that exist, also of other versions, are compared with their names first.
    """
    needed = sorted({*needed})
    for namespace, _, pinned in needed:
        if pinned:
            _check_pinned(cluster, pinned, namespace)
    for item in config_maps((namespace, runtime) for namespace, runtime, _ in needed):
        yield item, bring(cluster, item, dry_run=dry_run)


def bring(cluster: Cluster, item: Object, *, dry_run: bool = False) -> str:
    """Create a ConfigMap with the runtime if it is missing. Returns `created` or `unchanged`.

    Raises SparkgenError if one of its name has other content: its digest is in its name, so somebody has put
    another program there, which would get the allocator's token. The same if it would not stay there.
    """
    name, namespace = item["metadata"]["name"], item["metadata"]["namespace"]
    live = cluster.get("v1", "ConfigMap", name, namespace)
    if live is None:
        _create(cluster, item, dry_run=dry_run)
        return "created"
    _refuse_other(live, name, namespace)
    return "unchanged"


def _check_pinned(cluster: Cluster, name: str, namespace: str) -> None:
    """Raise SparkgenError if a ConfigMap of another version is not what its name says.

    If there is none, the preflight says so.
    """
    live = cluster.get("v1", "ConfigMap", name, namespace)
    if live is not None:
        _refuse_other(live, name, namespace)


def _refuse_other(live: Any, name: str, namespace: str) -> None:
    if live["metadata"].get("deletionTimestamp"):
        raise SparkgenError(
            f"the ConfigMap {name} in {namespace} is being deleted; when it is gone, apply again; to see its "
            f"finalizers, run: kubectl get configmap {name} -n {namespace} -o yaml"
        )
    if reason := _not_ours(live):
        raise SparkgenError(
            f"the ConfigMap {name} in {namespace} {reason}; find out who changed it, and delete it: kubectl "
            f"delete configmap {name} -n {namespace}"
        )


def _not_ours(live: Any) -> str:
    """Why a ConfigMap is not a shared runtime; "" if it is one."""
    if files_in(live) is None:
        return "does not have the content that its name says"
    metadata = live["metadata"]
    if metadata.get("ownerReferences"):
        return "has an owner (metadata.ownerReferences), and would be deleted with it"
    labels = metadata.get("labels") or {}
    label = owner_label(live)[0] or (contract.LABEL_RUN if contract.LABEL_RUN in labels else "")
    return f"has the label {label}, and would be deleted with what this label names" if label else ""


def _create(cluster: Cluster, item: Object, *, dry_run: bool) -> None:
    """Create an object by server-side apply, or without the right to patch."""
    try:
        cluster.apply(item, dry_run=dry_run)
    except ClusterError as error:
        if error.status != HTTPStatus.FORBIDDEN or dry_run:
            raise
        cluster.create(item)
