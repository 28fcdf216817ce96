"""Prices, and what an outcome costs by them; a file of them is read by price_file.py.

A file:

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
    """A file of prices that cannot be used, with all its problems."""


@dataclass(frozen=True, slots=True)
class Rate:
    """What a core and a GiB of memory cost for an hour."""

    core: float
    gib: float


@dataclass(frozen=True, slots=True)
class Shape:
    """A kind of node: cores, memory in GiB, and what an hour costs; `spot` may have no price."""

    name: str
    cores: float
    memory: float
    hour: float
    spot: float | None


@dataclass(frozen=True, slots=True)
class Prices:
    """What is in the file."""

    currency: str
    on_demand: Rate | None
    spot: Rate | None
    nodes: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run costs; None where the file has no such price."""

    on_demand: float | None
    spot: float | None
    """Executors on spot nodes, the driver not. What lost ones cost is in it where losses were replayed."""
    node: str
    """Name of the cheapest shape of node; "" where cores and memory are paid for."""


def cost(outcome: Outcome, settings: Configuration, driver: tuple[float, float], prices: Prices) -> Cost:
    """What an outcome costs. `driver`: its cores and its memory in GiB."""
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
    """The pods of one size: cores and GiB of each, how many there were over time, and seconds summed."""

    cores: float
    memory: float
    pods: Steps
    seconds: float


def _uses(outcome: Outcome, settings: Configuration) -> list[_Use]:
    """The pods of each resource profile; the default one's first."""
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
    """The hours of all cores of executors."""
    return sum(one.cores * one.seconds for one in _uses(outcome, settings)) / 3600


def _per_node(shape: Shape, cores: float, memory: float) -> int:
    return math.floor(min(shape.cores / max(cores, 0.001), shape.memory / max(memory, 0.001)) + 1e-9)


def _by_nodes(outcome: Outcome, shape: Shape, uses: Sequence[_Use], driver: tuple[float, float]) -> Cost:
    """Whole nodes at every moment, each for one size of executors; the driver pays for its part of a node."""
    seconds = 0.0
    for one in uses:
        each = _per_node(shape, one.cores, one.memory)
        seconds += total(tuple((time, math.ceil(count / each)) for time, count in one.pods), outcome.wall)
    part = max(driver[0] / shape.cores, driver[1] / shape.memory) * outcome.wall / 3600 * shape.hour
    spot = None if shape.spot is None else part + seconds / 3600 * shape.spot
    return Cost(part + seconds / 3600 * shape.hour, spot, shape.name)
