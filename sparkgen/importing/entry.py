"""What became of each value of an imported document, as values: one list is draft, report and test alike."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from sparkgen.errors import Path, Position, path_text


class Outcome(enum.Enum):
    """What became of a value. The last three are findings: a person has to look at them."""

    CARRIED = "kept"
    """It says the same here, in the same words."""
    REWRITTEN = "kept in another form"
    """It says the same here, in other words."""
    NEEDLESS = "not needed"
    """It is left out, and nothing is lost: it said what is so here anyway, or had no effect."""
    ADDED = "added"
    """It was not said there, and has to be said here to mean the same."""
    CHANGED = "different meaning"
    """It is carried over as near as possible, and means something else here."""
    GUESSED = "chosen"
    """It was not said there, has to be said here, and is a guess."""
    LOST = "lost"
    """There is nothing here that says it."""


FINDINGS = (Outcome.LOST, Outcome.CHANGED, Outcome.GUESSED)
"""In the order in which they are reported."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What became of one value and of everything below it that has no entry of its own.

    `source`: where it stands in the input, as a path; for a command line the option, such as ("--conf",
    "spark.app.name"); () for what was added. `target`: where it stands in the document; () if nowhere.
    """

    outcome: Outcome
    source: Path
    position: Position
    target: Path = ()
    reason: str = ""
    step: str = ""

    @property
    def subject(self) -> str:
        """The field that a person looks for: of the input, or of the document where it was added."""
        return source_text(self.source) if self.source else path_text(self.target)


def source_text(path: Path) -> str:
    """A path of an input: `spec.driver.cores`, `--conf spark.app.name`, or `argument 3`."""
    first = str(path[0]) if path else ""
    if first.startswith("-") or first.endswith(".conf") or " " in first:
        return " ".join(str(part) for part in path)
    return path_text(path)
