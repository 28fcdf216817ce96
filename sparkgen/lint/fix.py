"""Makes all fixes that need no decision, in the text of a file.

Fixes at different places are tried together. They are kept only if the new text means exactly what the edits
say, if the findings are gone, and if there is no new finding. A field that is deleted because of a warning of
`validate` must have had no effect: the rendered objects must be equal. So each fix lowers the number of
findings: fixing ends, and fixing a second time changes nothing.
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
from sparkgen.lint.yamltext import Change, File, Unfixable, applied, edited, whole_of

if TYPE_CHECKING:
    from sparkgen.document import Document

Found = tuple[Problem, tuple[Edit, ...]]
Find = Callable[["Document"], Sequence[Found]]
"""Returns the findings in a document that are not ignored, each with the edits that would end it."""

IDLE = frozenset({"SG110", "SG121", "SG168", "SG170", "SG189"})
"""Warnings of `validate` about fields without effect: these can be deleted, if they really have none."""
BOOLEAN_WORD = "SG008"
MOST_TRIES = 300
"""The most times that a file is read and checked. Findings at different places need one together."""
MOST_TOGETHER = 100_000


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
    """A file's bytes after all possible fixes. Bytes that are no readable documents stay unchanged.

    Fixes at different places are tried together; if that fails, half of them.
    """
    done: list[Problem] = []
    refused: set[object] = set()
    documents = _documents(data)
    groups, most = _groups(documents, find), MOST_TOGETHER
    for _ in range(MOST_TRIES):
        groups = [group for group in groups if group.key not in refused]
        if not groups:
            break
        batch, text = _batch(data, groups[:most], refused)
        better = _tried(data, documents, batch, text, find) if batch else None
        if better is not None:
            data, documents = better, _documents(better)
            done.extend(problem for group in batch for problem, _ in group.found)
            groups, most = _groups(documents, find), min(2 * most, MOST_TOGETHER)
        elif len(batch) > 1:
            most = len(batch) // 2
        else:
            refused.update(group.key for group in batch)
    return Fixed(data, tuple(done))


def _batch(data: bytes, groups: Sequence[_Group], refused: set[object]) -> tuple[list[_Group], str]:
    """Those of the groups that can be fixed together, and the text with their edits ("" for a single group).

    They change different places, and all or none are about fields without effect. Groups that cannot be fixed
    are added to `refused`.
    """
    if not groups[0].is_simple:
        return [groups[0]], ""
    file = File(_text(data))
    changes: list[tuple[Change, _Group]] = []
    for group in groups:
        if group.is_simple and group.is_idle == groups[0].is_idle:
            try:
                changes.append((file.change(group.document.index, group.edits[0]), group))
            except Unfixable:
                refused.add(group.key)
    changes.sort(key=lambda one: (one[0].start, one[0].end))
    kept: list[tuple[Change, _Group]] = []
    for change, group in changes:
        if not kept or change.is_after(kept[-1][0]):
            kept.append((change, group))
    text = file.text([change for change, _ in kept]) if len(kept) > 1 else ""
    return [group for _, group in kept], text


def _documents(data: bytes) -> tuple[Document, ...]:
    """The documents in a file's bytes; () if one of them has an error."""
    loaded = load(("-",), stdin=lambda: data)
    broken = any(problem.severity is Severity.ERROR for problem in loaded.problems)
    return () if broken else loaded.documents


@dataclass(frozen=True, slots=True)
class _Group:
    """Fixable findings in a document that are fixed together: they have one position, as through an alias."""

    document: Document
    found: list[Found]

    @property
    def key(self) -> object:
        """What is equal for the same findings after other fixes."""
        return (self.document.index, self.code, tuple(problem.path for problem, _ in self.found))

    @property
    def code(self) -> str:
        """The code of the findings."""
        return self.found[0][0].code

    @property
    def is_idle(self) -> bool:
        """Whether the fixes delete fields without effect."""
        return self.code in IDLE

    @property
    def edits(self) -> list[Edit]:
        """All edits; a deletion is one of all that would be empty without it."""
        edits = [edit for _, some in self.found for edit in some]
        value = self.document.value
        return [Delete(whole_of(value, edit.path)) if isinstance(edit, Delete) else edit for edit in edits]

    @property
    def is_simple(self) -> bool:
        """Whether it is one finding with one edit."""
        return len(self.found) == 1 and len(self.found[0][1]) == 1


def _groups(documents: Sequence[Document], find: Find) -> list[_Group]:
    """The fixable findings."""
    groups: dict[object, _Group] = {}
    for document in documents:
        for problem, edits in find(document):
            if edits:
                key = (document.index, problem.code, problem.position)
                groups.setdefault(key, _Group(document, [])).found.append((problem, edits))
    return list(groups.values())


def _tried(
    data: bytes, documents: Sequence[Document], batch: Sequence[_Group], text: str, find: Find
) -> bytes | None:
    """The bytes with the edits of some groups, or None if that cannot be done safely.

    `text`: with the edits of several groups.
    """
    values = {document.index: document.value for document in documents}
    try:
        if len(batch) == 1:
            index, text = batch[0].document.index, _text(data)
            for edit in (edit for _, edits in batch[0].found for edit in edits):
                values[index], text = _edited(values[index], text, index, edit, force=batch[0].code)
        else:
            for group in reversed(batch):  # the last first: a deletion moves the items below it
                values[group.document.index] = applied(values[group.document.index], group.edits[0])
    except Unfixable:
        return None
    better = codecs.BOM_UTF8 * data.startswith(codecs.BOM_UTF8) + text.encode()
    after = _documents(better)
    if [_exact(other.value) for other in after] != [_exact(values[one.index]) for one in documents]:
        return None
    by_document: dict[int, list[_Group]] = {}
    for group in batch:
        by_document.setdefault(group.document.index, []).append(group)
    changed = ((old, new, by_document.get(old.index)) for old, new in zip(documents, after, strict=True))
    is_better = all(_is_better(old, new, groups, find) for old, new, groups in changed if groups)
    return better if is_better else None


def _is_better(old: Document, new: Document, groups: Sequence[_Group], find: Find) -> bool:
    """Whether the findings of groups are gone, no finding is new, and fields without effect had none."""
    gone = {(problem.code, problem.path) for group in groups for problem, _ in group.found}
    left = {(problem.code, problem.path) for problem, _ in find(new)}
    known = {(problem.code, problem.path) for problem, _ in find(old)}
    if left & gone or left - known:
        return False
    return not groups[0].is_idle or _rendered(new) == _rendered(old)


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
