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
from dataclasses import dataclass

from sparkgen.errors import SparkgenError
from sparkgen.whatif.configuration import Configuration
from sparkgen.whatif.outcome import Outcome


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
    size = (float(settings.cores), settings.executor_memory / 1024)
    fitting = [shape for shape in prices.nodes if _per_node(shape, *size) and _per_node(shape, *driver)]
    if prices.nodes:
        if not fitting:
            raise BadPrices(
                f"no node in the price file has room for an executor of {size[0]:g} CPU and "
                f"{size[1]:.1f} GiB "
                "and for the driver; add a larger node"
            )
        return min(
            (_by_nodes(outcome, shape, size, driver) for shape in fitting), key=lambda one: one.on_demand or 0
        )
    hours = outcome.pod_seconds / 3600

    def total(rate: Rate | None) -> float | None:
        own = prices.on_demand or rate
        if rate is None or own is None:
            return None
        run = outcome.wall / 3600 * (driver[0] * own.core + driver[1] * own.gib)
        return run + hours * (size[0] * rate.core + size[1] * rate.gib)

    return Cost(total(prices.on_demand), total(prices.spot), "")


def _per_node(shape: Shape, cores: float, memory: float) -> int:
    return math.floor(min(shape.cores / max(cores, 0.001), shape.memory / max(memory, 0.001)) + 1e-9)


def _by_nodes(outcome: Outcome, shape: Shape, size: tuple[float, float], driver: tuple[float, float]) -> Cost:
    """Whole nodes at every moment; the driver pays for the part of a node that it takes."""
    each = _per_node(shape, *size)
    ends = [*(time for time, _ in outcome.pods[1:]), outcome.wall]
    seconds = sum(
        math.ceil(count / each) * max(0.0, end - time)
        for (time, count), end in zip(outcome.pods, ends, strict=True)
    )
    part = max(driver[0] / shape.cores, driver[1] / shape.memory) * outcome.wall / 3600 * shape.hour
    spot = None if shape.spot is None else part + seconds / 3600 * shape.spot
    return Cost(part + seconds / 3600 * shape.hour, spot, shape.name)
