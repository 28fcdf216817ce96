"""The document while it is built: values, the comments above them, and the outcome of each value so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sparkgen.document import Node
from sparkgen.errors import Path, Position
from sparkgen.importing.entry import Entry, Outcome
from sparkgen.importing.naming import Names

SPEC = "spec"
"""First part of a target in the application's spec (below `template` in a schedule)."""
OUTER = "outer"
"""First part of a target in the spec of a ScheduledSparkApplication itself."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The options of an import.

    `name`, `image` and `spark_version` are "" if not given. `labels`: pods keep the labels that kubeflow's
    operator would have set.
    """

    name: str = ""
    image: str = ""
    spark_version: str = ""
    labels: bool = False


@dataclass(frozen=True, slots=True)
class Property:
    """A Spark property as given. `source` and `position` say where."""

    name: str
    text: str
    source: Path
    position: Position


@dataclass(frozen=True, slots=True)
class Source:
    """A value of the input: its path, and its node."""

    path: Path
    node: Node


@dataclass(slots=True)
class _Names:
    """The first `read` items of a list; `found`: those that are mappings, by name."""

    items: list[Any]
    read: int = 0
    found: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(slots=True)
class Draft:
    """One document while it is built.

    `value` is the document; `comments`: lines by the path of the field below them. `copied`: the source of
    each copied value, by the path of its copy. `removed`: the entries of values that import removed again, by
    the path that they had. `notes`: remarks about values, beside their own entries. `origin`: where the
    application starts in the input; `below`: its path there. Properties wait in `properties` until all typed
    fields are set, because typed fields take precedence.
    """

    scheduled: bool
    origin: Position
    choices: Choices
    value: dict[str, Any] = field(default_factory=dict)
    comments: dict[Path, list[str]] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    copied: dict[Path, Source] = field(default_factory=dict)
    removed: dict[Path, Entry] = field(default_factory=dict)
    notes: list[Entry] = field(default_factory=list)
    properties: list[Property] = field(default_factory=list)
    below: Path = ()
    names: Names = field(default_factory=Names)
    _own: dict[int, list[Any]] = field(default_factory=dict)
    _named: dict[Path, _Names] = field(default_factory=dict)

    def place(self, target: Path) -> Path:
        """Returns the path of a target in this document."""
        if target[:1] == (OUTER,):
            return (SPEC, *target[1:])
        if target[:1] == (SPEC,) and self.scheduled:
            return (SPEC, "template", *target[1:])
        return target

    def get(self, *target: str) -> Any:
        """Returns the value at a target, or None."""
        value: Any = self.value
        for part in self.place(target):
            value = value.get(part) if isinstance(value, dict) else None
        return value

    def put(self, target: Path, value: Any) -> None:
        """Set a value. Mappings are merged, lists are extended, all other values are replaced."""
        *parents, last = (str(part) for part in self.place(target))
        into = self.value
        for part in parents:
            into = into.setdefault(part, {})
        old = into.get(last)
        if isinstance(old, dict) and isinstance(value, Mapping):
            into[last] = merged(old, value)
        elif isinstance(old, list) and isinstance(value, list):
            if id(old) not in self._own:  # a list of the input is shared with its nodes, and stays as it is
                into[last] = old = list(old)
                self._own[id(old)] = old
            old.extend(value)
        else:
            into[last] = value

    def append(self, target: Path, item: dict[str, Any]) -> Path:
        """Add an item to a list. Returns the item's target."""
        self.put(target, [item])
        return (*target, len(self.get(*(str(part) for part in target))) - 1)

    def copy(self, target: Path, value: Any, source: Source) -> None:
        """Set a value, and record its source; if it extends a list, record the source of each item."""
        old = self.get(*(str(part) for part in target))
        self.put(target, value)
        source = Source((*self.below, *source.path), source.node)
        place = self.place(target)
        if isinstance(old, list) and isinstance(value, list):
            for index, node in enumerate(source.node.items):
                self.copied[*place, len(old) + index] = Source((*source.path, index), node)
        else:
            self.copied.setdefault(place, source)

    def item(self, target: Path, name: str) -> dict[str, Any] | None:
        """Returns the first item with this name in the list at a target; None if there is none."""
        items = self.get(*(str(part) for part in target))
        if not isinstance(items, list):
            return None
        known = self._named.get(target)
        if known is None or known.items is not items or known.read > len(items):
            known = self._named[target] = _Names(items)
        for item in items[known.read :]:
            if isinstance(item, dict):
                known.found.setdefault(str(item.get("name")), item)
        known.read = len(items)
        return known.found.get(name)

    def comment(self, target: Path, text: str) -> None:
        """Add a comment above a field; equal comments are written once."""
        self.comments.setdefault(self.place(target), []).append(text)

    def tell(
        self,
        outcome: Outcome,
        source: Path,
        position: Position,
        target: Path = (),
        reason: str = "",
        step: str = "",
    ) -> None:
        """Record the outcome of a value, and write its reason, if any, as a comment above the target."""
        place = self.place(target) if target else ()
        source = (*self.below, *source) if source else ()
        self.entries.append(Entry(outcome, source, position, place, reason, step))
        if place and reason:
            self.comment(target, reason if outcome is not Outcome.GUESSED else f"TODO: {reason}")

    def add(self, outcome: Outcome, target: Path, value: Any, reason: str, step: str = "") -> None:
        """Set a value that the input does not have."""
        self.put(target, value)
        self.tell(outcome, (), self.origin, target, reason, step)


def merged(old: dict[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a mapping with another one merged into it: mappings are merged, lists are joined."""
    result = dict(old)
    for key, value in new.items():
        before = result.get(key)
        if isinstance(before, dict) and isinstance(value, Mapping):
            result[key] = merged(before, value)
        elif isinstance(before, list) and isinstance(value, list):
            result[key] = [*before, *value]
        else:
            result[key] = value
    return result
