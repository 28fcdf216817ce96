"""The requirements of Pod Security "restricted" for pods and containers, as defaults below the document's."""

from __future__ import annotations

from typing import Any

from sparkgen.resources.merge import merge

SPARK_UID = 185
"""The user and group of the stock Spark image."""

RESTRICTED = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
"""The requirements of Pod Security "restricted" for each container, beyond the pod's own settings."""


POD_SECURITY = {
    "runAsNonRoot": True,
    "runAsUser": SPARK_UID,
    "runAsGroup": SPARK_UID,
    "fsGroup": SPARK_UID,
    "seccompProfile": {"type": "RuntimeDefault"},
}
"""Its requirements for a pod, with the user of the stock Spark image."""


def secured(pod: dict[str, Any], main: str) -> dict[str, Any]:
    """The pod with each container restricted, unless the document says otherwise."""
    lists = {
        field: [_restricted(container, main) for container in pod["spec"][field]]
        for field in ("initContainers", "containers")
        if field in pod["spec"]
    }
    return {**pod, "spec": {**pod["spec"], **lists}}


def _restricted(container: dict[str, Any], main: str) -> dict[str, Any]:
    """Returns the container with our defaults below its own settings, if it is `main` or has no settings.

    Privileged containers, and others with settings, keep exactly those: one that changes owners of files as
    root needs its capabilities.
    """
    given = container.get("securityContext") or {}
    if given.get("privileged") or (given and container["name"] != main):
        return container
    defaults = dict(RESTRICTED)
    if "CAP_SYS_ADMIN" in ((given.get("capabilities") or {}).get("add") or ()):
        # The API server refuses `false` together with it, as with `privileged` (ValidateSecurityContext).
        del defaults["allowPrivilegeEscalation"]
    return {**container, "securityContext": merge(defaults, given)}
