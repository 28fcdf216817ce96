"""What importing gives: documents with what became of each value, and problems with reading the inputs."""

from __future__ import annotations

from dataclasses import dataclass

from sparkgen.errors import Position, Problem
from sparkgen.importing.entry import FINDINGS, Entry


@dataclass(frozen=True, slots=True)
class Imported:
    """One document.

    `text` is its YAML, `origin` where the application starts in the input, `kind` what it was there.
    `entries` are in the order of the input; `problems` are what still is wrong with it: () as a rule.
    """

    name: str
    namespace: str
    kind: str
    origin: Position
    text: str
    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def findings(self) -> tuple[Entry, ...]:
        """What a person has to look at: the lost first."""
        found = [entry for entry in self.entries if entry.outcome in FINDINGS]
        return tuple(sorted(found, key=lambda entry: FINDINGS.index(entry.outcome)))


@dataclass(frozen=True, slots=True)
class LeftAlone:
    """A document of an input that is no application: a Service, a Spark cluster.

    `step`: what to do about it, if anything. `finding`: it matters.
    """

    kind: str
    name: str
    position: Position
    reason: str
    step: str = ""
    finding: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """All that a call of `sparkgen import` found."""

    imported: tuple[Imported, ...]
    left_alone: tuple[LeftAlone, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def has_findings(self) -> bool:
        """Whether a person has anything to look at."""
        return bool(
            self.problems
            or any(item.finding for item in self.left_alone)
            or any(item.findings or item.problems for item in self.imported)
        )
