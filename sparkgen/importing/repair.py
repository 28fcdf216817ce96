"""Makes a document valid: what `validate` refuses is corrected or removed, and reported.

So every document that import writes is valid. A value of the wrong type gets the right type if its text
permits that (an unquoted 3.5). All other values with an error are removed, and reported as lost with the
rule's message. A required field gets a valid value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from sparkgen.document import Document
from sparkgen.document.parse import parse
from sparkgen.errors import Path, Position, Problem, Severity
from sparkgen.grammar.whole import whole
from sparkgen.importing.complete import REPOSITORY
from sparkgen.importing.draft import Draft
from sparkgen.importing.entry import Entry, Outcome
from sparkgen.importing.naming import FALLBACK
from sparkgen.importing.properties import HALF, HALF_STEP, has_half
from sparkgen.importing.provenance import entry_of, is_there, source_of, text_at, value_at
from sparkgen.importing.removal import take_out
from sparkgen.schema.repaired import UNKNOWN
from sparkgen.spark_versions import SUGGESTED

Examine = Callable[[Document], list[Problem]]
"""A function that returns all problems of a document."""

_ROUNDS = 200
_MOST_EXAMINED = 4_000_000
"""Characters of one document that are examined in all rounds: a large one has fewer of them."""
_OF_PROBLEM = 2_000
"""Characters that take as long as one problem."""
_FEW = 20
"""The most errors that are corrected one at a time; of more, those of one kind in lists go together."""
_ROOT_USER = "SG167"
_TOO_LARGE = "SG005"
_REQUIRED = {
    "sparkVersion": SUGGESTED,
    "image": f"{REPOSITORY}:{SUGGESTED}",
    "type": "Scala",
    "mainApplicationFile": "local:///opt/spark/work-dir/main.py",
    "schedule": "@daily",
}
"""A valid value for each required field."""


def repair(draft: Draft, text: Callable[[], str], examine: Examine) -> list[Problem]:
    """Change a draft until `examine` finds no error in its `text`.

    Returns the problems that are left: warnings, or the errors that remain after the last round. A
    document that is too large stays as it is, because no single value of it is wrong. So does one that has
    only errors without a path.
    """
    for problem in reversed([*_halves(draft.value, draft.origin)]):
        _put_right(draft, problem)
    problems: list[Problem] = []
    left = _MOST_EXAMINED
    for number in range(_ROUNDS):
        written = text()
        problems = problems_of(written, examine)
        left -= len(written) + _OF_PROBLEM * len(problems)
        errors = [problem for problem in problems if problem.severity is Severity.ERROR]
        of_values = [problem for problem in errors if problem.path]
        if not of_values or any(problem.code == _TOO_LARGE and not problem.path for problem in errors):
            break
        if left < 0 and number >= _FEW:
            break
        for problem in _next(errors):
            if problem.code not in UNKNOWN or is_there(draft.value, problem.path):
                _put_right(draft, problem)
    return problems


def _halves(value: Any, origin: Position, path: Path = ()) -> Iterator[Problem]:
    """Yields a problem for each value that has half of a surrogate pair, or whose name does."""
    if any(isinstance(text, str) and has_half(text) for text in (value, *path[-1:])):
        yield Problem("SG002", Severity.ERROR, origin, path, HALF, next_step=HALF_STEP)
    elif isinstance(value, dict | list):
        for part, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _halves(child, origin, (*path, part))


def _next(errors: Sequence[Problem]) -> list[Problem]:
    """Returns the errors to correct before the document is examined again: usually the one at the last place.

    One at a time, because one mistake can cause several errors. Later places first, because removing an item
    of a list moves those after it. Of many errors, those of the same kind in the same mapping or list, or in
    the same field of the items of a list, are corrected together, because examining a document takes longer
    the larger it is.
    """
    # To take an unknown field out of a mapping moves nothing, and to find out what is meant takes long.
    unknown = [problem for problem in errors if problem.code in UNKNOWN]
    if len(unknown) > _FEW:
        return sorted(unknown, key=lambda problem: _order(problem.path), reverse=True)
    last = max(errors, key=lambda problem: _order(problem.path))
    where = _item(last.path)
    if len(errors) <= _FEW or len(where) < 3:
        return [last]
    beside = {
        place: problem
        for problem in errors
        if problem.code == last.code and _shape((place := _item(problem.path))[:-1]) == _shape(where[:-1])
    }
    return sorted(beside.values(), key=lambda problem: _order(problem.path), reverse=True)


def note_emptied(draft: Draft) -> None:
    """Report copied values as lost if import then removed all their parts."""
    gone = [item for item in draft.entries if item.target and not is_there(draft.value, item.target)]
    reported = {item.source[:length] for item in draft.entries for length in range(1, len(item.source))}
    for item in gone:
        draft.entries.remove(item)
        if item.source and item.source not in reported:
            reason = "none of its values was valid"
            draft.entries.append(replace(item, outcome=Outcome.LOST, target=(), reason=reason, step=""))


def problems_of(text: str, examine: Examine) -> list[Problem]:
    """Returns the problems of a document's text."""
    parsed = parse(text.encode(), "imported")
    problems = [*parsed.problems]
    for composed in parsed.documents:
        root = composed.root
        if root is not None:
            document = Document(root, root.value, "imported", 0)
            problems += examine(document)
    return problems


def _order(path: Path) -> tuple[str, ...]:
    return tuple(f"{part:09d}" if isinstance(part, int) else part for part in path)


def _shape(path: Path) -> Path:
    """The path with one index for each item of a list."""
    return tuple(0 if isinstance(part, int) else part for part in path)


