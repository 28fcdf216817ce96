"""Makes all fixes that need no decision, in the text of a file.

Each fix is tried alone. It is kept only if the new text means exactly what the edit says, if the finding is
gone, and if there is no new finding. A field that is deleted because of a warning of `validate` must have had
no effect: the rendered objects must be equal. So each fix lowers the number of findings: fixing ends, and
fixing a second time changes nothing.
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
"""Returns the findings in a document that are not ignored, each with the edits that would end it."""

IDLE = frozenset({"SG110", "SG121", "SG168", "SG170", "SG189"})
"""Warnings of `validate` about fields without effect: these can be deleted, if they really have none."""
BOOLEAN_WORD = "SG008"


@dataclass(frozen=True, slots=True)
class Fixed:
    """A file's bytes after all fixes, and the findings that the fixes ended, in their order."""

    data: bytes
    done: tuple[Problem, ...]


def edits_of(problem: Problem, document: Document) -> tuple[Edit, ...]:
    """The edits that would end a warning of `validate`; () if users have to decide."""
    if problem.code in IDLE and problem.path:
        return (Delete(problem.path),)
    if problem.code == BOOLEAN_WORD:
        node = document.node.find(problem.path)
        if node is not None and isinstance(node.value, bool):
            return (Put(problem.path, node.value),)
    return ()


def fix_text(data: bytes, find: Find) -> Fixed:
    """A file's bytes after all possible fixes. Bytes that are no readable documents stay unchanged."""
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
    """The documents in a file's bytes; () if one of them has an error."""
    loaded = load(("-",), stdin=lambda: data)
    broken = any(problem.severity is Severity.ERROR for problem in loaded.problems)
    return () if broken else loaded.documents


def _groups(documents: Sequence[Document], find: Find) -> list[tuple[Document, list[Found]]]:
    """The fixable findings. Findings with one position, as through an alias, are fixed together."""
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
    """Value and text after one edit. The text stays if an earlier edit already made it through an alias."""
    if isinstance(edit, Delete):
        edit = Delete(whole_of(value, edit.path))
    new = applied(value, edit)
    if force == BOOLEAN_WORD or not _holds(text, index, new):
        text = edited(text, index, edit)
    return new, text


def _holds(text: str, index: int, value: Any) -> bool:
    """Whether a document of the text already has this value."""
    found = [document for document in _documents(text.encode()) if document.index == index]
    return bool(found) and _exact(found[0].value) == _exact(value)


def _exact(value: Any) -> str:
    """A text of a value with its types, in which 1 and true differ, and the order of keys has no effect."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{_exact(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_exact, value)) + "]"
    return repr(value)


def _text(data: bytes) -> str:
    return data.decode("utf-8").removeprefix("\ufeff")


def _rendered(document: Document) -> object:
    return resources.render(model.describe(document.value))
