"""Errors of the functions that work in a cluster; each has a `code` for programs."""

from __future__ import annotations

from collections.abc import Sequence

from sparkgen.cluster import ClusterError
from sparkgen.errors import Problem, Severity, SparkgenError
from sparkgen.preflight import Finding
from sparkgen.usecases.apply import Applied


class PreflightFailed(SparkgenError):
    """Something would go wrong, so nothing was applied. `findings`: all of them, the worst first."""

    code = "PreflightFailed"

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        errors = [finding for finding in findings if finding.severity is Severity.ERROR]
        super().__init__("; ".join(_words(finding) for finding in errors))


def finding_of(problem: Problem) -> Finding:
    """Returns a problem of a document as a finding."""
    message = f"{problem.position}: {problem.message}"
    return Finding(problem.code, problem.severity, message, problem.next_step)


class NotApplied(ClusterError):
    """The cluster has refused an object. `applied`: what was applied before; `errors`: all that it said."""

    def __init__(self, errors: Sequence[ClusterError], applied: Sequence[Applied]) -> None:
        super().__init__("; ".join(map(str, errors)), errors[0].status, errors[0].said)
        self.errors = tuple(errors)
        self.applied = tuple(applied)


def _words(finding: Finding) -> str:
    return f"{finding.message}; next: {finding.next_step}" if finding.next_step else finding.message