def _put_right(draft: Draft, problem: Problem) -> None:
    path = problem.path
    while path and not is_there(draft.value, path):
        path = path[:-1]
    if problem.code == "SG012" and _retyped(draft, path, problem, text_at(draft, path)):
        return
    if problem.code == _ROOT_USER and _allow_root(draft, path, problem):
        return
    path = _item(path)
    name = path[-1] if path else ""
    if name in _REQUIRED and path[:-1] in (("spec",), ("spec", "template")):
        _replace(draft, path, problem, entry_of(draft, path))
        return
    if len(path) < 2 or (path == ("spec", "template") and draft.scheduled) or path == ("metadata", "name"):
        _replace_name(draft, problem, entry_of(draft, path))
        return
    _note_lost(draft, path, problem)
    take_out(draft, path)


def _item(path: Path) -> Path:
    """Returns a path; for the name of a list's item, the item's path: the item needs its name."""
    return path[:-1] if len(path) > 1 and path[-1] == "name" and isinstance(path[-2], int) else path


def _allow_root(draft: Draft, path: Path, problem: Problem) -> bool:
    """Set `runAsNonRoot: false` beside `runAsUser: 0`. Returns whether that was possible."""
    strict = (*path[:-1], "runAsNonRoot")
    if path[-1:] != ("runAsUser",) or is_there(draft.value, strict):
        return False
    _set(draft.value, strict, False)
    reason = "sparkgen's default is true, with which a container of root never starts"
    draft.entries.append(Entry(Outcome.ADDED, (), problem.position, strict, reason))
    return True


def _retyped(draft: Draft, path: Path, problem: Problem, text: str | None) -> bool:
    """Give a value the type of its field. Returns whether that was possible."""
    value = value_at(draft.value, path)
    if text is None or isinstance(value, dict | list):
        return False
    if problem.allowed.startswith("a string"):
        _set(draft.value, path, text)
    elif "whole number" in problem.allowed and (number := whole(text.strip())) is not None:
        _set(draft.value, path, number)
    elif text.strip().lower() in ("true", "false") and "true" in problem.allowed:
        _set(draft.value, path, text.strip().lower() == "true")
    else:
        return False
    return True


def _replace(draft: Draft, path: Path, problem: Problem, entry: Entry | None) -> None:
    """Replace a required value by a valid one, and report the old value."""
    old = value_at(draft.value, path)
    _set(draft.value, path, _REQUIRED[str(path[-1])])
    reason = f"was {old}: {problem.message}"
    position, source = (entry.position, entry.source) if entry else (draft.origin, ())
    _drop(draft, entry)
    draft.entries.append(Entry(Outcome.CHANGED, source, position, path, reason, problem.next_step))
    draft.comments[path] = [f"TODO: {reason}"]


def _replace_name(draft: Draft, problem: Problem, entry: Entry | None) -> None:
    position = entry.position if entry else draft.origin
    draft.value.setdefault("metadata", {})["name"] = draft.names.make(FALLBACK)
    draft.entries.append(Entry(Outcome.GUESSED, (), position, ("metadata", "name"), problem.message))


def _note_lost(draft: Draft, path: Path, problem: Problem) -> None:
    """Report a removed value as lost: its whole entry, or its part of the entry.

    An item that lacks a value that import removed is removed for the same reason, and not reported again.
    """
    entry = entry_of(draft, path)
    source, position = source_of(draft, path, entry)
    reason, step = problem.message, problem.next_step
    before = draft.removed.get(problem.path)
    if before is not None:
        _drop(draft, before)
        reason, step = f"{problem.path[-1]}: {before.reason}", before.step
    elif entry is not None and entry.target == path and entry.outcome is Outcome.CHANGED:
        reason, step = f"{entry.reason}; {reason}", entry.step or step
    lost = Entry(Outcome.LOST, source, position, (), reason, step)
    draft.removed[path] = lost
    if entry is not None and entry.target == path and entry.source:
        _drop(draft, entry)
    _note_parts_lost(draft, path, lost)
    if source:  # its parts that were reported before need no line of their own
        draft.entries[:] = [item for item in draft.entries if not _is_lost_part(item, source)]
    parts = not source and any(item.reason == reason for item in draft.entries)
    # The value may have been copied to both roles. Sources are compared first, because that is faster.
    if not parts and not any(item.source == source and item == lost for item in draft.entries):
        draft.entries.append(lost)
    for place in [place for place in draft.comments if place[: len(path)] == path]:
        del draft.comments[place]
    for place in [place for place in draft.copied if place[: len(path)] == path]:
        del draft.copied[place]


def _is_lost_part(item: Entry, source: Path) -> bool:
    return (
        item.outcome is Outcome.LOST
        and len(item.source) > len(source)
        and item.source[: len(source)] == source
    )


def _note_parts_lost(draft: Draft, path: Path, lost: Entry) -> None:
    """Mark the entries below a removed value as lost, too; drop those that the entry `lost` covers."""
    if not any(item.target and item.target[: len(path)] == path for item in draft.entries):
        return
    draft.entries[:] = [
        replace(item, outcome=Outcome.LOST, target=(), reason=lost.reason, step=lost.step)
        if item.target[: len(path)] == path and item.target != path
        else item
        for item in draft.entries
        if item.target[: len(path)] != path
        or (item.source and (not lost.source or item.source[: len(lost.source)] != lost.source))
        or item.target == path
    ]


def _drop(draft: Draft, entry: Entry | None) -> None:
    if entry is not None and entry in draft.entries:
        draft.entries.remove(entry)


def _set(value: Any, path: Path, new: Any) -> None:
    """Set a value in a document. What contains it is copied, because the input's nodes share it."""
    for part in path[:-1]:
        copied = dict(value[part]) if isinstance(value[part], dict) else list(value[part])
        value[part] = copied
        value = copied
    value[path[-1]] = new
