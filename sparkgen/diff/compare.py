"""Compares two sides of one application, or of many: pure."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest

from sparkgen.diff.facts import fact_changes
from sparkgen.diff.fields import field_changes
from sparkgen.diff.objects import object_changes
from sparkgen.diff.run import verdict
from sparkgen.diff.values import ApplicationDiff, FieldChange, Side, State


def compare_all(old: Iterable[Side], new: Iterable[Side]) -> tuple[list[ApplicationDiff], int]:
    """The applications that differ, by environment, namespace and name; and the number of the others."""
    before, after = _by_key(old), _by_key(new)
    pairs = [
        pair
        for key in sorted({*before, *after})
        for pair in zip_longest(before.get(key, ()), after.get(key, ()))
    ]
    differing = [one for one in (compare(*pair) for pair in pairs) if one]
    return differing, len(pairs) - len(differing)


def _by_key(sides: Iterable[Side]) -> dict[tuple[str, ...], list[Side]]:
    """The sides of each key: of two with one key, none may hide the other."""
    found: dict[tuple[str, ...], list[Side]] = {}
    for side in sides:
        found.setdefault(side.key, []).append(side)
    return found


def compare(old: Side | None, new: Side | None) -> ApplicationDiff | None:
    """The changes of one application; None if there are none."""
    side = new or old
    if side is None:
        return None
    objects = tuple(object_changes(old, new))
    if not objects:
        return None
    state: State = "changed"
    if old is None or new is None:
        state = "added" if old is None else "removed"
    return ApplicationDiff(
        side.name,
        side.namespace,
        side.source,
        state,
        verdict(old, new),
        _fields(old, new),
        objects,
        side.environment,
    )


def _fields(old: Side | None, new: Side | None) -> tuple[FieldChange, ...]:
    if old is None or new is None:
        return ()
    if old.document is not None and new.document is not None:
        return tuple(field_changes(old.document, new.document, new.namespace))
    return tuple(fact_changes(old, new))
