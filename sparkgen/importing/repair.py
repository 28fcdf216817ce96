"""The last word on a document is `validate`'s: what it refuses is put right or taken out, and reported.

So every document that is written validates. A value of the wrong type becomes the right one where its text
allows (an unquoted 3.5); everything else that is an error comes out, and is reported as lost with the words
of the rule. A field that must be there gets a value that can be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sparkgen.document import Document
from sparkgen.document.parse import parse
from sparkgen.errors import Path, Position, Problem, Severity
from sparkgen.grammar.whole import whole
from sparkgen.importing.complete import REPOSITORY
from sparkgen.importing.draft import Draft
from sparkgen.importing.entry import Entry, Outcome
from sparkgen.spark_versions import SUGGESTED

Examine = Callable[[Document], list[Problem]]
"""A function that finds everything that is wrong with a document."""

_ROUNDS = 200
_REQUIRED = {
    "sparkVersion": SUGGESTED,
    "image": f"{REPOSITORY}:{SUGGESTED}",
    "type": "Scala",
    "mainApplicationFile": "local:///opt/spark/work-dir/main.py",
    "schedule": "@daily",
}
"""A value that is valid for each field that must be there."""


def repair(draft: Draft, text: Callable[[], str], examine: Examine) -> list[Problem]:
    """Change a draft until `examine` finds no error in its `text`; what is still wrong then, [] as a rule."""
    errors: list[Problem] = []
    for _ in range(_ROUNDS):
        errors = errors_of(text(), examine)
        if not errors:
            return []
        # One at a time, because one mistake can be several errors; later places first, because taking out an
        # item of a list moves those behind it.
        _put_right(draft, max(errors, key=lambda problem: _order(problem.path)))
    return errors


def note_emptied(draft: Draft) -> None:
    """Say of what was carried over, and then taken out piece by piece, that it is not there any more."""
    draft.entries[:] = [
        replace(item, outcome=Outcome.LOST, target=(), reason="none of its values was valid", step="")
        if item.source and item.target and not _is_there(draft.value, item.target)
        else item
        for item in draft.entries
        if item.source or not item.target or _is_there(draft.value, item.target)
    ]


def errors_of(text: str, examine: Examine) -> list[Problem]:
    """The errors of a document's text."""
    parsed = parse(text.encode(), "imported")
    found = [problem for problem in parsed.problems if problem.severity is Severity.ERROR]
    for composed in parsed.documents:
        root = composed.root
        if root is not None:
            document = Document(root, root.value, "imported", 0)
            found += [p for p in examine(document) if p.severity is Severity.ERROR]
    return found


def _order(path: Path) -> tuple[str, ...]:
    return tuple(f"{part:09d}" if isinstance(part, int) else part for part in path)


def _put_right(draft: Draft, problem: Problem) -> None:
    path = problem.path
    while path and not _is_there(draft.value, path):
        path = path[:-1]
    if len(path) > 1 and path[-1] == "name" and isinstance(path[-2], int):
        path = path[:-1]  # an item of a list is nothing without its name
    entry, node_text = _entry(draft, path), _node_text(draft, path)
    if problem.code == "SG012" and _retyped(draft, path, problem, node_text):
        return
    name = path[-1] if path else ""
    if name in _REQUIRED and path[:-1] in (("spec",), ("spec", "template")):
        _replace(draft, path, problem, entry)
        return
    if len(path) < 2 or (path == ("spec", "template") and draft.scheduled) or path == ("metadata", "name"):
        _replace_name(draft, problem, entry)
        return
    _take_out(draft.value, path)
    _note_lost(draft, path, problem, entry)


def _retyped(draft: Draft, path: Path, problem: Problem, text: str | None) -> bool:
    """Give a value the type that its field has; whether that was possible."""
    value = _at(draft.value, path)
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
    """A value that must be there: one that can be, and a finding that says which one it was."""
    old = _at(draft.value, path)
    _set(draft.value, path, _REQUIRED[str(path[-1])])
    reason = f"was {old}: {problem.message}"
    position, source = (entry.position, entry.source) if entry else (draft.origin, ())
    _drop(draft, entry)
    draft.entries.append(Entry(Outcome.CHANGED, source, position, path, reason, problem.next_step))
    draft.comments[path] = [f"TODO: {reason}"]


def _replace_name(draft: Draft, problem: Problem, entry: Entry | None) -> None:
    position = entry.position if entry else draft.origin
    draft.value.setdefault("metadata", {})["name"] = "my-app"
    draft.entries.append(Entry(Outcome.GUESSED, (), position, ("metadata", "name"), problem.message))


def _note_lost(draft: Draft, path: Path, problem: Problem, entry: Entry | None) -> None:
    """Say of what was taken out that it is lost: the whole entry, or the part of it."""
    source, position = _source(draft, path, entry)
    lost = Entry(Outcome.LOST, source, position, (), problem.message, problem.next_step)
    if entry is not None and entry.target == path and entry.source:
        _drop(draft, entry)
    draft.entries[:] = [
        # Whatever stood below what is gone is gone with it.
        replace(item, outcome=Outcome.LOST, target=(), reason=problem.message, step=problem.next_step)
        if item.target[: len(path)] == path and item.source and item.target != path
        else item
        for item in draft.entries
        if item.source or item.target[: len(path)] != path
    ]
    draft.entries.append(lost)
    for place in [place for place in draft.comments if place[: len(path)] == path]:
        del draft.comments[place]
    for place in [place for place in draft.nodes if place[: len(path)] == path]:
        del draft.nodes[place]


def _drop(draft: Draft, entry: Entry | None) -> None:
    if entry is not None and entry in draft.entries:
        draft.entries.remove(entry)


def _entry(draft: Draft, path: Path) -> Entry | None:
    """The entry that says where a value of the document comes from: the one nearest above it."""
    above = [
        item
        for item in draft.entries
        if item.target and item.target == path[: len(item.target)] and item.source
    ]
    return max(above, key=lambda item: len(item.target), default=None)


def _source(draft: Draft, path: Path, entry: Entry | None) -> tuple[Path, Position]:
    """Where a value of the document stands in the input."""
    if entry is None:
        return (), draft.origin
    below = path[len(entry.target) :]
    node = draft.nodes.get(entry.target)
    if node is None or node.find(below) is None:
        return entry.source, entry.position
    return (*entry.source, *below), node.locate_key(below) if below else node.position


def _node_text(draft: Draft, path: Path) -> str | None:
    """The characters with which a scalar was written in the input."""
    for length in range(len(path), 0, -1):
        node = draft.nodes.get(path[:length])
        if node is not None:
            found = node.find(path[length:])
            return found.text if found is not None else None
    value = _at(draft.value, path)
    return value if isinstance(value, str) else None


def _is_there(value: Any, path: Path) -> bool:
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            return False
    return True


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


def _set(value: Any, path: Path, new: Any) -> None:
    """Set a value in a document; the mappings above are copied, because the input's nodes share them."""
    for part in path[:-1]:
        copied = dict(value[part]) if isinstance(value[part], dict) else list(value[part])
        value[part] = copied
        value = copied
    value[path[-1]] = new


def _take_out(value: Any, path: Path) -> None:
    """Remove a value; and what is empty without it, down to the sections of an application's spec."""
    parents = [value]
    for part in path[:-1]:
        copied = dict(value[part]) if isinstance(value[part], dict) else list(value[part])
        value[part] = copied
        value = copied
        parents.append(value)
    del value[path[-1]]
    for depth in range(len(path) - 1, 2, -1):
        if parents[depth] or isinstance(path[depth - 1], int):
            return
        del parents[depth - 1][path[depth - 1]]
