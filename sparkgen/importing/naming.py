"""Turns the names of other tools' applications into names that sparkgen's documents permit."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sparkgen.errors import Position
from sparkgen.importing.imported import Imported
from sparkgen.names import MAX_APPLICATION_NAME, RESERVED_SUFFIXES

FALLBACK = "my-app"
_RESERVED = ("default",)
_REPLACEMENT = "-app"
_HASH = 6


def application_name(text: str) -> str:
    """Returns the nearest name that a document permits; the same text if it is permitted.

    A name that is too long, or has no permitted character, ends with a hash of the text.
    """
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    if slug and not slug[0].isalpha():
        slug = f"app-{slug}"
    if slug in _RESERVED or slug.endswith(RESERVED_SUFFIXES):
        slug += _REPLACEMENT
    if not slug:
        return _with_hash(FALLBACK, text) if text.strip() else FALLBACK
    return slug if len(slug) <= MAX_APPLICATION_NAME else _with_hash(slug, text)


def _with_hash(name: str, text: str) -> str:
    return _with_end(name, hashlib.sha256(text.encode()).hexdigest()[:_HASH])


def _with_end(name: str, end: str) -> str:
    """Returns the name with an ending, shortened if it would be too long."""
    return f"{name[: MAX_APPLICATION_NAME - len(end) - 1].rstrip('-')}-{end}"


@dataclass(slots=True)
class Names:
    """The names of all applications of a call.

    `given`: namespace and name of each document that may keep its name -> its position. No other application
    gets such a name. `made`: the names that import has made so far.
    """

    given: dict[tuple[str, str], Position] = field(default_factory=dict)
    made: set[str] = field(default_factory=set)

    def reserve(self, names: Iterable[tuple[str, str, Position]]) -> None:
        """Reserve names (namespace, name, position) for their documents; the first position counts."""
        for namespace, name, position in names:
            if application_name(name) == name:
                self.given.setdefault((namespace, name), position)

    def make(self, text: str) -> str:
        """Returns a name like this text that no other application has."""
        base = application_name(text)
        taken = {name for _, name in self.given} | self.made
        name, number = base, 2
        while name in taken:
            name, number = _with_end(base, str(number)), number + 1
        self.made.add(name)
        return name

    def twin(self, namespace: str, name: str, position: Position) -> Position | None:
        """Returns the first application's position with this name and namespace, if it is another one."""
        first = self.given.get((namespace, name))
        return None if first == position else first


def file_names(items: Sequence[Imported]) -> list[str]:
    """Returns a file for each application: NAME.yaml; for equal names, with the namespace or a number."""
    plain = [item.name for item in items]
    names: list[str] = []
    for item in items:
        name = item.name
        if plain.count(name) > 1 and item.namespace:
            name = f"{item.namespace}-{item.name}"
        base, number = name, 2
        while f"{name}.yaml" in names:
            name, number = f"{base}-{number}", number + 1
        names.append(f"{name}.yaml")
    return names
