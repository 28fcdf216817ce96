"""What a rule finds in a document, before its line in the file is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkgen.errors import Path, Severity

if TYPE_CHECKING:
    from sparkgen.semantics.facts import DocumentFacts, ServerFacts


_LONGEST = 100
"""Characters; a message does not repeat a longer key."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of a rule.

    `path` starts at the document's root. `on_key`: the key is wrong, not its value. The texts are those of
    `sparkgen.errors.Problem`. None of them may contain a secret.
    """

    path: Path
    message: str
    found: str = ""
    allowed: str = ""
    next_step: str = ""
    on_key: bool = False


def about_key(path: Path, message: str, next_step: str, allowed: str = "") -> Finding:
    """Returns a finding about a key: it should be deleted or replaced, or something is missing below it."""
    key = str(path[-1])
    return Finding(path, message, key if len(key) <= _LONGEST else "", allowed, next_step, on_key=True)


Check = Callable[["DocumentFacts"], Iterable[Finding]]
ServerCheck = Callable[["ServerFacts"], Iterable[Finding]]


def nothing(_: object) -> tuple[()]:
    """The check of a rule that does not apply to a kind of documents: it finds nothing."""
    return ()


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: `name` is its code in words, `summary` says what it finds.

    `check` is for applications, `service` for shuffle services, `history` for history servers, `staging` for
    staging servers; all are pure functions. `chart`: why the Helm chart has the rule, too; "" for most rules,
    which only `sparkgen validate` checks. The chart has the rules that protect security or names, or without
    which nothing would prevent a failed nightly run or a loss of money.
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
