"""The order in which an expert would write the fields of an object. It changes no meaning, and no hash."""

from __future__ import annotations

from typing import Any

FIRST = (
    "apiVersion",
    "apiGroup",
    "apiGroups",
    "kind",
    "metadata",
    "name",
    "namespace",
    "labels",
    "annotations",
    "immutable",
    "type",
    "selector",
    "schedule",
    "timeZone",
    "concurrencyPolicy",
    "suspend",
    "replicas",
    "strategy",
    "image",
    "imagePullPolicy",
    "restartPolicy",
    "command",
    "args",
    "env",
    "envFrom",
    "from",
    "ports",
    "startupProbe",
    "livenessProbe",
    "readinessProbe",
    "lifecycle",
    "resources",
    "volumeMounts",
    "serviceAccountName",
    "automountServiceAccountToken",
    "enableServiceLinks",
    "securityContext",
    "imagePullSecrets",
    "nodeSelector",
    "affinity",
    "tolerations",
    "topologySpreadConstraints",
    "mountPath",
    "requests",
    "limits",
    "cpu",
    "memory",
)
"""Fields that come first, in this order."""

LAST = ("initContainers", "containers", "volumes", "data", "spec", "template", "jobTemplate")
"""Fields that come last, in this order; all others stay between, in the order they were made in."""

SORTED = frozenset({"labels", "annotations", "matchLabels", "nodeSelector", "data"})
"""Maps with free keys, sorted."""

_RANK = {key: index - len(FIRST) for index, key in enumerate(FIRST)}
_RANK.update({key: index + 1 for index, key in enumerate(LAST)})


def ordered(value: Any) -> Any:
    """A copy of a Kubernetes object whose keys stand in the order above."""
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: _RANK.get(key, 0))
        return {key: _child(key, value[key]) for key in keys}
    if isinstance(value, list | tuple):
        return [ordered(item) for item in value]
    return value


def _child(key: str, value: Any) -> Any:
    if key in SORTED and isinstance(value, dict):
        return {name: value[name] for name in sorted(value)}
    return ordered(value)
