"""Makes all fixes that need no decision, in the text of a file.

Each document is fixed by itself, because its text and its findings depend on no other. Fixes at different
places are tried together. They are kept only if the new text means exactly what the edits say, if the
findings are gone, and if there is no new finding. A field that is deleted because of a warning of `validate`
must have had no effect: the rendered objects must be equal. So each fix lowers the number of findings: fixing
ends, and fixing a second time changes nothing.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sparkgen import model, resources
from sparkgen.document import load
from sparkgen.document.parse import parse
from sparkgen.errors import Problem, Severity
from sparkgen.lint.findings import Delete, Edit, Put
from sparkgen.lint.yamltext import Change, File, Unfixable, applied, edited, lines_in, whole_of

if TYPE_CHECKING:
    from sparkgen.document import Document

Found = tuple[Problem, tuple[Edit, ...]]
Find = Callable[["Document"], Sequence[Found]]
"""Returns the findings in a document that are not ignored, each with the edits that would end it."""

IDLE = frozenset({"SG110", "SG121", "SG168", "SG170", "SG189"})
"""Warnings of `validate` about fields without effect: these can be deleted, if they really have none."""
BOOLEAN_WORD = "SG008"
MOST_TRIES = 40
"""The most times that a document is read and checked again, so that all tries together read at most 40 times
the bytes of the file. Findings at different places need one together."""
MOST_TOGETHER = 100_000


@dataclass(frozen=True, slots=True)
class Fixed:
    """A file's bytes after all fixes, and the findings that the fixes ended, by document.

    `complete`: whether all fixes were tried.
    """

    data: bytes
    done: tuple[Problem, ...]
    complete: bool = True


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
    documents = _documents(data)
    if not documents:
        return Fixed(data, ())
    done: list[Problem] = []
    values: list[str] = []
    complete = True
    pieces = _pieces(data)
    above = [0]
    for piece in pieces:
        above.append(above[-1] + len(lines_in(piece)))
    for document in documents:
        fixer = _Fixer(pieces[document.index], find)
        if [_exact(own.value) for own in fixer.documents] == [_exact(document.value)]:
            fixer.fix()
            pieces[document.index] = fixer.text
            done.extend(_lower(problem, above[document.index]) for problem in fixer.done)
            complete = complete and fixer.complete
            values.append(_exact(fixer.documents[0].value))
        else:
            values.append(_exact(document.value))
    fixed = codecs.BOM_UTF8 * data.startswith(codecs.BOM_UTF8) + "".join(pieces).encode()
    if [_exact(document.value) for document in _documents(fixed)] != values:
        return Fixed(data, ())
    return Fixed(fixed, tuple(done), complete)


def _pieces(data: bytes) -> list[str]:
    """The text of a file, divided into those of its documents; the first one also has all lines above it."""
    lines = lines_in(_text(data))
    starts = [found.first_line - 1 for found in parse(data, "-").documents]
    return ["".join(lines[start:end]) for start, end in pairwise([0, *starts[1:], len(lines)])]


def _lower(problem: Problem, lines: int) -> Problem:
    """A problem of a document as one of a file with so many lines above the document."""
    return replace(problem, position=replace(problem.position, line=problem.position.line + lines))


class _Fixer:
    """Fixes the text of one document.

    If fixes that are tried together fail, those with the blame are refused; if that is unknown, half of them
    are tried.
    """

    def __init__(self, text: str, find: Find) -> None:
        self.text = text
        self.find = find
        self.documents = _documents(text.encode())
        self.done: list[Problem] = []
        self.complete = True
        self.refused: set[object] = set()

    def fix(self) -> None:
        """Make all possible fixes."""
        found, most = self.find(self.documents[0]), MOST_TOGETHER
        for tries in range(MOST_TRIES + 1):
            groups = [group for group in _groups(self.documents[0], found) if group.key not in self.refused]
            if not groups:
                return
            if tries == MOST_TRIES:
                break
            batch, text = self._batch(groups[:most])
            better = self._tried(batch, text, found) if batch else None
            if better is not None:
                found, most = better, min(2 * most, MOST_TOGETHER)
                self.done.extend(problem for group in batch for problem, _ in group.found)
            elif not batch or self.refused & {group.key for group in batch}:
                most = min(2 * most, MOST_TOGETHER)
            elif len(batch) > 1:
                most = len(batch) // 2
            else:
                self.refused.add(batch[0].key)
        self.complete = False

    def _batch(self, groups: Sequence[_Group]) -> tuple[list[_Group], str]:
        """Those of the groups that can be fixed together, and the text with their edits ("" for one group).

        They change different places, and all or none are about fields without effect. Groups that cannot be
        fixed are refused.
        """
        if groups[0].edit is None:
            return [groups[0]], ""
        file = File(self.text)
        changes: list[tuple[Change, _Group]] = []
        for group in groups:
            edit = group.edit
            if edit is not None and group.is_idle == groups[0].is_idle:
                try:
                    changes.append((file.change(0, edit), group))
                except Unfixable:
                    self.refused.add(group.key)
        changes.sort(key=lambda one: (one[0].start, one[0].end))
        kept: list[tuple[Change, _Group]] = []
        for change, group in changes:
            if not kept or change.is_after(kept[-1][0]):
                kept.append((change, group))
        text = file.text([change for change, _ in kept]) if len(kept) > 1 else ""
        return [group for _, group in kept], text

    def _tried(self, batch: Sequence[_Group], text: str, known: Sequence[Found]) -> Sequence[Found] | None:
        """Fix some groups, and return the new findings; None if that cannot be done safely.

        `text`: with the edits of several groups; `known`: the findings in the document.
        """
        value = self.documents[0].value
        try:
            if len(batch) == 1:
                text = self.text
                for edit in (edit for _, edits in batch[0].found for edit in edits):
                    value, text = _edited(value, text, edit, force=batch[0].code)
            else:
                for group in reversed(batch):  # the last first: a deletion moves the items below it
                    for edit in group.edits:
                        value = applied(value, edit)
        except Unfixable:
            return None
        after = _documents(text.encode())
        if [_exact(document.value) for document in after] != [_exact(value)]:
            return None
        found = self.find(after[0])
        blamed = _blamed(batch, self.documents[0], after[0], known, found)
        if blamed is None:
            self.text, self.documents = text, after
            return found
        self.refused.update(group.key for group in blamed)
        return None


def _blamed(
    batch: Sequence[_Group], old: Document, new: Document, known: Sequence[Found], found: Sequence[Found]
) -> list[_Group] | None:
    """None if findings of a batch are gone, none is new, and fields without effect had none.

    Otherwise the groups with the blame; [] if that is unknown.
    """
    left = {(problem.code, problem.path) for problem, _ in found}
    stay = [group for group in batch if any((one.code, one.path) in left for one, _ in group.found)]
    if stay or left - {(problem.code, problem.path) for problem, _ in known}:
        return stay
    if not batch[0].is_idle:
        return None
    before, after = _rendered(old), _rendered(new)
    if before == after:
        return None
    properties = {line.partition(" ")[0] for line in _lines(before) - _lines(after)}
    return [group for group in batch if properties.issuperset(edit.path[-1] for edit in group.edits)]


def _lines(rendered: Any) -> set[str]:
    """All lines of text in what is rendered, of which some begin with the name of a Spark property."""
    if isinstance(rendered, str):
        return set(rendered.splitlines())
    parts = rendered.values() if isinstance(rendered, dict) else rendered
    return set().union(*map(_lines, parts)) if isinstance(parts, Iterable) else set()


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
        return (self.code, tuple(problem.path for problem, _ in self.found))

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
    def edit(self) -> Edit | None:
        """The edit if there is one, or if all change one place in the text, as through an alias."""
        try:
            first, *others = self.edits
        except Unfixable:
            return None
        return first if all(self._place(edit) == self._place(first) for edit in others) else None

    def _place(self, edit: Edit) -> object:
        """What is equal for edits that change the same place in the text in the same way."""
        depth, node = len(edit.path) - 1, None
        while node is None:
            node, depth = self.document.node.find(edit.path[:depth]), depth - 1
        return (node.position, edit.path[depth + 1 :], edit.value if isinstance(edit, Put) else None)


def _groups(document: Document, found: Iterable[Found]) -> list[_Group]:
    """The fixable findings."""
    groups: dict[object, _Group] = {}
    for problem, edits in found:
        if edits:
            key = (problem.code, problem.position)
            groups.setdefault(key, _Group(document, [])).found.append((problem, edits))
    return list(groups.values())


def _edited(value: Any, text: str, edit: Edit, *, force: str) -> tuple[Any, str]:
    """Value and text after one edit. The text stays if an earlier edit already made it through an alias."""
    if isinstance(edit, Delete):
        edit = Delete(whole_of(value, edit.path))
    new = applied(value, edit)
    if force == BOOLEAN_WORD or not _holds(text, new):
        text = edited(text, 0, edit)
    return new, text


def _holds(text: str, value: Any) -> bool:
    """Whether the document of the text already has this value."""
    return [_exact(document.value) for document in _documents(text.encode())] == [_exact(value)]


def _exact(value: Any) -> str:
    """A text of a value with its types, in which 1 and true differ, and the order of keys has no effect."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{key!r}:{_exact(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_exact, value)) + "]"
    return repr(value)


def _text(data: bytes) -> str:
    return data.decode("utf-8").removeprefix("\ufeff")


def _rendered(document: Document) -> Any:
    return resources.render(model.describe(document.value))
