"""Turns the names of other tools' applications into names that sparkgen's documents permit."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
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
    return _with_end(name, hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:_HASH])


def _with_end(name: str, end: str) -> str:
    """Returns the name with an ending, shortened if it would be too long."""
    return f"{name[: MAX_APPLICATION_NAME - len(end) - 1].rstrip('-')}-{end}"


@dataclass(slots=True)
class _Taken:
    """Names in use. `last`: a name -> the last number that was tried with it, so that none is tried twice."""

    names: set[str] = field(default_factory=set)
    last: dict[str, int] = field(default_factory=dict)

    def take(self, base: str, numbered: Callable[[str, int], str]) -> str:
        """Returns a name that was free: the base, or else the base with a number from 2."""
        name, number = base, self.last.get(base, 1)
        while name in self.names:
            number += 1
            name = numbered(base, number)
        self.names.add(name)
        self.last[base] = number
        return name


@dataclass(slots=True)
class Names:
    """The names of all applications of a call.

    `given`: namespace and name of each document that may keep its name -> its position. No other application
    gets such a name.
    """

    given: dict[tuple[str, str], Position] = field(default_factory=dict)
    _taken: _Taken = field(default_factory=_Taken)

    def reserve(self, names: Iterable[tuple[str, str, Position]]) -> None:
        """Reserve names (namespace, name, position) for their documents; the first position counts."""
        for namespace, name, position in names:
            if application_name(name) == name:
                self.given.setdefault((namespace, name), position)
                self._taken.names.add(name)

    def make(self, text: str) -> str:
        """Returns a name like this text that no other application has."""
        return self._taken.take(application_name(text), lambda base, number: _with_end(base, str(number)))

    def twin(self, namespace: str, name: str, position: Position) -> Position | None:
        """Returns the first application's position with this name and namespace, if it is another one."""
        first = self.given.get((namespace, name))
        return None if first == position else first


def file_names(items: Sequence[Imported]) -> list[str]:
    """Returns a file for each application: NAME.yaml; for equal names, with the namespace or a number."""
    plain, taken = Counter(item.name for item in items), _Taken()
    bases = (
        f"{item.namespace}-{item.name}" if plain[item.name] > 1 and item.namespace else item.name
        for item in items
    )
    return [f"{taken.take(base, lambda name, number: f'{name}-{number}')}.yaml" for base in bases]
