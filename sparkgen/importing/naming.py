"""Names of applications: what other tools allow, as sparkgen's documents allow it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from sparkgen.errors import Position
from sparkgen.names import MAX_APPLICATION_NAME, RESERVED_SUFFIXES

FALLBACK = "my-app"
_RESERVED = ("default",)
_REPLACEMENT = "-app"
_HASH = 6


def application_name(text: str) -> str:
    """The nearest name that a document may have; the same text if it may.

    A name that is too long, or that has nothing that may stand in a name, ends with a hash of the text.
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
    """A name that ends so, cut where it would be too long."""
    return f"{name[: MAX_APPLICATION_NAME - len(end) - 1].rstrip('-')}-{end}"


@dataclass(slots=True)
class Names:
    """The names of all applications of a call.

    `given`: where a document says a name that it may keep, with its namespace. Such a name is nobody else's.
    `made`: the names that import made so far.
    """

    given: dict[tuple[str, str], Position] = field(default_factory=dict)
    made: set[str] = field(default_factory=set)

    def reserve(self, names: Iterable[tuple[str, str, Position]]) -> None:
        """Keep names (namespace, name, place) for the documents that have them; the first place counts."""
        for namespace, name, position in names:
            if application_name(name) == name:
                self.given.setdefault((namespace, name), position)

    def make(self, text: str) -> str:
        """A name like this text that no other application has."""
        base = application_name(text)
        taken = {name for _, name in self.given} | self.made
        name, number = base, 2
        while name in taken:
            name, number = _with_end(base, str(number)), number + 1
        self.made.add(name)
        return name

    def twin(self, namespace: str, name: str, position: Position) -> Position | None:
        """Where another application of this name and namespace stands, if it comes first."""
        first = self.given.get((namespace, name))
        return None if first == position else first
