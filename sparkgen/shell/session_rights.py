"""Checks that the user has all permissions that a session needs, before it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkgen.errors import SparkgenError
from sparkgen.preflight.rights import Right, missing

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster

NEEDED = (
    Right("create", "configmaps"),
    *(Right(verb, "jobs", "batch") for verb in ("create", "delete", "list", "patch")),
    *(Right(verb, "pods") for verb in ("get", "list")),
    # The client uses GET, for which newer versions of Kubernetes also require `create`.
    *(Right(verb, "pods", part="portforward") for verb in ("create", "get")),
)


def check(cluster: Cluster, namespace: str) -> None:
    """Raises SparkgenError with all missing permissions. A review that is refused counts as permitted."""
    if lacking := missing(cluster, namespace, NEEDED):
        listed = ", ".join(map(str, lacking))
        raise SparkgenError(
            f"a session needs permissions in {namespace} that you do not have: {listed}; request them, or "
            "choose another --context or --namespace"
        )
