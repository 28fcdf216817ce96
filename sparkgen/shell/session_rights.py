"""Checks that the user has all permissions that a session needs, before it starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkgen import thread_map
from sparkgen.cluster import ClusterError
from sparkgen.cluster.channel import CONNECTIONS
from sparkgen.errors import SparkgenError

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Right:
    """A verb on a resource of the namespace; `group`, `part`: "" for none."""

    verb: str
    resource: str
    group: str = ""
    part: str = ""

    def __str__(self) -> str:
        """Returns a text such as `create jobs.batch`."""
        group, part = f".{self.group}" if self.group else "", f"/{self.part}" if self.part else ""
        return f"{self.verb} {self.resource}{group}{part}"


NEEDED = (
    Right("create", "configmaps"),
    *(Right(verb, "jobs", "batch") for verb in ("create", "delete", "list", "patch")),
    *(Right(verb, "pods") for verb in ("get", "list")),
    # The client uses GET, for which newer versions of Kubernetes also require `create`.
    *(Right(verb, "pods", part="portforward") for verb in ("create", "get")),
)


def check(cluster: Cluster, namespace: str) -> None:
    """Raises SparkgenError with all missing permissions. A review that is refused counts as permitted."""

    def allowed(right: Right) -> bool:
        attributes = {
            "namespace": namespace,
            "verb": right.verb,
            "group": right.group,
            "resource": right.resource,
            "subresource": right.part,
        }
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "metadata": {},
            "spec": {"resourceAttributes": {name: text for name, text in attributes.items() if text}},
        }
        try:
            return bool((cluster.create(review).get("status") or {}).get("allowed", True))
        except ClusterError as error:
            if error.status in (403, 404):
                return True
            raise

    answers = thread_map.results(allowed, NEEDED, CONNECTIONS)
    missing = [right for right, may in zip(NEEDED, answers, strict=True) if not may]
    if missing:
        listed = ", ".join(map(str, missing))
        raise SparkgenError(
            f"a session needs permissions in {namespace} that you do not have: {listed}; request them, or "
            "choose another --context or --namespace"
        )
