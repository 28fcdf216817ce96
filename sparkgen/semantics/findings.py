"""What a rule is, and what it finds in a document, before its line in the file is known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from operator import attrgetter
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, TypeVar

from sparkgen.errors import Path, Severity
from sparkgen.model import SERVER_KINDS

if TYPE_CHECKING:
    from sparkgen.semantics.facts import DocumentFacts, ServerFacts

ERROR, WARNING = Severity.ERROR, Severity.WARNING
APPLICATION = "application"
"""Stands for all kinds of documents except those of servers."""
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


@dataclass(frozen=True, slots=True)
class Rule:
    """A check with its code. The rule's page has its title: `pages/<code>-<name>.md`.

    `kinds`: the kinds of documents that it checks: APPLICATION, or those of servers. If applications and
    servers are checked for the same mistake in different ways, or it has several forms, each check is a rule
    with the same code.
    `check`: a pure function. `chart`: why the Helm chart has the rule, too; "" for most rules, which only
    `sparkgen validate` checks. The chart has the rules that protect security or names, or that need the
    values that Helm gets.
    """

    code: str
    severity: Severity
    kinds: tuple[str, ...]
    check: Callable[[Any], Iterable[Finding]]
    chart: str = ""


def rule(code: str, severity: Severity, chart: str = "") -> Callable[[Check], Rule]:
    """Returns a decorator that makes a rule of a check of applications."""
    return lambda check: Rule(code, severity, (APPLICATION,), check, chart)


def server_rule(
    code: str, severity: Severity, kinds: tuple[str, ...], chart: str = ""
) -> Callable[[ServerCheck], Rule]:
    """Returns a decorator that makes a rule of a check of servers of these kinds."""
    return lambda check: Rule(code, severity, kinds, check, chart)


AnyRule = TypeVar("AnyRule", bound=Rule)


def rules_in(package: str, kind_of_rule: type[AnyRule]) -> tuple[AnyRule, ...]:
    """Returns the rules in the modules `rules_*.py` of a package, in the order of their codes."""
    (folder,) = import_module(package).__path__
    names = sorted(path.stem for path in FilePath(folder).glob("rules_*.py"))
    values = [value for name in names for value in vars(import_module(f"{package}.{name}")).values()]
    return tuple(sorted((v for v in values if isinstance(v, kind_of_rule)), key=attrgetter("code")))


def rules_for(kind: str, rules: Iterable[AnyRule]) -> Iterator[AnyRule]:
    """Yields the rules that check documents of a kind."""
    wanted = kind if kind in SERVER_KINDS else APPLICATION
    return (rule for rule in rules if wanted in rule.kinds)
