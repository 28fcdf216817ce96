"""Checks that documents of several kinds of servers share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sparkgen.errors import Path
from sparkgen.semantics.facts import ServerFacts
from sparkgen.semantics.findings import Finding, about_key


def always_set(facts: ServerFacts, settings: Mapping[str, str]) -> Iterator[Finding]:
    """The properties of `settings` (property -> field to set instead, or "") that `sparkConf` has."""
    for name, field in settings.items():
        if name in facts.conf:
            yield about_key(
                facts.path("sparkConf", name),
                "has no effect: sparkgen sets it",
                f"delete it, and set `{field}`" if field else "delete it",
            )


def nested(path: Path, found: Iterable[str]) -> Iterator[Finding]:
    """Directories that equal, contain or are inside an earlier one: they share a place, or a disk."""
    before: list[str] = []
    for index, directory in enumerate(found):
        other = next((one for one in before if _related(one, directory)), None)
        if other is not None:
            yield Finding(
                (*path, index),
                f"and `{other}` are the same directory, or one contains the other",
                directory,
                next_step="use one separate directory per disk",
            )
        before.append(directory)


def _related(one: str, other: str) -> bool:
    first, second = f"{one}/", f"{other}/"
    return first.startswith(second) or second.startswith(first)
