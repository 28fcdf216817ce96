"""Tables that say, field by field, what becomes of an input, and the function that follows them.

A row names a place (`*` is any one key, `ROLE` is driver and executor) and the target of its value. A
function of transforms.py does what a row cannot express. A row covers every value below its place. A value
without a row is unknown, and is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sparkgen.document import Node
from sparkgen.errors import Path
from sparkgen.importing.draft import Draft, Source
from sparkgen.importing.entry import Outcome
from sparkgen.importing.shapes import fits

ROLES = ("driver", "executor")
OPERATOR_LABELS: Mapping[str, str] = {
    "sparkoperator.k8s.io/app-name": "NAME",
    "sparkoperator.k8s.io/launched-by-spark-operator": "true",
}
"""Labels that kubeflow's operator sets on the pods of an application NAME (pkg/common/spark.go).

Spark's own (spark-role, spark-app-selector, spark-exec-id) are on the pods anyway.
"""
NOTHING = "has no value"
_UNKNOWN = "unknown field in this format"
_MISFIT = ("the value has the wrong type for this field", "correct the value")
_LOOK = "find its purpose, and set that by hand"


@dataclass(frozen=True, slots=True)
class Row:
    """What becomes of the value at `source`.

    `target`: where it goes; "" if nowhere. `reason`: why it is lost, or what it means here instead; "" if it
    means the same. `step`: the next step for the user. `same`: values that are not needed, because sparkgen
    always works this way. `needless`: nothing is lost without the value, and `reason` says why. `how`: a
    function that converts the value (tools/docs/reference/conversions.py has words for it).
    """

    source: str
    target: str = ""
    reason: str = ""
    step: str = ""
    same: tuple[Any, ...] = ()
    needless: bool = False
    how: How | None = None


@dataclass(frozen=True, slots=True)
class Take:
    """A value, and its row. `path`: its place in the input; `keys`: the keys for each `*` of the row."""

    draft: Draft
    row: Row
    node: Node
    path: Path
    keys: tuple[str, ...] = ()

    @property
    def target(self) -> Path:
        """The target of the row."""
        return as_path(self.row.target, self.keys)

    @property
    def role(self) -> str:
        """The role of the value: the first role in its path, or else in its target."""
        return next(role for part in (*self.path, *self.target) for role in ROLES if part == role)

    def at(self, *below: str | int) -> Take:
        """Returns the same for a value below this one; if there is none, for this node at that path."""
        node = self.node.find(below)
        return replace(self, node=node if node is not None else self.node, path=(*self.path, *below))

    def tell(self, outcome: Outcome, target: Path = (), reason: str = "", step: str = "") -> None:
        """Record the outcome of the value."""
        reason, step = reason or self.row.reason, step or self.row.step
        self.draft.tell(outcome, self.path, self.node.position, target, reason, step)

    def put(
        self,
        target: Path,
        value: Any,
        outcome: Outcome = Outcome.CARRIED,
        reason: str = "",
        step: str = "",
    ) -> None:
        """Set a value, and record its source and its outcome."""
        self.draft.copy(target, value, Source(self.path, self.node))
        self.tell(outcome, target, reason, step)

    def append(self, target: Path, item: dict[str, Any]) -> None:
        """Add an item to a list, and record that the value was kept."""
        place = self.draft.append(target, item)
        self.draft.copied[self.draft.place(place)] = Source((*self.draft.below, *self.path), self.node)
        self.tell(Outcome.CARRIED, place)

    def lost(self, reason: str = "", step: str = "") -> None:
        """Record that the value is lost."""
        self.tell(Outcome.LOST, (), reason, step)

    def needless(self, reason: str = "") -> None:
        """Record that nothing is lost without the value."""
        self.tell(Outcome.NEEDLESS, (), reason)


How = Callable[[Take], None]


def as_path(dotted: str, keys: Iterable[str] = ()) -> Path:
    """Returns a dotted path such as `spec.driver.labels.*` as a path, with `keys` in place of its stars."""
    stars = iter(keys)
    return tuple(next(stars) if part == "*" else part for part in dotted.split("."))


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a format, by the parts of their places."""

    rows: Mapping[Path, Row]

    def row(self, path: Path) -> tuple[Row, tuple[str, ...]] | None:
        """Returns the row for a place, and the keys for its stars. Exact names take precedence over stars."""
        row = self.rows.get(path)
        if row is not None:
            return row, ()
        for parts, candidate in self.rows.items():
            if len(parts) == len(path) and all(
                part in ("*", own) for part, own in zip(parts, path, strict=True)
            ):
                keys = tuple(str(own) for part, own in zip(parts, path, strict=True) if part == "*")
                return candidate, keys
        return None

    def leads_on(self, path: Path) -> bool:
        """Whether a row is about a place below this one."""
        return any(
            len(parts) > len(path) and all(part in ("*", own) for part, own in zip(parts, path, strict=False))
            for parts in self.rows
        )


