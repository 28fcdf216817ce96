"""The findings of policy rules, and the edits that fix them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparkgen.errors import Path, Severity
from sparkgen.semantics import findings
from sparkgen.semantics.findings import APPLICATION

if TYPE_CHECKING:
    from sparkgen.lint.serversubject import ServerSubject
    from sparkgen.lint.subject import Subject
    from sparkgen.lint.view import View

ERROR, WARNING, INFO = Severity.ERROR, Severity.WARNING, Severity.INFO
GITOPS, PRODUCTION, PSS_RESTRICTED, COST = "gitops", "production", "pss-restricted", "cost"


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


@dataclass(frozen=True, slots=True)
class Rule(findings.Rule):
    """A rule of policy, which belongs to `profiles`."""

    check: Callable[[Any], Iterable[Finding]]
    profiles: tuple[str, ...] = ()


def rule(
    code: str, severity: Severity, *profiles: str
) -> Callable[[Callable[[Subject], Iterable[Finding]]], Rule]:
    """Returns a decorator that makes a rule of a check of applications."""
    return lambda check: Rule(code, severity, (APPLICATION,), check, profiles=profiles)


def server_rule(
    code: str, severity: Severity, *profiles: str, kinds: tuple[str, ...]
) -> Callable[[Callable[[ServerSubject], Iterable[Finding]]], Rule]:
    """Returns a decorator that makes a rule of a check of servers of these kinds."""
    return lambda check: Rule(code, severity, kinds, check, profiles=profiles)


def shared_rule(
    code: str, severity: Severity, *profiles: str, servers: tuple[str, ...]
) -> Callable[[Callable[[View], Iterable[Finding]]], Rule]:
    """Returns a decorator that makes a rule of a check of applications and of servers of these kinds."""
    return lambda check: Rule(code, severity, (APPLICATION, *servers), check, profiles=profiles)
