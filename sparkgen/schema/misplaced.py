"""Recognizes an application's fields in the spec of a schedule, and a schedule's fields in an application.

This is one problem for all of these fields. Otherwise each would be an unknown field of its own, beside a
dozen required fields that are missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sparkgen.errors import Path
from sparkgen.schema import fields, store
from sparkgen.schema.describe import Said
from sparkgen.schema.wording import shortened

APPLICATION, SCHEDULED = fields.APPLICATION_KINDS


@dataclass(frozen=True, slots=True)
class Misplaced:
    """The problems, and the paths of the unknown or missing fields that they cover."""

    problems: tuple[tuple[Path, Said], ...] = ()
    told: frozenset[Path] = field(default_factory=frozenset)


def _names(kind: str) -> Mapping[str, Any]:
    definition: Mapping[str, Any] = store.application_schema()["$defs"][fields.SPECS[kind]]
    return definition


def misplaced(kind: str, value: Mapping[str, Any]) -> Misplaced:
    """The misplaced fields of a document of a kind; empty if there are none."""
    spec = value.get("spec")
    if not isinstance(spec, dict) or kind not in fields.APPLICATION_KINDS:
        return Misplaced()
    own, other = _names(kind), _names(APPLICATION if kind == SCHEDULED else SCHEDULED)
    strays = [name for name in spec if name in other["properties"] and name not in own["properties"]]
    if not strays:
        return Misplaced()
    said = _unscheduled(strays) if kind == SCHEDULED else _schedule(strays)
    covered = set(strays)
    if kind == SCHEDULED and "template" not in spec:
        covered.add("template")
    if kind == APPLICATION and "template" in spec:
        covered.update(own["required"])
    return Misplaced(((("spec", strays[0]), said),), frozenset(("spec", name) for name in covered))


def _unscheduled(strays: list[str]) -> Said:
    return Said(
        message="a ScheduledSparkApplication has its application's fields below `spec.template`",
        found=shortened(", ".join(strays)),
        next_step="write `template:` below `spec:` and indent these fields below it",
    )


def _schedule(strays: list[str]) -> Said:
    return Said(
        message=f"`{strays[0]}` is a field only of a ScheduledSparkApplication",
        found=strays[0],
        next_step=f"write `kind: {SCHEDULED}`, and the application's fields below `spec.template`",
    )
