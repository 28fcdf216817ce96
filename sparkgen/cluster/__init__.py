"""The cluster that a command talks to: found as kubectl finds it, spoken to through the official client.

The client is an optional extra, `sparkgen[cluster]`, and is imported by `connect` alone: it costs most of a
second, which no command pays that needs no cluster.
"""

from __future__ import annotations

from sparkgen.cluster.connection import FIELD_MANAGER, Cluster, connect
from sparkgen.cluster.errors import ClusterError
from sparkgen.cluster.place import Place

__all__ = ["FIELD_MANAGER", "Cluster", "ClusterError", "Place", "connect"]
