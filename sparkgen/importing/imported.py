"""The results of an import: documents with the outcome of each value, and the problems of the inputs."""

from __future__ import annotations

from dataclasses import dataclass

from sparkgen.errors import Position, Problem
from sparkgen.importing.entry import FINDINGS, Entry


@dataclass(frozen=True, slots=True)
class Imported:
    """One imported document.

    `text`: its YAML; `origin`: where the application starts in the input; `kind`: its kind there. `entries`:
    in the order of the input; `problems`: the errors that are left, usually ().
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
        """What a person must look at, in the order of FINDINGS."""
        unresolved = [entry for entry in self.entries if entry.outcome in FINDINGS]
        return tuple(sorted(unresolved, key=lambda entry: FINDINGS.index(entry.outcome)))


@dataclass(frozen=True, slots=True)
class LeftAlone:
    """A part of an input that import does not convert, such as a Service or a Spark cluster.

    `step`: the next step, if there is any. `finding`: a person must look at it.
    """

    kind: str
    name: str
    position: Position
    reason: str
    step: str = ""
    finding: bool = False


@dataclass(frozen=True, slots=True)
class Result:
    """The results of one call of `sparkgen import`."""

    imported: tuple[Imported, ...]
    left_alone: tuple[LeftAlone, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def has_findings(self) -> bool:
        """Whether a person must look at anything."""
        return bool(
            self.problems
            or any(item.finding for item in self.left_alone)
            or any(item.findings or item.problems for item in self.imported)
        )
