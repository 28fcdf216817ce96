"""What Pod Security "restricted" asks of a pod and of its containers, laid below what the document says."""

from __future__ import annotations

from typing import Any

from sparkgen.resources.merge import merge

SPARK_UID = 185
"""User and group of the stock Spark image."""

RESTRICTED = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
"""What Pod Security "restricted" asks of each container, beyond the pod's own settings."""


POD_SECURITY = {
    "runAsNonRoot": True,
    "runAsUser": SPARK_UID,
    "runAsGroup": SPARK_UID,
    "fsGroup": SPARK_UID,
    "seccompProfile": {"type": "RuntimeDefault"},
}
"""What it asks of a pod, as the stock Spark image's user."""


def secured(pod: dict[str, Any], main: str) -> dict[str, Any]:
    """The pod, each container of it restricted as far as the document does not say otherwise."""
    lists = {
        field: [_restricted(container, main) for container in pod["spec"][field]]
        for field in ("initContainers", "containers")
        if field in pod["spec"]
    }
    return {**pod, "spec": {**pod["spec"], **lists}}


def _restricted(container: dict[str, Any], main: str) -> dict[str, Any]:
    """The defaults below what the Spark container (`main`) has, and for another one that has nothing.

    Others that have settings keep just those: one that hands files over as root needs its capabilities.
    """
    given = container.get("securityContext") or {}
    if given.get("privileged") or (given and container["name"] != main):
        return container
    defaults = dict(RESTRICTED)
    if "CAP_SYS_ADMIN" in ((given.get("capabilities") or {}).get("add") or ()):
        # With `false`, the API server refuses it, as it does for `privileged` (ValidateSecurityContext).
        del defaults["allowPrivilegeEscalation"]
    return {**container, "securityContext": merge(defaults, given)}
