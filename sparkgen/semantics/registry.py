"""All semantic rules, and how documents are checked by them.

A rule is a check in one of the modules `rules_*.py`, with its code and severity above it; its page is in
`pages/`. An error is something that the API server or Spark would refuse or silently ignore. Everything else
is a warning, which a comment beside it can switch off. The Helm chart has the few rules with a `chart`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sparkgen.errors import Problem, Severity
from sparkgen.model import SERVER_KINDS
from sparkgen.semantics import rules_delivery
from sparkgen.semantics.facts import DocumentFacts, ServerFacts
from sparkgen.semantics.findings import Finding, Rule, rules_for, rules_in
from sparkgen.semantics.secret import redacted

if TYPE_CHECKING:
    from sparkgen.document.node import Document, Node

RULES_OF_FILES = (rules_delivery.not_pushed, rules_delivery.pushed_otherwise)
"""Rules about local files that need only the document. If the files can be read, `usecases/local_files.py`
finds these problems and those that only the files show, and knows which command to run."""

RULES = tuple(rule for rule in rules_in("sparkgen.semantics", Rule) if rule not in RULES_OF_FILES)


def findings_of(value: Mapping[str, Any], rules: Iterable[Rule] = RULES) -> list[tuple[Rule, Finding]]:
    """Returns all findings in a document's value that the schema accepts, in the order of the rules."""
    facts = ServerFacts.of(value) if value["kind"] in SERVER_KINDS else DocumentFacts.of(value)
    return [(rule, found) for rule in rules_for(value["kind"], rules) for found in rule.check(facts)]


def problem(node: Node, code: str, severity: Severity, finding: Finding) -> Problem:
    """Returns a finding in a document as a problem, at its place in the text."""
    locate = node.locate_key if finding.on_key else node.locate
    return Problem(
        code,
        severity,
        locate(finding.path),
        finding.path,
        redacted(finding.message),
        redacted(finding.found),
        finding.allowed,
        redacted(finding.next_step),
    )


def check(document: Document) -> list[Problem]:
    """Returns the problems that the rules find in a schema-valid document, in the order of its text."""
    problems = [
        problem(document.node, rule.code, rule.severity, finding)
        for rule, finding in findings_of(document.value)
    ]
    return sorted(problems, key=lambda problem: problem.sort_key)
