"""Reviews documents by the rules of policy, with the severities that a configuration gives them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from sparkgen.document import configuration
from sparkgen.document.configuration import Configured
from sparkgen.document.ignores import ENDED
from sparkgen.document.sources import read_file
from sparkgen.errors import Problem, Severity, SparkgenError
from sparkgen.lint import PROFILES, Config, Policy
from sparkgen.lint.config import OFF
from sparkgen.lint.configfile import NEVER, SEVERITIES, configurable, read_config
from sparkgen.lint.evidence import Evidence, unused
from sparkgen.lint.fix import edits_of
from sparkgen.lint.registry import check as review
from sparkgen.lint.registry import check_together as review_together
from sparkgen.semantics.wording import listed
from sparkgen.usecases.inputs import Inputs
from sparkgen.usecases.validate import check, examine

if TYPE_CHECKING:
    from sparkgen.document import Document
    from sparkgen.lint.findings import Edit

    Found = tuple[Problem, tuple[Edit, ...]]
    Reviews = Callable[[Callable[[Document], list[Found]], Sequence[Document]], Iterable[list[Found]]]

_RANK = {severity: rank for rank, severity in enumerate(SEVERITIES.values())}


@dataclass(frozen=True)
class LintOptions:
    """The options of a review: its rules, and what counts; "" and () leave it to the configuration.

    `profiles`: names of PROFILES; `rules`: such as `SG220=off`; `fail_on`, `show`: the lowest severity that
    counts, or is shown; `config`: the path of the configuration, instead of the one that is found;
    `isolated`: use no configuration; `evidence`: event logs of runs.
    """

    profiles: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    fail_on: str = ""
    show: str = ""
    config: str = ""
    isolated: bool = False
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Review:
    """A policy, the folder that its patterns are relative to, and its file's settings for documents.

    `evidence`: from recorded runs.
    """

    policy: Policy
    folder: str
    configured: Configured = field(default_factory=Configured)
    evidence: tuple[Evidence, ...] = ()

    def find(self, document: Document) -> list[Found]:
        """Returns all problems of a document, with the edits that would fix them if it has no errors."""
        problems = examine(document)
        if any(problem.severity is Severity.ERROR for problem in problems):
            return [(problem, ()) for problem in problems]
        own = [(problem, edits_of(problem, document)) for problem in (*document.warnings, *problems)]
        return [*own, *review(document, self.policy.config.settings, self.evidence)]

    def weighed(self, problem: Problem, file: str) -> Problem | None:
        """Returns a problem with the policy's severity; None if the policy has switched it off."""
        if problem.severity is Severity.ERROR:
            return problem
        path = os.path.relpath(os.path.realpath(file), self.folder).replace(os.sep, "/")
        severity = self.policy.levels(path).get(problem.code)
        return None if severity is None else replace(problem, severity=severity)


@dataclass(frozen=True, slots=True)
class Findings:
    """The problems that were found, with the policy's severities.

    `documents`: how many were reviewed; `found`: all problems; `counted`: those that make a review fail;
    `visible`: those that the configuration shows; `fixable`: those that can be fixed without a decision.
    """

    documents: int
    found: tuple[Problem, ...]
    counted: frozenset[Problem]
    visible: frozenset[Problem]
    fixable: frozenset[Problem]


def lint(inputs: Inputs, chosen: Review, stdin: Callable[[], bytes], reviews: Reviews) -> Findings:
    """Review documents. `reviews`: calls the review for each document, one after the other or in parallel."""
    sources: dict[Problem, str] = {}
    fixable: set[Problem] = set()

    def policy(documents: Sequence[Document]) -> Iterable[list[Problem]]:
        _all_used(documents, chosen.evidence)
        reviewed = _together(documents, list(reviews(chosen.find, documents)))
        for document, own_findings in zip(documents, reviewed, strict=True):
            for problem, edits in own_findings:
                sources.setdefault(problem, document.source)
                if edits:
                    fixable.add(problem)
            own = set(document.warnings)
            yield [problem for problem, _ in own_findings if problem not in own]

    checked = check(replace(inputs, configured=chosen.configured), stdin, policy)
    weighed = [
        (problem, chosen.weighed(problem, sources.get(problem, problem.position.file)))
        for problem in checked.problems
    ]
    originals = {final: problem for problem, final in weighed if final is not None}
    least, lowest = chosen.policy.config.fail_on, _RANK[chosen.policy.config.show]
    return Findings(
        len(checked.documents),
        tuple(originals),
        frozenset(problem for problem in originals if _counts(problem, originals[problem], least)),
        frozenset(problem for problem in originals if _RANK[problem.severity] >= lowest),
        frozenset(problem for problem in originals if originals[problem] in fixable),
    )


