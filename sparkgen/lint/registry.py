"""All policy rules, their profiles, and how documents are reviewed by them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from sparkgen import semantics
from sparkgen.errors import Problem, Severity
from sparkgen.lint import rules_trust
from sparkgen.lint.evidence import Evidence
from sparkgen.lint.findings import (
    COST,
    ERROR,
    GITOPS,
    PRODUCTION,
    PSS_RESTRICTED,
    WARNING,
    Edit,
    Finding,
    Rule,
)
from sparkgen.lint.serversubject import ServerSubject
from sparkgen.lint.settings import Settings
from sparkgen.lint.subject import Subject
from sparkgen.model import SERVER_KINDS
from sparkgen.semantics.findings import rules_for, rules_in
from sparkgen.semantics.registry import problem

if TYPE_CHECKING:
    from sparkgen.document.node import Document

PROFILES: Mapping[str, str] = {
    GITOPS: "Safe to sync with Argo CD or Flux: nothing runs twice, is killed, or changes unnoticed.",
    PSS_RESTRICTED: 'What Pod Security "restricted" would refuse, in driver and executor pods.',
    PRODUCTION: "What makes a run fail, hang, leak data or leave no trace; what scanners ask for.",
    COST: "What costs money without need.",
}
"""Profile -> its purpose."""

DEFAULT_PROFILES = (GITOPS, PSS_RESTRICTED, PRODUCTION)

RAISED: Mapping[str, Mapping[str, Severity]] = {
    GITOPS: {"SG135": ERROR, "SG188": ERROR},
    PSS_RESTRICTED: {"SG157": ERROR},
    PRODUCTION: {"SG117": ERROR, "SG118": ERROR},
}
"""Profile -> warnings of `sparkgen validate` that are errors in it."""

RULES = rules_in("sparkgen.lint", Rule)


def levels(profiles: Iterable[str]) -> dict[str, Severity]:
    """Code -> severity with these profiles, for their rules and all warnings of `validate`."""
    chosen = tuple(profiles)
    found = dict.fromkeys(validity_warnings(), WARNING)
    found |= {rule.code: rule.severity for rule in RULES if set(rule.profiles) & set(chosen)}
    for profile in chosen:
        found |= RAISED.get(profile, {})
    return found


@cache
def validity_warnings() -> tuple[str, ...]:
    """The codes of warnings of `sparkgen validate`, whose severity a policy may set, too."""
    meaning = [rule.code for rule in semantics.RULES if rule.severity is WARNING]
    return ("SG008", "SG018", *dict.fromkeys(meaning))


def check(
    document: Document, settings: Settings, evidence: tuple[Evidence, ...] = ()
) -> list[tuple[Problem, tuple[Edit, ...]]]:
    """The findings of all rules of all profiles in a valid document, each with the edits that would end it.

    `evidence`: the evidence of recorded runs, of this application and of others. All findings are warnings
    here, so that a comment can ignore them; the policy sets their severity later.
    """
    found: dict[Problem, tuple[Edit, ...]] = {}
    for rule, finding in findings_of(document.value, settings, evidence):
        found.setdefault(_problem(document, rule.code, finding), finding.fix)
    return list(found.items())


def check_together(documents: Sequence[Document]) -> list[tuple[int, Problem]]:
    """The findings that only several valid documents together show, each with the index of its document."""
    found = rules_trust.shared_services([document.value for document in documents])
    return [
        (index, _problem(documents[index], rules_trust.many_namespaces.code, finding))
        for index, finding in found
    ]


def _problem(document: Document, code: str, finding: Finding) -> Problem:
    on_key = finding.on_key or document.node.find(finding.path) is None
    return problem(document.node, code, WARNING, replace(finding, on_key=on_key))


def findings_of(
    value: Mapping[str, Any],
    settings: Settings,
    evidence: tuple[Evidence, ...] = (),
    rules: Iterable[Rule] = RULES,
) -> Iterator[tuple[Rule, Finding]]:
    """Yields what the rules find in a valid document's value, in their order."""
    server = value["kind"] in SERVER_KINDS
    subject = ServerSubject.of(value, settings) if server else Subject.of(value, settings, evidence)
    for rule in rules_for(value["kind"], rules):
        yield from ((rule, finding) for finding in rule.check(subject))
