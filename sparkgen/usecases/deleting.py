"""Remove all objects of applications from a cluster."""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class ToDelete:
    """What was applied for an application, what starts pods first.

    `unseen`: why some kinds may not be listed, a sentence each.
    """

    objects: tuple[Object, ...]
    unseen: tuple[str, ...]

    @property
    def controllers(self) -> tuple[str, ...]:
        """Who would create it again: `Argo CD`, `Flux`, `Helm`, sorted."""
        return tuple(sorted({controller_of(item) for item in self.objects} - {""}))


def objects_of(cluster: Cluster, name: str) -> ToDelete:
    """What would be deleted. SparkgenError when there is nothing, or nothing that may be seen."""
    selector = f"{contract.LABEL_APPLICATION}={name},{contract.LABEL_MANAGED_BY}=sparkgen"
    items, unseen = listed(cluster, reversed(KINDS), selector)
    # What has an owner goes with it, but for the Jobs of a CronJob: their names tell what ends. A server
    # whose document sets an application's label is no part of the application.
    own = [item for item in items if owner_of(item) == f"application {name}"]
    found = tuple(item for item in own if not item["metadata"].get("ownerReferences"))
    if not found:
        one(cluster, name)  # it says what there is
        raise SparkgenError(
            f"you are not allowed to list the objects of {name} in {cluster.namespace}: {'; '.join(unseen)}"
        )
    return ToDelete(found, unseen)


def applications(cluster: Cluster, names: Iterable[str]) -> tuple[dict[str, ToDelete], list[str]]:
    """What would be deleted, by application, and why some cannot be deleted, a sentence each.

    ClusterError when the cluster does not answer, or does not know who asks.
    """
    found: dict[str, ToDelete] = {}
    problems: list[str] = []
    for name in dict.fromkeys(names):
        try:
            found[name] = objects_of(cluster, name)
        except SparkgenError as error:
            if isinstance(error, ClusterError) and error.status in (None, 401):
                raise
            problems.append(str(error))
    return found, problems


def delete(cluster: Cluster, objects: Iterable[Object], tell: Callable[[list[Object]], None]) -> None:
    """Delete objects in their order; `tell` hears which are gone, also where the cluster refuses half way.

    It is told once, and not one by one: a reader that goes away would end it halfway.
    """
    gone: list[Object] = []
    try:
        for item in objects:
            metadata = item["metadata"]
            if cluster.delete(item["apiVersion"], item["kind"], metadata["name"], metadata["namespace"]):
                gone.append(item)
    finally:
        if gone:
            tell(gone)
