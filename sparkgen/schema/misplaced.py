"""The mix-up of the two kinds: an application's fields where a schedule's belong, or the other way round.

Told once for all its fields: each of them would otherwise be an unknown field of its own, beside a dozen
required ones that are missing.
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
    """What was told here, and the paths (unknown or missing) that it covers."""

    problems: tuple[tuple[Path, Said], ...] = ()
    told: frozenset[Path] = field(default_factory=frozenset)


def _names(kind: str) -> Mapping[str, Any]:
    definition: Mapping[str, Any] = store.application_schema()["$defs"][fields.SPECS[kind]]
    return definition


def misplaced(kind: str, value: Mapping[str, Any]) -> Misplaced:
    """The mix-up in a document of a kind, if there is one."""
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
