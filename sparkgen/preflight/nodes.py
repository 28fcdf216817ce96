"""Whether a pod would fit a node of the cluster if nothing else ran there. Pure.

A scheduler checks more than this module (affinity, spread, the room that other pods take): a pod that fits
a node may still wait.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from sparkgen.objects import ObjectView
from sparkgen.preflight.parts import amount as amount_of
from sparkgen.preflight.parts import mapping, maps
from sparkgen.preflight.quota import shown
from sparkgen.resources.requests import effective

_KEEPS_OUT = ("NoSchedule", "NoExecute")
_NONE = Decimal(0)


def misfit(spec: ObjectView, nodes: Iterable[ObjectView]) -> str:
    """Returns why a pod fits no node, with numbers of nodes; "" if it fits a node or there are no nodes."""
    reasons: Counter[str] = Counter()
    wanted = effective(spec, "requests")
    nodes = tuple(nodes)
    most = {name: max((_has(node, name) for node in nodes), default=_NONE) for name in wanted}
    for node in nodes:
        reason = next(_reasons(spec, wanted, node, most), "")
        if not reason:
            return ""
        reasons[reason] += 1
    return ", ".join(f"{count} {reason}" for reason, count in reasons.most_common())


def _reasons(
    spec: ObjectView, wanted: Mapping[str, Decimal], node: ObjectView, most: Mapping[str, Decimal]
) -> Iterator[str]:
    own = mapping(node.get("spec"))
    if own.get("unschedulable"):
        yield "cordoned"
    for taint in maps(own.get("taints")):
        if taint.get("effect") in _KEEPS_OUT and not _tolerated(taint, spec.get("tolerations") or ()):
            yield f"with the taint {taint.get('key')}"
    labels = node["metadata"].get("labels") or {}
    for key, value in (spec.get("nodeSelector") or {}).items():
        if labels.get(key) != value:
            yield f"without the label {key}={value}"
    for name, amount in wanted.items():
        if amount > _has(node, name):
            yield (
                f"with too little {name} (the pod requests {shown(name, amount)}, and the largest node has "
                f"{shown(name, most[name])})"
            )


def _has(node: ObjectView, resource: str) -> Decimal:
    allocatable = mapping(mapping(node.get("status")).get("allocatable"))
    return amount_of(allocatable.get(resource, "0")) or _NONE


def _tolerated(taint: Mapping[str, Any], tolerations: Iterable[Mapping[str, Any]]) -> bool:
    """Follows https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/."""
    for one in tolerations:
        if one.get("effect") not in (None, "", taint.get("effect")):
            continue
        if one.get("operator") == "Exists":
            if one.get("key") in (None, "", taint.get("key")):
                return True
        elif one.get("key") == taint.get("key") and (one.get("value") or "") == (taint.get("value") or ""):
            return True
    return False
