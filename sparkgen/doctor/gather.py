"""Reads what the checks of a namespace decide on, each thing once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from sparkgen.doctor.rights import EVERY
from sparkgen.objects import ObjectView
from sparkgen.preflight import ClusterFacts, Shared, Wanted, gather, look_around
from sparkgen.preflight.rights import Right, missing

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster


@dataclass(frozen=True)
class NamespaceFacts:
    """The cluster, and the application to try in its namespace."""

    cluster: Cluster
    wanted: Wanted
    now: datetime

    @cached_property
    def preflight(self) -> ClusterFacts:
        """What the preflight of `sparkgen apply` finds out, by dry runs."""
        return gather(self.cluster, self.wanted, self._shared, self.now)

    @cached_property
    def _shared(self) -> Shared:
        return look_around(self.cluster, [self.wanted])[self.wanted.namespace]

    def missing_rights(self) -> list[Right]:
        """The permissions that the user lacks."""
        return missing(self.cluster, self.wanted.namespace, EVERY)

    def limit_ranges(self) -> list[ObjectView]:
        """The LimitRanges of the namespace."""
        return [*self.cluster.list("v1", "LimitRange", self.wanted.namespace)]

    def storage(self) -> tuple[list[ObjectView], list[ObjectView]]:
        """The StorageClasses of the cluster, and the claims of the namespace."""
        claims = self.cluster.list("v1", "PersistentVolumeClaim", self.wanted.namespace)
        return [*self.cluster.list("storage.k8s.io/v1", "StorageClass")], [*claims]
