"""Problems as SARIF 2.1.0 (OASIS), which code scanning services read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from sparkgen.errors import Problem, Severity, path_text
from sparkgen.reports.context import Context, Rule
from sparkgen.reports.github import is_file
from sparkgen.terminal import visible

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def as_sarif(problems: Sequence[Problem], context: Context) -> str:
    """A log with one run; its rules are those of the problems' codes, with their pages as help."""
    codes = sorted({problem.code for problem in problems})
    driver = {
        "name": "sparkgen",
        "semanticVersion": context.version,
        "rules": [_rule(code, problems, context.rules.get(code)) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(problem, codes.index(problem.code)) for problem in problems],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2) + "\n"


def _rule(code: str, problems: Sequence[Problem], rule: Rule | None) -> dict[str, Any]:
    severity = next(problem.severity for problem in problems if problem.code == code)
    described = {
        "id": code,
        "shortDescription": {"text": rule.title if rule else code},
        "defaultConfiguration": {"level": _LEVELS[severity]},
    }
    if rule:
        described["help"] = {"text": rule.page, "markdown": rule.page}
    return described


def _result(problem: Problem, rule_index: int) -> dict[str, Any]:
    where = path_text(problem.path)
    location: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": where, "kind": "member"}]}
    if is_file(problem.position.file):
        location["physicalLocation"] = {
            "artifactLocation": _artifact(problem.position.file),
            "region": {"startLine": problem.position.line, "startColumn": problem.position.column},
        }
    return {
        "ruleId": problem.code,
        "ruleIndex": rule_index,
        "level": _LEVELS[problem.severity],
        "message": {"text": _message(problem, where)},
        "locations": [location],
    }


def _message(problem: Problem, where: str) -> str:
    """The message, without a link: SARIF reads `[text](target)` as a link (SARIF 2.1.0, section 3.11.6)."""
    details = (("Found", problem.found), ("Allowed", problem.allowed), ("Next", problem.next_step))
    parts = [f"{where}: {problem.message}" if problem.path else problem.message]
    lines = [*parts, *(f"{label}: {value}" for label, value in details if value)]
    return "\n".join(
        visible(line).replace("](", "] (") for line in lines
    )  # a link, by SARIF's section 3.11.6


def _artifact(file: str) -> dict[str, str]:
    """The URI of a file: relative to the source root, or a file URI if the user named an absolute path."""
    path = quote(file.replace("\\", "/"), safe="/~", errors="surrogateescape")
    return (
        {"uri": f"file://{path}"}
        if path.startswith("/")
        else {"uri": path.removeprefix("./"), "uriBaseId": "%SRCROOT%"}
    )
