"""Put right what can be put right without a decision, in the text of a file.

Each fix is tried by itself, and kept only if the new text means what the edit says and nothing else, if the
finding is gone, and if nothing new is found. What the edit of a warning of validity takes out must have had
no effect: the objects that are rendered are the same. So the number of findings falls with each fix: fixing
ends, and fixing twice is fixing once.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparkgen import model, resources
from sparkgen.document import load
from sparkgen.errors import Problem, Severity
from sparkgen.lint.findings import Delete, Edit, Put
from sparkgen.lint.yamltext import Unfixable, applied, edited, whole_of

if TYPE_CHECKING:
    from sparkgen.document import Document

Found = tuple[Problem, tuple[Edit, ...]]
Find = Callable[["Document"], Sequence[Found]]
"""What is found in a document and not ignored, each with the edits that would end it."""

IDLE = frozenset({"SG110", "SG121", "SG168", "SG170", "SG189"})
"""Warnings of validity about what has no effect: it can go, if that is really so."""
BOOLEAN_WORD = "SG008"


@dataclass(frozen=True, slots=True)
class Fixed:
    """A file's bytes after all fixes, and the findings that they ended, in the order of the fixes."""

    data: bytes
    done: tuple[Problem, ...]


def edits_of(problem: Problem, document: Document) -> tuple[Edit, ...]:
    """The edits that would end a warning of validity; () where a person has to decide."""
    if problem.code in IDLE and problem.path:
        return (Delete(problem.path),)
    if problem.code == BOOLEAN_WORD:
        node = document.node.find(problem.path)
        if node is not None and isinstance(node.value, bool):
            return (Put(problem.path, node.value),)
    return ()


def fix_text(data: bytes, find: Find) -> Fixed:
    """A file's bytes with all that can be fixed. Bytes that are no readable documents stay as they are."""
    done: list[Problem] = []
    refused: set[object] = set()
    documents = _documents(data)
    while True:
        for document, group in _groups(documents, find):
            key = (document.index, group[0][0].code, tuple(problem.path for problem, _ in group))
            if key in refused:
                continue
            better = _tried(data, documents, document, group, find)
            if better is None:
                refused.add(key)
                continue
            data, documents = better, _documents(better)
            done.extend(problem for problem, _ in group)
            break
        else:
            return Fixed(data, tuple(done))


def _documents(data: bytes) -> tuple[Document, ...]:
    """The documents in a file's bytes; none if any is broken."""
    loaded = load(("-",), stdin=lambda: data)
    broken = any(problem.severity is Severity.ERROR for problem in loaded.problems)
    return () if broken else loaded.documents


def _groups(documents: Sequence[Document], find: Find) -> list[tuple[Document, list[Found]]]:
    """Findings that can be fixed. Those that an alias brings stand at one place, and are fixed together."""
    groups: dict[object, tuple[Document, list[Found]]] = {}
    for document in documents:
        for problem, edits in find(document):
            if edits:
                key = (document.index, problem.code, problem.position)
                groups.setdefault(key, (document, []))[1].append((problem, edits))
    return list(groups.values())


def _tried(
    data: bytes, documents: Sequence[Document], document: Document, group: list[Found], find: Find
) -> bytes | None:
    """The bytes with the edits of a group of findings, or None if that cannot be done safely."""
    try:
        expected, text = document.value, _text(data)
        for _, edits in group:
            for edit in edits:
                expected, text = _edited(expected, text, document.index, edit, force=group[0][0].code)
    except Unfixable:
        return None
    better = codecs.BOM_UTF8 * data.startswith(codecs.BOM_UTF8) + text.encode()
    after = _documents(better)
    wanted = [expected if other is document else other.value for other in documents]
    if [_exact(other.value) for other in after] != [_exact(value) for value in wanted]:
        return None
    (changed,) = (new for old, new in zip(documents, after, strict=True) if old is document)
    gone = {(problem.code, problem.path) for problem, _ in group}
    left = {(problem.code, problem.path) for problem, _ in find(changed)}
    known = {(problem.code, problem.path) for problem, _ in find(document)}
    if left & gone or left - known:
        return None
    if group[0][0].code in IDLE and _rendered(changed) != _rendered(document):
        return None
    return better


def _edited(value: Any, text: str, index: int, edit: Edit, *, force: str) -> tuple[Any, str]:
    """Value and text after one edit; one that an earlier one has made through an alias is none."""
    if isinstance(edit, Delete):
        edit = Delete(whole_of(value, edit.path))
    new = applied(value, edit)
    if force == BOOLEAN_WORD or not _holds(text, index, new):
        text = edited(text, index, edit)
    return new, text


def _holds(text: str, index: int, value: Any) -> bool:
    """Whether a document of the text has this value already."""
    found = [document for document in _documents(text.encode()) if document.index == index]
    return bool(found) and _exact(found[0].value) == _exact(value)


def _exact(value: Any) -> str:
    """A value with its types, in which 1 and true differ; the order of keys counts for nothing."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{_exact(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_exact, value)) + "]"
    return repr(value)


def _text(data: bytes) -> str:
    return data.decode("utf-8").removeprefix("\ufeff")


def _rendered(document: Document) -> object:
    return resources.render(model.describe(document.value))
