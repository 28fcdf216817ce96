"""Deletes all objects of applications from a cluster."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkgen import contract
from sparkgen.cluster import ClusterError
from sparkgen.cluster.annotations import controller_of
from sparkgen.diff.live import KINDS, listed
from sparkgen.errors import SparkgenError
from sparkgen.live.find import one
from sparkgen.objects import Object
from sparkgen.preflight.ownership import owner_of

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster

STARTERS = (
    ("batch/v1", "Job"),
    ("batch/v1", "CronJob"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "DaemonSet"),
)
"""The kinds that start pods."""


@dataclass(frozen=True, slots=True)
class ToDelete:
    """The objects that were applied for an application; those that start pods come first.

    `unseen`: why some kinds may not be listed, a sentence for each.
    """

    objects: tuple[Object, ...]
    unseen: tuple[str, ...]

    @property
    def controllers(self) -> tuple[str, ...]:
        """The controllers that would create the objects again: `Argo CD (...)`, `Flux (...)`, sorted."""
        return tuple(sorted({controller_of(item) for item in self.objects} - {""}))


def objects_of(cluster: Cluster, name: str) -> ToDelete:
    """Returns the objects to delete. Raises SparkgenError if there are none, or none that may be listed."""
    selector = f"{contract.LABEL_APPLICATION}={name},{contract.LABEL_MANAGED_BY}=sparkgen"
    items, unseen = listed(cluster, reversed(KINDS), selector)
    # Kubernetes deletes an object with its owner, so only objects without an owner are deleted here. A server
    # whose document sets an application's label is no part of the application.
    own = [item for item in items if owner_of(item) == f"application {name}"]
    unowned = tuple(item for item in own if not item["metadata"].get("ownerReferences"))
    if not unowned:
        one(cluster, name)  # raises an error that lists the existing applications, if there is none
        raise SparkgenError(
            f"you are not allowed to list the objects of {name} in {cluster.namespace}: {'; '.join(unseen)}"
        )
    return ToDelete(unowned, unseen)


def applications(cluster: Cluster, names: Iterable[str]) -> tuple[dict[str, ToDelete], list[str]]:
    """Returns the objects to delete, by application, and why some cannot be deleted, a sentence for each.

    Raises ClusterError if the cluster does not answer, or does not accept the credentials (401).
    """
    to_delete: dict[str, ToDelete] = {}
    problems: list[str] = []
    for name in dict.fromkeys(names):
        try:
            to_delete[name] = objects_of(cluster, name)
        except SparkgenError as error:
            if isinstance(error, ClusterError) and error.status in (None, 401):
                raise
            problems.append(str(error))
    return to_delete, problems


def delete(cluster: Cluster, objects: Iterable[Object], tell: Callable[[list[Object]], None]) -> None:
    """Delete objects in their order; `tell` gets those that were deleted, also if the cluster refuses one.

    It is called once, and not for each object: an error in it, as of a closed pipe, would stop the deletion.
    """
    gone: list[Object] = []
    try:
        for item in objects:
            if cluster.delete(item):
                gone.append(item)  # noqa: PERF401 - also if a later one raises an error
    finally:
        if gone:
            tell(gone)


def unused_runtimes(cluster: Cluster) -> list[str]:
    """Returns the names of ConfigMaps with the runtime that no object of the namespace uses any more.

    Empty if one of the kinds that may use them cannot be listed. They are not deleted here: somebody may be
    applying an application at the same time. A ConfigMap with other content than its name says is somebody
    else's, whatever labels it has.
    """
    from sparkgen.image.runtime_files import files_in  # noqa: PLC0415 - needed only after a deletion

    ours = f"{contract.LABEL_MANAGED_BY}=sparkgen"
    shared, unseen = listed(
        cluster, [("v1", "ConfigMap")], f"{ours},{contract.LABEL_COMPONENT}={contract.RUNTIME_NAME}"
    )
    names = [str(item["metadata"]["name"]) for item in shared if files_in(item)]
    if not names or unseen:
        return []
    users, unseen = listed(cluster, STARTERS, ours)
    used = json.dumps(users)
    return [] if unseen else [name for name in names if json.dumps(name) not in used]
