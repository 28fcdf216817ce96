"""The outcomes of an imported document's values: draft, report and tests use the same list."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from sparkgen.errors import Path, Position, key_text, path_text


class Outcome(enum.Enum):
    """The outcome of a value. The last three are findings: a person must look at them."""

    CARRIED = "kept"
    """The document says the same, in the same form."""
    REWRITTEN = "kept in another form"
    """The document says the same, in another form."""
    NEEDLESS = "not needed"
    """Left out without a loss: it is so here anyway, or it had no effect."""
    ADDED = "added"
    """Not in the input; the document needs it to mean the same."""
    CHANGED = "different meaning"
    """Kept as closely as possible; it means something else here."""
    GUESSED = "chosen"
    """Not in the input; the document needs it, and the value is a guess."""
    LOST = "lost"
    """The document has no way to say it."""


FINDINGS = (Outcome.LOST, Outcome.CHANGED, Outcome.GUESSED)
"""The findings, in the order in which they are reported."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The outcome of one value and of everything below it that has no entry of its own.

    `source`: its path in the input; for a command line the option, such as ("--conf", "spark.app.name"); ()
    for an addition. `target`: its path in the document; () if it is not there.
    """

    outcome: Outcome
    source: Path
    position: Position
    target: Path = ()
    reason: str = ""
    step: str = ""

    @property
    def subject(self) -> str:
        """The field that the entry is about: of the input, or, for an addition, of the document."""
        return source_text(self.source) if self.source else path_text(self.target)


def source_text(path: Path) -> str:
    """Returns a path of an input as text: `spec.driver.cores`, `--conf spark.app.name`, or `argument 3`."""
    first = str(path[0]) if path else ""
    if first.startswith("-") or first.endswith(".conf") or " " in first:
        return " ".join(key_text(str(part)) for part in path)
    return path_text(path)
