"""The findings of policy rules, and the edits that fix them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparkgen.errors import Path, Severity
from sparkgen.semantics import findings

if TYPE_CHECKING:
    from sparkgen.lint.serversubject import ServerSubject
    from sparkgen.lint.subject import Subject


@dataclass(frozen=True, slots=True)
class Put:
    """Set the value at a path; missing mappings on the way are created."""

    path: Path
    value: Any


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete the key or the item at a path, and mappings or lists that would then be empty."""

    path: Path


Edit = Put | Delete


@dataclass(frozen=True, slots=True)
class Finding(findings.Finding):
    """One finding of a rule. `fix`: edits that end the finding and change nothing else."""

    fix: tuple[Edit, ...] = ()


def unset(path: Path, message: str, next_step: str) -> Finding:
    """A finding about a key that is not there, or that means what it does by being there."""
    return Finding(path, message, next_step=next_step, on_key=True)


Check = Callable[["Subject"], Iterable[Finding]]
ServerCheck = Callable[["ServerSubject"], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: it belongs to `profiles`.

    `check` is for applications, `service` for shuffle services, `history` for history servers, `staging` for
    staging servers; all are pure functions.
    """

    code: str
    name: str
    severity: Severity
    profiles: tuple[str, ...]
    summary: str
    check: Check
    service: ServerCheck = findings.nothing
    history: ServerCheck = findings.nothing
    staging: ServerCheck = findings.nothing
