"""What a rule of policy says about a document, and what would put it right."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparkgen import semantics
from sparkgen.errors import Path, Severity

if TYPE_CHECKING:
    from sparkgen.lint.serversubject import ServerSubject
    from sparkgen.lint.subject import Subject


@dataclass(frozen=True, slots=True)
class Put:
    """Give the value at a path this value; what leads to it is made where it is missing."""

    path: Path
    value: Any


@dataclass(frozen=True, slots=True)
class Delete:
    """Take the key or the item at a path out, and what would be empty without it."""

    path: Path


Edit = Put | Delete


@dataclass(frozen=True, slots=True)
class Finding(semantics.Finding):
    """One thing that a rule found. `fix`: edits that end the finding and change nothing else."""

    fix: tuple[Edit, ...] = ()


Check = Callable[["Subject"], Iterable[Finding]]
ServerCheck = Callable[["ServerSubject"], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: `profiles` are those that it belongs to, `check` is a pure function."""

    code: str
    name: str
    severity: Severity
    profiles: tuple[str, ...]
    summary: str
    check: Check
