"""Every value of an input, found without the importer; and whether a result accounts for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from sparkgen.errors import Path
from sparkgen.importing import Entry, Imported, Outcome


class Texts(yaml.SafeLoader):
    """Makes texts of all scalars; `<<` merges."""

    yaml_implicit_resolvers = {"<": yaml.SafeLoader.yaml_implicit_resolvers["<"]}  # noqa: RUF012


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """The scalars and empty collections of a YAML value, as texts."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from leaves(item, (*path, index))
    else:
        yield path, "" if value in ({}, [], None) else str(value)


def texts(value: Any) -> Iterator[str]:
    """All keys and scalars in a value."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield str(key)
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    else:
        yield "" if value is None else str(value)


def covering(entries: tuple[Entry, ...], path: Path) -> list[Entry]:
    """The entries that speak for a leaf: those with the longest path that leads to it."""
    found = [entry for entry in entries if entry.source and path[: len(entry.source)] == entry.source]
    longest = max((len(entry.source) for entry in found), default=0)
    return [entry for entry in found if len(entry.source) == longest]


def at(document: Any, path: Path) -> Any:
    """What stands at a path of a document. KeyError if nothing does."""
    for part in path:
        document = document[part]
    return document


def unaccounted(source: Any, item: Imported, path: Path = ()) -> list[str]:
    """What is wrong with the account of an application's values: silence, or a target without the value."""
    document = yaml.load(item.text, Texts)  # noqa: S506 - it makes texts of every scalar
    wrong = []
    for leaf, text in leaves(source, path):
        entries = covering(item.entries, leaf)
        if not entries:
            wrong.append(f"{leaf}: nothing is said of it")
        for entry in entries:
            if entry.target:
                try:
                    there = at(document, entry.target)
                except (KeyError, IndexError, TypeError):
                    wrong.append(f"{leaf}: {entry.target} is not in the document")
                    continue
                if entry.outcome is Outcome.CARRIED and text and not _says(there, text):
                    wrong.append(f"{leaf}: {text!r} is not in {there!r}")
    return wrong


def _says(there: Any, text: str) -> bool:
    """Whether a value has a text in it; a list that was one text with commas or colons counts."""
    found = list(texts(there))
    parts = [part.strip() for part in text.replace(":", ",").split(",") if part.strip()]
    return any(text in item for item in found) or all(any(part in item for item in found) for part in parts)
