"""The path of an object in the API, from its apiVersion, kind, namespace and name."""

from __future__ import annotations

import re

from sparkgen.cluster.errors import ClusterError
from sparkgen.terminal import visible

ALL_NAMESPACES = "*"
"""Stands for all namespaces in place of a namespace's name. No namespace can have this name."""
_PLURALS = {"Ingress": "ingresses", "NetworkPolicy": "networkpolicies", "StorageClass": "storageclasses"}
_CLUSTER_WIDE = frozenset(
    ("Namespace", "Node", "PersistentVolume", "SelfSubjectAccessReview", "StorageClass")
)


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9:._-]{0,252}")
"""A segment of a path that is not `.` or `..`. Objects of RBAC may have colons and capital letters."""
MOST_SHOWN = 60


def root(api_version: str) -> str:
    """The path of a version of an API group."""
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def is_namespaced(kind: str) -> bool:
    """Whether objects of a kind are in a namespace."""
    return kind not in _CLUSTER_WIDE


def route(api_version: str, kind: str, namespace: str, name: str = "") -> str:
    """Returns the path of an object, or of all of its kind; kinds without namespaces ignore `namespace`.

    https://kubernetes.io/docs/reference/using-api/api-concepts/#resource-uris. The plural of a kind is its
    lower-case name with an s, for all kinds of Kubernetes that end in neither s nor y; sparkgen knows three
    exceptions. Raises ClusterError for a name that no object can have: it may be from an annotation or a
    volume of somebody else, and would lead to another path.
    """
    for what in (namespace, name):
        if what and what != ALL_NAMESPACES and not _NAME.fullmatch(what):
            raise ClusterError(f"no {kind} can be named {visible(what)[:MOST_SHOWN]!r}", 404)
    plural = _PLURALS.get(kind, f"{kind.lower()}s")
    everywhere = not is_namespaced(kind) or namespace == ALL_NAMESPACES
    above = root(api_version) if everywhere else f"{root(api_version)}/namespaces/{namespace}"
    path = f"{above}/{plural}"
    return f"{path}/{name}" if name else path
