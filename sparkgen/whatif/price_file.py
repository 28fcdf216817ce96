"""Reads the price file: from YAML to values, with the position of every problem."""

from __future__ import annotations

from dataclasses import dataclass, field

from sparkgen.document.node import Node
from sparkgen.document.parse import parse
from sparkgen.document.sources import read_file
from sparkgen.errors import Position, Problem
from sparkgen.grammar import GrammarError, quantity
from sparkgen.whatif.prices import BadPrices, Prices, Rate, Shape

LARGEST = 1_000_000_000
"""The most of a price in any currency, and of a node's cores, so that no sum of them is infinite."""
LONGEST_NAME = 100
"""The most characters of the name of a currency or node, which make every row of a table wider."""
_GIB = 1 << 30
_FIELDS = ("currency", "onDemand", "spot", "nodes")
_RATE = ("coreHour", "gibHour")
_SHAPE = ("name", "cores", "memory", "hour", "spotHour")


def read_prices(name: str) -> Prices:
    """The prices in a file. Raises BadPrices with all of its problems."""
    data = read_file(name)
    if isinstance(data, Problem):
        raise BadPrices(f"cannot read {name}: {data.message}; {data.next_step}")
    return prices_of(data, name)


def prices_of(data: bytes, name: str) -> Prices:
    """The prices in the bytes of a file of this name. Raises BadPrices with all of their problems."""
    parsed = parse(data, name)
    problems = [*parsed.problems, *(problem for one in parsed.documents for problem in one.problems)]
    if problems:
        raise BadPrices("\n".join(f"{one.position}: {one.message}" for one in problems))
    roots = [one.root for one in parsed.documents if one.root is not None]
    read = _Reader()
    if len(roots) > 1:
        read.note(roots[1].position, "a price file must contain one document; remove the others")
    prices = read.prices(roots[0] if roots else None, Position(name, 1, 1))
    if read.problems:
        raise BadPrices("\n".join(f"{place}: {words}" for place, words in sorted(read.problems)))
    return prices


def _shown(node: Node) -> str:
    """A value for a message: only the type of a collection, because aliases can make it very large."""
    if node.is_mapping or node.is_list:
        return "a mapping" if node.is_mapping else "a list"
    return "nothing" if node.value is None else repr(node.value)[:60]


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads values of the file, and gathers their problems with positions."""

    problems: list[tuple[Position, str]] = field(default_factory=list)

    def note(self, place: Position, words: str) -> None:
        self.problems.append((place, words))

    def prices(self, root: Node | None, start: Position) -> Prices:
        top = self.mapping(root, "the file", _FIELDS) if root is not None else {}
        prices = Prices(
            currency=self.text(top.get("currency")),
            on_demand=self.rate(top.get("onDemand"), "onDemand"),
            spot=self.rate(top.get("spot"), "spot"),
            nodes=tuple(
                self.shape(one, f"nodes[{place}]") for place, one in enumerate(self.listed(top.get("nodes")))
            ),
        )
        if not self.problems and prices.on_demand is None and not prices.nodes:
            self.note(start, "no price found; add onDemand with coreHour and gibHour, or nodes")
        return prices

    def mapping(self, node: Node, where: str, allowed: tuple[str, ...]) -> dict[str, Node]:
        if not node.is_mapping:
            self.note(
                node.position,
                f"{where} must be a mapping with the keys {', '.join(allowed)}, not {_shown(node)}",
            )
            return {}
        for key in node.entries:
            if key not in allowed:
                known = ", ".join(allowed)
                self.note(node.keys[key], f"unknown key {key[:60]!r} in {where}; allowed: {known}")
        return node.entries

    def listed(self, node: Node | None) -> list[Node]:
        if node is None or node.value is None:
            return []
        if not node.is_list:
            self.note(node.position, f"nodes must be a list, not {_shown(node)}")
        return node.items

    def text(self, node: Node | None) -> str:
        return "" if node is None or node.is_mapping or node.is_list else node.text[:LONGEST_NAME]

    def number(self, section: dict[str, Node], where: str, key: str, place: Position) -> float:
        node = section.get(key)
        value = None if node is None else node.value
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST:
            self.note(
                place if node is None else node.position,
                f"{where}.{key} is missing; add a number of at least 0"
                if node is None
                else f"{where}.{key} must be a number from 0 to {LARGEST}, not {_shown(node)}",
            )
            return 0.0
        return float(value)

    def rate(self, node: Node | None, where: str) -> Rate | None:
        if node is None or node.value is None:
            return None
        section = self.mapping(node, where, _RATE)
        core, gib = (self.number(section, where, key, node.position) for key in _RATE)
        return Rate(core, gib)

    def shape(self, node: Node, where: str) -> Shape:
        section = self.mapping(node, where, _SHAPE)
        numbers = {
            key: self.number(section, where, key, node.position)
            for key in ("cores", "hour", "spotHour")
            if key != "spotHour" or key in section
        }
        return Shape(
            name=self.text(section.get("name")) or where,
            cores=numbers["cores"],
            memory=self.gib(section.get("memory"), where, node.position),
            hour=numbers["hour"],
            spot=numbers.get("spotHour"),
        )

    def gib(self, node: Node | None, where: str, place: Position) -> float:
        try:
            return float(quantity.parse(self.text(node))) / _GIB
        except GrammarError as error:
            self.note(place if node is None else node.position, f"{where}.memory: {error}")
            return 1.0
