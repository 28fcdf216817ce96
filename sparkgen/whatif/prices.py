"""Prices from a small file, and what an outcome costs by them.

currency: USD
onDemand: {coreHour: 0.0400, gibHour: 0.0044}
spot: {coreHour: 0.0120, gibHour: 0.0013}
nodes:                               # instead of cores and memory: whole nodes, as many as executors need
- {name: m6i.2xlarge, cores: 8, memory: 32Gi, hour: 0.384, spotHour: 0.13}
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from sparkgen.errors import SparkgenError
from sparkgen.grammar import GrammarError, quantity
from sparkgen.whatif.configuration import Configuration
from sparkgen.whatif.outcome import Outcome

LARGEST_FILE = 1 << 20
_GIB = 1 << 30


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
                f"no node of the prices has room for an executor of {size[0]:g} cores and {size[1]:.1f} GiB, "
                "and for the driver: name a larger one"
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


def read_prices(name: str) -> Prices:
    """The prices of a file. BadPrices with all that is wrong with it."""
    try:
        with Path(name).open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise BadPrices(f"cannot read {name}: {error.strerror or error}") from error
    if len(data) > LARGEST_FILE:
        raise BadPrices(f"{name} is larger than a megabyte: a file of prices has some lines")
    try:
        found = yaml.safe_load(data)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadPrices(f"{name} is no YAML: {' '.join(str(error).split())}") from error
    return prices_of(found, name)


def prices_of(found: Any, name: str) -> Prices:
    """The prices in a value. BadPrices with all that is wrong with it."""
    read = _Reader([])
    top = read.mapping(found, "the file", ("currency", "onDemand", "spot", "nodes"))
    nodes = top.get("nodes") or []
    if not isinstance(nodes, list):
        read.problems.append("nodes must be a list")
        nodes = []
    prices = Prices(
        currency=_text(top.get("currency") or ""),
        on_demand=read.rate(top.get("onDemand"), "onDemand"),
        spot=read.rate(top.get("spot"), "spot"),
        nodes=tuple(read.shape(one, f"nodes[{place}]") for place, one in enumerate(nodes)),
    )
    if not read.problems and prices.on_demand is None and not prices.nodes:
        read.problems.append("there is no price: give onDemand with coreHour and gibHour, or nodes")
    if read.problems:
        raise BadPrices("\n".join(f"{name}: {problem}" for problem in read.problems))
    return prices


def _text(value: Any) -> str:
    return "" if isinstance(value, dict | list) else str(value)


def _shown(value: Any) -> str:
    """A value as a message names it: collections by their kind, as aliases can make them endless."""
    if isinstance(value, dict | list):
        return "a mapping" if isinstance(value, dict) else "a list"
    return repr(value)[:60]


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads values of the file, and gathers what is wrong with them."""

    problems: list[str]

    def mapping(self, value: Any, where: str, allowed: tuple[str, ...]) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            self.problems.append(f"{where} must be a mapping with {', '.join(allowed)}, not {_shown(value)}")
            return {}
        for key in value:
            if key not in allowed:
                self.problems.append(
                    f"{where} has an unknown key {_shown(key)}; allowed are {', '.join(allowed)}"
                )
        return value

    def number(self, section: Mapping[str, Any], where: str, key: str) -> float:
        value = section.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
            self.problems.append(f"{where}.{key} must be a number from 0 on, not {_shown(value)}")
            return 0.0
        return float(value)

    def rate(self, value: Any, where: str) -> Rate | None:
        if value is None:
            return None
        section = self.mapping(value, where, ("coreHour", "gibHour"))
        return Rate(self.number(section, where, "coreHour"), self.number(section, where, "gibHour"))

    def shape(self, value: Any, where: str) -> Shape:
        section = self.mapping(value, where, ("name", "cores", "memory", "hour", "spotHour"))
        try:
            memory = float(quantity.parse(_text(section.get("memory")))) / _GIB
        except GrammarError as error:
            self.problems.append(f"{where}.memory: {error}")
            memory = 1.0
        return Shape(
            name=_text(section.get("name") or where),
            cores=self.number(section, where, "cores"),
            memory=memory,
            hour=self.number(section, where, "hour"),
            spot=self.number(section, where, "spotHour") if "spotHour" in section else None,
        )
