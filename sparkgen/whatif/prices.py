"""Prices, and the cost of an outcome; price_file.py reads a price file.

A price file:

currency: USD
onDemand: {coreHour: 0.0400, gibHour: 0.0044}
spot: {coreHour: 0.0120, gibHour: 0.0013}
nodes:                               # instead of cores and memory: whole nodes, as many as executors need
- {name: m6i.2xlarge, cores: 8, memory: 32Gi, hour: 0.384, spotHour: 0.13}
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sparkgen.errors import SparkgenError
from sparkgen.whatif.configuration import Configuration
from sparkgen.whatif.outcome import Outcome, Steps, difference, total


class BadPrices(SparkgenError):
    """A price file cannot be used; the text has all its problems."""


@dataclass(frozen=True, slots=True)
class Rate:
    """The price of a core and of a GiB of memory per hour."""

    core: float
    gib: float


@dataclass(frozen=True, slots=True)
class Shape:
    """A type of node: cores, memory in GiB, and its price per hour; `spot`: the spot price, or None."""

    name: str
    cores: float
    memory: float
    hour: float
    spot: float | None


@dataclass(frozen=True, slots=True)
class Prices:
    """The content of a price file."""

    currency: str
    on_demand: Rate | None
    spot: Rate | None
    nodes: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a run; None if the file has no such price."""

    on_demand: float | None
    spot: float | None
    """With executors on spot nodes, but not the driver. If losses were replayed, it includes their cost."""
    node: str
    """The name of the cheapest type of node; "" if cores and memory have prices."""


def cost(outcome: Outcome, settings: Configuration, driver: tuple[float, float], prices: Prices) -> Cost:
    """The cost of an outcome. `driver`: its cores and its memory in GiB.

    Raises BadPrices if no type of node has room for the driver and the executors.
    """
    uses = _uses(outcome, settings)
    if prices.nodes:
        fitting = [
            shape
            for shape in prices.nodes
            if _per_node(shape, *driver) and all(_per_node(shape, one.cores, one.memory) for one in uses)
        ]
        if not fitting:
            cores, memory = max(one.cores for one in uses), max(one.memory for one in uses)
            raise BadPrices(
                f"no node in the price file has room for an executor of {cores:g} CPU and {memory:.1f} GiB "
                "and for the driver; add a larger node"
            )
        return min(
            (_by_nodes(outcome, shape, uses, driver) for shape in fitting), key=lambda one: one.on_demand or 0
        )

    def total_of(rate: Rate | None) -> float | None:
        own = prices.on_demand or rate
        if rate is None or own is None:
            return None
        run = outcome.wall / 3600 * (driver[0] * own.core + driver[1] * own.gib)
        return run + sum(one.seconds / 3600 * (one.cores * rate.core + one.memory * rate.gib) for one in uses)

    return Cost(total_of(prices.on_demand), total_of(prices.spot), "")


@dataclass(frozen=True, slots=True)
class _Use:
    """The pods of one size: cores and GiB of each, their number over time, and the sum of their seconds."""

    cores: float
    memory: float
    pods: Steps
    seconds: float


def _uses(outcome: Outcome, settings: Configuration) -> list[_Use]:
    """The pods of each resource profile; the default profile is first."""
    others = {id_: total(pods, outcome.wall) for id_, pods in outcome.by_profile.items()}
    own = outcome.pods
    if others:
        own = difference(outcome.pods, outcome.by_profile.values())
    default = settings.default
    found = [
        _Use(default.cores, default.memory / 1024, own, max(0.0, outcome.pod_seconds - sum(others.values())))
    ]
    for id_, seconds in others.items():
        shape = settings.shape(id_)
        found.append(_Use(shape.cores, shape.memory / 1024, outcome.by_profile[id_], seconds))
    return found


def core_hours(outcome: Outcome, settings: Configuration) -> float:
    """The sum of the hours of all cores of executors."""
    return sum(one.cores * one.seconds for one in _uses(outcome, settings)) / 3600


def _per_node(shape: Shape, cores: float, memory: float) -> int:
    return math.floor(min(shape.cores / max(cores, 0.001), shape.memory / max(memory, 0.001)) + 1e-9)


def _by_nodes(outcome: Outcome, shape: Shape, uses: Sequence[_Use], driver: tuple[float, float]) -> Cost:
    """The cost by whole nodes at any time, each for one size of executors, plus the driver's part."""
    seconds = 0.0
    for one in uses:
        each = _per_node(shape, one.cores, one.memory)
        seconds += total(tuple((time, math.ceil(count / each)) for time, count in one.pods), outcome.wall)
    part = max(driver[0] / shape.cores, driver[1] / shape.memory) * outcome.wall / 3600 * shape.hour
    spot = None if shape.spot is None else part + seconds / 3600 * shape.spot
    return Cost(part + seconds / 3600 * shape.hour, spot, shape.name)
