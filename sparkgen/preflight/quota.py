"""What pods take of a namespace's quotas, and how many of them fit. Pure.

What a pod requests is added up by `sparkgen.resources.requests`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from sparkgen.grammar.quantity import format_quantity, parse
from sparkgen.objects import ObjectView
from sparkgen.preflight.needs import Pods
from sparkgen.resources.requests import Amounts, Side, effective

_SHORT = {"cpu": "requests.cpu", "memory": "requests.memory", "count/pods": "pods"}
_NOT_OURS = frozenset(("Terminating", "BestEffort"))
"""Scopes of a quota that our pods are outside of: no pod has a deadline of its own, and all ask for CPU."""
_NONE = Decimal(0)
_BINARY = ((2**30, "Gi"), (2**20, "Mi"))


@dataclass(frozen=True, slots=True)
class Short:
    """What a quota has too little of. `fit`: how many executors have room; None if the driver has none."""

    quota: str
    resource: str
    needed: Decimal
    left: Decimal
    hard: Decimal
    fit: int | None


def shortages(quotas: Iterable[ObjectView], groups: Iterable[Pods]) -> Iterator[Short]:
    """For each quota what it has least of, if that is too little for the driver and its first executors."""
    groups = tuple(groups)
    for quota in quotas:
        spec = quota.get("spec") or {}
        if _NOT_OURS & set(spec.get("scopes") or ()) or spec.get("scopeSelector"):
            continue
        found = list(_of(quota, groups))
        if found:
            yield min(found, key=lambda short: -1 if short.fit is None else short.fit)


def _of(quota: ObjectView, groups: tuple[Pods, ...]) -> Iterator[Short]:
    status = quota.get("status") or {}
    hard = status.get("hard") or (quota.get("spec") or {}).get("hard") or {}
    used = status.get("used") or {}
    for resource, text in hard.items():
        limit = parse(str(text))
        left = limit - parse(str(used.get(resource, "0")))
        name = _SHORT.get(resource, resource)
        alone, each = ([pod_amounts(one.template["spec"]).get(name, _NONE) for one in groups] + [_NONE] * 2)[
            :2
        ]
        needed = alone + each * sum(one.count for one in groups[1:])
        if needed <= max(left, _NONE):
            continue
        fit = int((left - alone) // each) if alone <= left and each else None
        yield Short(str(quota["metadata"]["name"]), str(resource), needed, max(left, _NONE), limit, fit)


def pod_amounts(spec: ObjectView) -> Amounts:
    """What a pod takes of each resource that a quota may count."""
    amounts: Amounts = {"pods": Decimal(1)}
    sides: tuple[Side, ...] = ("requests", "limits")
    for side in sides:
        for name, amount in effective(spec, side).items():
            amounts[f"{side}.{name}"] = amount
    return amounts


def shown(resource: str, amount: Decimal) -> str:
    """An amount for people: memory in Gi or Mi, the rest as Kubernetes writes it."""
    if "memory" in resource or "storage" in resource:
        for factor, unit in _BINARY:
            if amount >= factor:
                text = f"{amount / factor:.1f}".removesuffix(".0")
                return f"{text}{unit}"
    return format_quantity(amount)