def _all_used(documents: Sequence[Document], evidence: tuple[Evidence, ...]) -> None:
    """Raises SparkgenError for a recorded run that belongs to no document, or may belong to several."""
    names = [name for document in documents if (name := _name(document))]
    lost = unused(names, evidence)
    if lost and lost[0].application:
        raise SparkgenError(
            f"{lost[0].source} is a run of {lost[0].application}, but no document has this name; "
            "add its document"
        )
    if lost:
        raise SparkgenError(f"{lost[0].source} does not name its application; lint it with only one document")


def _name(document: Document) -> str:
    metadata = document.value.get("metadata") if isinstance(document.value, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def _together(documents: Sequence[Document], reviewed: Sequence[list[Found]]) -> list[list[Found]]:
    """Returns the findings of each document, and those that all valid documents have together."""
    valid = [
        index
        for index, findings in enumerate(reviewed)
        if not any(problem.severity is Severity.ERROR for problem, _ in findings)
    ]
    result = [list(findings) for findings in reviewed]
    for index, problem in review_together([documents[place] for place in valid]):
        result[valid[index]].append((problem, ()))
    return result


def _counts(problem: Problem, original: Problem, least: Severity | None) -> bool:
    """Whether a finding makes the command fail: errors of validation always do."""
    if original.severity is Severity.ERROR:
        return True
    return least is not None and _RANK[problem.severity] >= _RANK[least]


def review_of(options: LintOptions) -> Review | tuple[Problem, ...]:
    """Returns the policy of a call, or its configuration's problems. SparkgenError for wrong options."""
    name = options.config or ("" if options.isolated else configuration.found())
    if options.config and options.isolated:
        raise SparkgenError("--config and --isolated cannot be combined; leave one of them out")
    read: Config | tuple[Problem, ...] = Config()
    if name:
        data = read_file(name)
        read = (data,) if isinstance(data, Problem) else read_config(data, name)
    if isinstance(read, tuple):
        return read
    if options.fail_on:
        read = replace(read, fail_on=_severity("--fail-on", options.fail_on, NEVER))
    if options.show:
        read = replace(read, show=_severity("--show", options.show) or read.show)
    unknown = [profile for profile in options.profiles if profile not in PROFILES]
    if unknown:
        raise SparkgenError(f"unknown profile {unknown[0]}; use {', '.join(PROFILES)}")
    rules = dict(_rule(text) for text in options.rules)
    folder = os.path.realpath(Path(name).parent if name else ".")
    policy = Policy(read, options.profiles, rules)
    return Review(policy, folder, configuration.settings_of(name), _evidence(options.evidence))


def _evidence(logs: Iterable[str]) -> tuple[Evidence, ...]:
    from sparkgen.whatif.evidence import evidence_of  # noqa: PLC0415 - for this option alone

    return tuple(evidence_of(log) for log in logs)


def _rule(text: str) -> tuple[str, Severity | None]:
    code, equals, word = text.partition("=")
    code = code.strip().upper()
    if not equals:
        raise SparkgenError(f"--rule {text} has no severity; write --rule {code or 'SG220'}={OFF}")
    if code not in configurable():
        raise SparkgenError(
            f"--rule {text}: {code or 'it'} is not a warning, and only warnings can be changed; to list all "
            "rules: sparkgen rule"
        )
    return ENDED.get(code, code), _severity("--rule", word.strip(), OFF)


def _severity(option: str, word: str, *nothing: str) -> Severity | None:
    allowed = (*SEVERITIES, *nothing)
    if word.lower() not in allowed:
        raise SparkgenError(f"{option}: unknown severity {word!r}; use {listed(allowed, 'or')}")
    return SEVERITIES.get(word.lower())
