"""The changes that a command applies to every document: overlays, then single values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkgen.document.comments import find_ignores
from sparkgen.document.ignores import Ignore, apply_ignores
from sparkgen.document.locks import others
from sparkgen.document.overlay import assign, merge
from sparkgen.document.parse import Parsed, parse
from sparkgen.document.setvalues import Assignment, SetError, parse_set
from sparkgen.document.sources import LOCK_SUFFIX, shown_name
from sparkgen.document.text import shortened
from sparkgen.errors import Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sparkgen.document.composer import Composed
    from sparkgen.document.node import Node
    from sparkgen.document.sources import Reader


@dataclass(frozen=True, slots=True)
class Changes:
    """Overlays and single values, each in the order given, and the ignore comments of the overlays.

    `problems`: the problems with reading them. `complete`: whether all of them could be read completely.
    """

    overlays: tuple[Node, ...]
    assignments: tuple[Assignment, ...]
    ignores: tuple[Ignore, ...]
    problems: tuple[Problem, ...]
    complete: bool

    def apply(self, root: Node) -> Node:
        """The document's root with all changes. Raises SetError if a single value does not fit."""
        for overlay in self.overlays:
            root = merge(root, overlay)
        for assignment in self.assignments:
            root = assign(root, assignment)
        return root


def read_changes(
    reader: Reader, values: Sequence[str], sets: Sequence[str], set_strings: Sequence[str]
) -> Changes:
    """Read `-f` files, `--set` and `--set-string` arguments. Never raises for bad input."""
    overlays: list[Node] = []
    ignores: list[Ignore] = []
    problems: list[Problem] = []
    complete = True
    for name in values:
        overlay = _read_overlay(reader, name)
        overlays.extend(overlay.overlays)
        ignores.extend(overlay.ignores)
        problems.extend(overlay.problems)
        complete = complete and overlay.complete
    assignments, wrong = _read_sets(sets, set_strings)
    problems.extend(wrong)
    return Changes(
        tuple(overlays), tuple(assignments), tuple(ignores), tuple(problems), complete and not wrong
    )


def _read_sets(sets: Iterable[str], set_strings: Iterable[str]) -> tuple[list[Assignment], list[Problem]]:
    assignments: list[Assignment] = []
    problems: list[Problem] = []
    for option, texts, strings in (("--set", sets, False), ("--set-string", set_strings, True)):
        for number, text in enumerate(texts, start=1):
            try:
                assignments.extend(parse_set(text, option, number, strings=strings))
            except SetError as error:
                problems.append(error.problem)
    return assignments, problems


def _read_overlay(reader: Reader, name: str) -> Changes:
    """The changes of one `-f` file. It has any number of documents, which merge in order as in Helm."""
    data = reader.read(name)
    if isinstance(data, Problem):
        return Changes((), (), (), (_unreadable(data),), complete=False)
    parsed = parse(data, shown_name(name))
    ignores, malformed = find_ignores(parsed, shown_name(name), shared=True)
    roots = [found.root for found in parsed.documents if found.root is not None and has_content(found)]
    wrong = [_no_mapping(root) for root in roots if not root.is_mapping]
    wrong += [problem for root in roots if name.endswith(LOCK_SUFFIX) for problem in others(root)]
    problems = (*_all_problems(parsed), *malformed, *wrong)
    return Changes(
        tuple(root for root in roots if root.is_mapping),
        (),
        ignores,
        apply_ignores(problems, ignores)[0],
        complete=not wrong and not parsed.problems,
    )


def has_content(found: Composed) -> bool:
    """Whether a document has more than comments."""
    return found.root is not None and (found.root.value is not None or bool(found.problems))


def _all_problems(parsed: Parsed) -> list[Problem]:
    return [*(problem for found in parsed.documents for problem in found.problems), *parsed.problems]


def _unreadable(problem: Problem) -> Problem:
    message = f"the overlay cannot be read: {problem.message}"
    return replace(problem, code="SG017", message=message)


def _no_mapping(root: Node) -> Problem:
    what = "a list" if root.is_list else "a single value"
    message = f"an overlay must be a mapping, not {what}"
    step = "start with the document's top-level keys: `spec:`, and below it what differs"
    return Problem("SG017", Severity.ERROR, root.position, (), message, shortened(root.text), next_step=step)
