"""What pods take from a namespace's quotas, and how many pods fit. Pure.

`sparkgen.resources.requests` adds up what a pod requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from sparkgen.grammar.quantity import format_quantity
from sparkgen.objects import ObjectView
from sparkgen.preflight.needs import Pods
from sparkgen.preflight.parts import amount as amount_of
from sparkgen.preflight.parts import items, mapping
from sparkgen.resources.requests import Amounts, Side, effective

_SHORT = {"cpu": "requests.cpu", "memory": "requests.memory", "count/pods": "pods"}
_NOT_OURS = frozenset(("Terminating", "BestEffort"))
"""Scopes of quotas that do not count our pods: no pod has a deadline of its own, and all request CPU."""
_NONE = Decimal(0)
_BINARY = ((2**30, "Gi"), (2**20, "Mi"))


@dataclass(frozen=True, slots=True)
class Short:
    """A resource that a quota is short of. `fit`: how many executors fit; None if the driver does not fit."""

    quota: str
    resource: str
    needed: Decimal
    left: Decimal
    hard: Decimal
    fit: int | None


def shortages(quotas: Iterable[ObjectView], groups: Iterable[Pods]) -> Iterator[Short]:
    """Yields, for each quota that has too little for driver and first executors, the scarcest resource."""
    groups = tuple(groups)
    for quota in quotas:
        spec = mapping(quota.get("spec"))
        if _NOT_OURS & {str(scope) for scope in items(spec.get("scopes"))} or spec.get("scopeSelector"):
            continue
        found = list(_of(quota, groups))
        if found:
            yield min(found, key=lambda short: -1 if short.fit is None else short.fit)


def _of(quota: ObjectView, groups: tuple[Pods, ...]) -> Iterator[Short]:
    status = mapping(quota.get("status"))
    hard = mapping(status.get("hard") or mapping(quota.get("spec")).get("hard"))
    used = mapping(status.get("used"))
    for resource, text in hard.items():
        limit = amount_of(text)
        if limit is None:
            continue
        left = limit - (amount_of(used.get(resource, "0")) or _NONE)
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
    """Returns what a pod takes from each resource that a quota may count."""
    amounts: Amounts = {"pods": Decimal(1)}
    sides: tuple[Side, ...] = ("requests", "limits")
    for side in sides:
        for name, amount in effective(spec, side).items():
            amounts[f"{side}.{name}"] = amount
    return amounts


def shown(resource: str, amount: Decimal) -> str:
    """Returns an amount to print: memory and storage in Gi or Mi, the rest as Kubernetes writes it."""
    if "memory" in resource or "storage" in resource:
        for factor, unit in _BINARY:
            if amount >= factor:
                text = f"{amount / factor:.1f}".removesuffix(".0")
                return f"{text}{unit}"
    return format_quantity(amount)
