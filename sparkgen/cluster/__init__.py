"""The connection of a command to a cluster: it finds the cluster and logs in to it as kubectl does.

The official client is an optional extra, `sparkgen[cluster]`. Its import takes half a second, so it is
imported only where it is needed: for kubeconfigs that urllib3_client.py does not support, and to forward
ports.
"""

from __future__ import annotations

from sparkgen.cluster.connection import FIELD_MANAGER, ApplyResult, Cluster, connect
from sparkgen.cluster.errors import ClusterError, Unreadable
from sparkgen.cluster.place import Place
from sparkgen.cluster.routes import ALL_NAMESPACES

__all__ = [
    "ALL_NAMESPACES",
    "FIELD_MANAGER",
    "ApplyResult",
    "Cluster",
    "ClusterError",
    "Place",
    "Unreadable",
    "connect",
]
