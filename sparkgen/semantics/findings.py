"""What a rule says about a document, before it has a place in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkgen.errors import Path, Severity

if TYPE_CHECKING:
    from sparkgen.semantics.facts import DocumentFacts, ServerFacts


_LONGEST = 100
"""Longer keys are not repeated in a message."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a rule found.

    `path` is from the document's root; `on_key` says that the key is wrong and not its value. The texts are
    those of `sparkgen.errors.Problem`. A secret never stands in any of them.
    """

    path: Path
    message: str
    found: str = ""
    allowed: str = ""
    next_step: str = ""
    on_key: bool = False


def about_key(path: Path, message: str, next_step: str, allowed: str = "") -> Finding:
    """A finding about a key: it should not be there, or be another one."""
    key = str(path[-1])
    return Finding(path, message, key if len(key) <= _LONGEST else "", allowed, next_step, on_key=True)


Check = Callable[["DocumentFacts"], Iterable[Finding]]
ServerCheck = Callable[["ServerFacts"], Iterable[Finding]]


def nothing(_: object) -> Iterable[Finding]:
    """The check of a rule that has nothing to say about a kind of documents."""
    return ()


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: `name` is its code in words, `summary` says what it finds.

    `check` looks at applications, `service` at shuffle services, `history` at history servers, `staging`
    at staging servers; all are pure functions. `chart` says why the Helm chart has the rule, too; most rules
    it leaves to `sparkgen validate`. It has a rule for what guards security or names, or what else costs a
    night or money because nothing stops it.
    """

    code: str
    name: str
    severity: Severity
    summary: str
    check: Check
    service: ServerCheck = nothing
    history: ServerCheck = nothing
    staging: ServerCheck = nothing
    chart: str = ""
