"""Which permissions a user lacks in a namespace: the API server reviews each one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkgen import thread_map
from sparkgen.cluster import ClusterError
from sparkgen.cluster.channel import CONNECTIONS

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
        return f"{self.verb} {self.object}"

    @property
    def object(self) -> str:
        """What the verb is for, with its group or part."""
        group, part = f".{self.group}" if self.group else "", f"/{self.part}" if self.part else ""
        return f"{self.resource}{group}{part}"


def missing(cluster: Cluster, namespace: str, rights: Sequence[Right]) -> list[Right]:
    """Returns those of the permissions that the user lacks. A review that is refused counts as permitted."""

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

    answers = thread_map.results(allowed, rights, CONNECTIONS)
    return [right for right, may in zip(rights, answers, strict=True) if not may]