def table(rows: Iterable[Row]) -> Table:
    """Returns a table of rows; a row for ROLE becomes two."""
    return Table({tuple(row.source.split(".")): row for row in expanded(rows)})


def expanded(rows: Iterable[Row]) -> Iterator[Row]:
    """Yields the rows, with ROLE replaced by each role."""
    for row in rows:
        if "ROLE" not in row.source:
            yield row
            continue
        for role in ROLES:
            yield replace(
                row, source=row.source.replace("ROLE", role), target=row.target.replace("ROLE", role)
            )


def walk(draft: Draft, node: Node, path: Path, rows: Table, shift: int = 0) -> None:
    """Process a node, and everything below it, with a table.

    `shift`: the number of parts after a path's first that are not in the table's places. Values that are
    copied come first, in the order of the text. Those with a function may read others, so they come last, in
    the order of the table.
    """
    order = {id(row): index for index, row in enumerate(rows.rows.values())}
    takes = list(_found(draft, node, path, rows, shift))
    for given in sorted(takes, key=lambda given: order[id(given.row)] if given.row.how else -1):
        take(given)


def _found(draft: Draft, node: Node, path: Path, rows: Table, shift: int) -> Iterator[Take]:
    place = path[:1] + path[1 + shift :]
    matched = rows.row(place)
    if matched is not None:
        yield Take(draft, matched[0], node, path, matched[1])
    elif node.value in (None, {}, []):
        draft.tell(Outcome.NEEDLESS, path, node.position, reason=NOTHING)
    elif node.is_mapping and rows.leads_on(place):
        for key, child in node.entries.items():
            yield from _found(draft, child, (*path, key), rows, shift)
    else:
        draft.tell(Outcome.LOST, path, node.position, reason=_UNKNOWN, step=_LOOK)


def take(given: Take) -> None:
    """Process a value as its row says."""
    row, value = given.row, given.node.value
    if value is None or (value in ({}, []) and not isinstance(value, bool | int)):
        given.draft.tell(Outcome.NEEDLESS, given.path, given.node.position, reason=NOTHING)
    elif _is_one_of(value, row.same):
        given.draft.tell(
            Outcome.NEEDLESS, given.path, given.node.position, reason="sparkgen always works this way"
        )
    elif row.how is not None:
        _do(row.how, given)
    elif row.needless:
        given.needless()
    elif not row.target:
        given.lost()
    else:
        copy(given)


def _do(how: How, given: Take) -> None:
    """Call a row's function. If it does nothing with the value (a list for a mapping), the value is lost."""
    draft = given.draft
    known = len(draft.entries) + len(draft.properties)
    how(given)
    if len(draft.entries) + len(draft.properties) == known:
        given.lost(*_MISFIT)


def _is_one_of(value: Any, values: tuple[Any, ...]) -> bool:
    return any(value == other and isinstance(value, bool) == isinstance(other, bool) for other in values)


def copy(given: Take) -> None:
    """Copy a value unchanged to the row's target."""
    if not fits(given.target, given.node):
        given.lost(*_MISFIT)
        return
    outcome = Outcome.CHANGED if given.row.reason else Outcome.CARRIED
    given.put(given.target, without_nulls(given, given.draft.place(given.target)), outcome)


def without_nulls(given: Take, place: Path) -> Any:
    """Returns a value for `place` without its nulls, which are no values, and reports each of them."""
    node = given.node
    if node.is_mapping:
        parts = {key: given.at(key) for key in node.entries}
        for part in parts.values():
            if part.node.value is None:
                part.needless(NOTHING)
        return {
            key: without_nulls(part, (*place, key))
            for key, part in parts.items()
            if part.node.value is not None
        }
    if not node.is_list:
        return node.value
    items = [given.at(index) for index in range(len(node.items))]
    kept = [item for item in items if item.node.value is not None]
    for item in items:
        if item.node.value is None:
            item.lost("null is no value", "delete the item, or write its value")
    if len(kept) < len(items):
        for index, item in enumerate(kept):
            source = Source((*given.draft.below, *item.path), item.node)
            given.draft.copied[*place, index] = source
    return [without_nulls(item, (*place, index)) for index, item in enumerate(kept)]
