"""The order of an object's fields, as an expert would write them. It changes neither meaning nor hash."""

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
"""Fields that come last, in this order; all others stay in between, in their original order."""

SORTED = frozenset({"labels", "annotations", "matchLabels", "nodeSelector", "data"})
"""Maps with free keys, which are sorted."""

_RANK = {key: index - len(FIRST) for index, key in enumerate(FIRST)}
_RANK.update({key: index + 1 for index, key in enumerate(LAST)})


def ordered(value: Any) -> Any:
    """A copy of a Kubernetes object with its keys in this order."""
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
