"""The sum of a pod's requests, as the scheduler computes it. Pure.

Source: k8s.io/component-helpers, resource/helpers.go (PodRequests): init containers run one after the other;
those with `restartPolicy: Always` run beside all later containers; the pod's own `resources` replace the sum;
and `overhead` is added. Values that an admission plugin adds later (a LimitRange's defaults, the overhead of
a RuntimeClass) are in no manifest, and are not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from typing import Literal

from sparkgen.grammar.quantity import SUFFIXES, parse
from sparkgen.objects import ObjectView

Amounts = dict[str, Decimal]
Side = Literal["requests", "limits"]
NONE = Decimal(0)
MEBI = 2**20

THOUSANDTHS: Mapping[str, tuple[int, int]] = {
    suffix: Fraction(factor * 1000).as_integer_ratio() for suffix, factor in SUFFIXES.items()
}
"""Suffix of a quantity -> numerator and denominator of its value in thousandths: the chart's arithmetic."""


def pod_requests(spec: ObjectView) -> dict[str, str]:
    """A pod's requests as quantities: cores in thousandths, anything else in whole units, rounded up."""
    return {name: quantity(name, amount) for name, amount in sorted(effective(spec, "requests").items())}


def multiplied(amounts: Mapping[str, Decimal], count: int) -> Amounts:
    """The requests of `count` such pods."""
    return {name: amount * count for name, amount in amounts.items()}


def effective(spec: ObjectView, side: Side) -> Amounts:
    """The largest sum over containers that run at the same time; without resources whose amount is zero."""
    staying: Amounts = {}
    most: Amounts = {}
    for container in spec.get("initContainers") or ():
        own = _asked(container, side)
        if container.get("restartPolicy") == "Always":
            staying = plus(staying, own)
            most = _larger(most, staying)
        else:
            most = _larger(most, plus(staying, own))
    running = staying
    for container in spec.get("containers") or ():
        running = plus(running, _asked(container, side))
    own_sum = _parsed((spec.get("resources") or {}).get(side) or {})
    found = {**_larger(most, running), **own_sum}
    whole = plus(found, _parsed(spec.get("overhead") or {}))
    return {name: amount for name, amount in whole.items() if amount}


def quantity(resource: str, amount: Decimal) -> str:
    """An amount as an exact quantity: `2`, `2100m`, `1408Mi`, `1476395009`."""
    if resource == "cpu":
        thousandths = int((amount * 1000).to_integral_value(ROUND_CEILING))
        return f"{thousandths}m" if thousandths % 1000 else str(thousandths // 1000)
    units = int(amount.to_integral_value(ROUND_CEILING))
    return str(units) if units % MEBI or not units else f"{units // MEBI}Mi"


def _asked(container: ObjectView, side: Side) -> Amounts:
    resources = container.get("resources") or {}
    if side == "limits":
        return _parsed(resources.get("limits") or {})
    # A limit without a request is also the request: defaults.go, SetDefaults_Pod.
    return _parsed({**(resources.get("limits") or {}), **(resources.get("requests") or {})})


def _parsed(texts: Mapping[str, object]) -> Amounts:
    return {name: parse(str(text)) for name, text in texts.items()}


def plus(one: Mapping[str, Decimal], other: Mapping[str, Decimal]) -> Amounts:
    """The sum of both, for each resource."""
    return {name: one.get(name, NONE) + other.get(name, NONE) for name in (*one, *other)}


def _larger(one: Amounts, other: Amounts) -> Amounts:
    return {name: max(one.get(name, NONE), other.get(name, NONE)) for name in (*one, *other)}
