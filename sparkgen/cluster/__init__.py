"""The cluster that a command talks to: found as kubectl finds it, and logged in to as it logs in.

The official client is an optional extra, `sparkgen[cluster]`. It takes half a second to import, which is paid
only where its knowledge is needed: for kubeconfigs that are not plain (urllib3_client.py), and to
forward ports.
"""

from __future__ import annotations

from sparkgen.cluster.connection import FIELD_MANAGER, ApplyResult, Cluster, connect
from sparkgen.cluster.errors import ClusterError
from sparkgen.cluster.place import Place
from sparkgen.cluster.routes import ALL_NAMESPACES

__all__ = ["ALL_NAMESPACES", "FIELD_MANAGER", "ApplyResult", "Cluster", "ClusterError", "Place", "connect"]
