"""What an unknown field was meant to be: a misspelt name, or a name that belongs somewhere else."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from sparkgen import textdiff
from sparkgen.errors import Path, path_text
from sparkgen.schema import fields
from sparkgen.schema.fields import Field
from sparkgen.schema.kubeflow_fields import instead
from sparkgen.schema.wording import either

MOST_SUGGESTED = 100
"""The most unknown fields of a document for which the right name is looked for: each takes milliseconds."""
MOST_HOMES = 3
"""A name that belongs to more places than this (`name`) gives no hint where to move the field."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What to do about an unknown field; `rename` is the right name of a misspelt field."""

    next_step: str
    code: str = "SG010"
    rename: str | None = None


def letters(name: str) -> str:
    """The name in lower case, and without characters such as dashes and underscores, which users vary."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def nearest(name: str, choices: Iterable[str], cutoff: float = 0.7) -> str | None:
    """The choice most similar to a name, or None if no choice is similar enough."""
    by_letters = {letters(choice): choice for choice in choices}
    return by_letters.get(textdiff.nearest(letters(name), by_letters, cutoff))


@functools.cache
def homes(kind: str) -> dict[str, tuple[Path, ...]]:
    """Name of a sparkgen field -> the paths of the fields that have it, without fields in lists and maps."""
    found: dict[str, list[Path]] = {}
    for field in fields.own_fields(fields.document(kind)):
        if not any(isinstance(part, int) or part == "*" for part in field.path):
            found.setdefault(field.name, []).append(field.path[:-1])
    return {name: tuple(paths) for name, paths in found.items()}


@dataclass(frozen=True, slots=True)
class Stray:
    """A field `name` that `parent` does not have, in a document of `kind`; `root`: the whole document."""

    kind: str
    root: Field
    parent: Field
    name: str

    @property
    def spec(self) -> str:
        """The path of the application's fields in a document of this kind."""
        return "spec.template" if self.kind == fields.KINDS[1] else "spec"

    def suggestion(self, *, thorough: bool = True) -> Suggestion:
        """What to do about it. `thorough`: also look for the name and the place that were meant."""
        if (known_elsewhere := instead(self.parent.path, self.name)) is not None:
            code, step = known_elsewhere
            return Suggestion(step.replace("`spec.", f"`{self.spec}."), code)
        meant = self._meant() if thorough else None
        return meant or Suggestion(f"delete it, or list the valid fields: {self._list}")

    @property
    def _list(self) -> str:
        """The command that lists the fields of the parent."""
        shown = path_text(tuple(part for part in self.parent.path if isinstance(part, str)))
        return f"`sparkgen explain {shown}`" if self.parent.path else "`sparkgen explain`"

    def _meant(self) -> Suggestion | None:
        """The name or the place that was meant; None if there is no such name."""
        names = [child.name for child in self.parent.children()]
        spelling = {letters(name): name for name in names}.get(letters(self.name))
        if spelling is not None:
            return _rename(spelling)
        for find in (self._property, self._deeper, self._further_out, self._elsewhere):
            if (step_text := find()) is not None:
                return Suggestion(step_text)
        if (choice := self._required() or nearest(self.name, names)) is not None:
            return _rename(choice)
        return None

    def _required(self) -> str | None:
        """The required field whose name ends with this one: `path` of a mount means `mountPath`."""
        found = [
            child.name
            for child in self.parent.children()
            if child.required and letters(child.name).endswith(letters(self.name))
        ]
        return found[0] if len(found) == 1 and letters(self.name) else None

    def _property(self) -> str | None:
        """The next step for a Spark property that is not below `sparkConf`."""
        if not self.name.startswith("spark."):
            return None
        return f"it is a Spark property: move it to `{self.spec}.sparkConf`"

    def _deeper(self) -> str | None:
        """The next step for a field of a sibling, indented too little: `secretKeyRef` beside `name`."""
        if not self.parent.kubernetes:
            return None
        holders = [
            f"`{child.name}:`"
            for child in self.parent.children()
            if "properties" in child.schema and child.child(self.name) is not None
        ]
        return f"indent it below {either(holders[:2])}" if holders else None

    def _further_out(self) -> str | None:
        """The next step for a field of an outer field, indented too much."""
        for end in range(len(self.parent.path) - 1, -1, -1):
            outer = self.root.find(self.parent.path[:end])
            if outer is not None and any(child.name == self.name for child in outer.children()):
                place = f"`{path_text(outer.path)}`" if outer.path else "the document itself"
                return f"it is a field of {place}: move it there, with less indentation"
        return None

    def _elsewhere(self) -> str | None:
        """The next step for a field that has this name in another place."""
        paths = homes(self.kind).get(self.name, ())
        if not 0 < len(paths) <= MOST_HOMES:
            return None
        return f"move it to {either([f'`{path_text((*path, self.name))}`' for path in paths])}"


def _rename(name: str) -> Suggestion:
    return Suggestion(f"write `{name}`", rename=name)
