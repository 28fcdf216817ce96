"""Changes one value in the text of a YAML file, and leaves all other characters unchanged.

It only adds, replaces or deletes whole lines, or changes text inside one pair of braces; other edits raise
`Unfixable`. The result is checked: fix.py reads the text again and compares its value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sparkgen.errors import Path
from sparkgen.lint.findings import Delete, Edit, Put
from sparkgen.semantics.wording import scalar

_LINE = re.compile("[^\n\r\x85\u2028\u2029]*(?:\r\n|[\n\r\x85\u2028\u2029]|$)")
_STEP = 2


class Unfixable(Exception):
    """The text has a form that this module does not change."""


@dataclass(frozen=True, slots=True)
class Change:
    """New lines for those from `start` to before `end`, both from 0; if these are equal, only added."""

    start: int
    end: int
    lines: tuple[str, ...]

    def is_after(self, other: Change) -> bool:
        """Whether this change and one above it change different places, so that their order has no effect."""
        if self.start == other.end:
            return self.start < self.end and other.start < other.end
        return self.start > other.end


class File:
    """The text of a file, for the changes that edits of its documents would make."""

    def __init__(self, text: str) -> None:
        import yaml  # noqa: PLC0415 - 20 ms that only edits pay

        self.lines = lines_in(text)
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        self._roots: list[Any] = list(yaml.compose_all(text, Loader=loader))

    def change(self, index: int, edit: Edit) -> Change:
        """The change for an edit in the document number `index`, from 0. Raises Unfixable."""
        if index >= len(self._roots):
            raise Unfixable
        page = _Page(self.lines, self._roots[index])
        return page.put(edit.path, edit.value) if isinstance(edit, Put) else page.delete(edit)

    def text(self, changes: Sequence[Change]) -> str:
        """The text with changes of different places, in their order."""
        parts: list[str] = []
        place = 0
        for change in changes:
            parts += [*self.lines[place : change.start], *change.lines]
            place = change.end
        return "".join([*parts, *self.lines[place:]])


def lines_in(text: str) -> list[str]:
    """The lines of a text with their ends."""
    return [line for line in _LINE.findall(text) if line]


def edited(text: str, index: int, edit: Edit) -> str:
    """The text of a file with an edit in its document number `index`, from 0. Raises Unfixable."""
    file = File(text)
    return file.text([file.change(index, edit)])


def applied(value: Any, edit: Edit) -> Any:
    """The document's value after the edit, which the edited text must have; `value` is not changed."""
    if isinstance(edit, Put):
        return _with(value, edit.path, edit.value)
    return _without(value, whole_of(value, edit.path))


def whole_of(value: Any, path: Path) -> Path:
    """The path to delete so that no empty mapping or list remains. Raises Unfixable for a top-level key."""
    while len(path) > 1 and len(_at(value, path[:-1])) == 1:
        path = path[:-1]
    if len(path) < 2:
        raise Unfixable
    return path


def _at(value: Any, path: Path) -> Any:
    for part in path:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError) as error:
            raise Unfixable from error
    return value


def _with(value: Any, path: Path, new: Any) -> Any:
    if not path:
        return new
    part = path[0]
    if isinstance(value, list) and isinstance(part, int):
        return [*value[:part], _with(_at(value, (part,)), path[1:], new), *value[part + 1 :]]
    if not isinstance(value, dict | None) or isinstance(part, int):
        raise Unfixable
    inside = value or {}
    return {**inside, part: _with(inside.get(part), path[1:], new)}


def _without(value: Any, path: Path) -> Any:
    inside = _at(value, path[:1])
    if len(path) > 1:
        return _with(value, path[:1], _without(inside, path[1:]))
    if isinstance(value, list):
        return [item for index, item in enumerate(value) if index != path[0]]
    return {key: item for key, item in value.items() if key != path[0]}


class _Page:
    """A file's lines, and PyYAML's nodes of one of its documents."""

    def __init__(self, lines: Sequence[str], root: Any) -> None:
        self.lines = lines
        self.root = root

    def put(self, path: Path, value: Any) -> Change:
        """The change that puts a value at a path."""
        node, depth, _ = self._walk(path)
        if depth == len(path):
            return self._replace(node, value)
        rest = path[depth:]
        if node.id != "mapping" or not all(isinstance(part, str) for part in rest):
            raise Unfixable
        if node.flow_style:
            return self._insert_in_braces(node, rest, value)
        return self._insert_lines(node, rest, value)

    def delete(self, edit: Delete) -> Change:
        """The change that deletes the key or item at exactly this path (from `whole_of`)."""
        node, depth, key = self._walk(edit.path)
        parent, _, _ = self._walk(edit.path[:-1])
        if depth != len(edit.path) or parent.flow_style:
            raise Unfixable
        start = (key or node).start_mark
        before = self.lines[start.line][: start.column]
        if before.strip() not in (("",) if key else ("-",)):
            raise Unfixable  # it shares its line with the dash of a list
        last = start.line if key is not None and _is_alias(key, node) else self._last_line(node)
        if "#" in "".join(self.lines[start.line : last + 1]):
            raise Unfixable  # perhaps a comment, which must not be lost
        return Change(start.line, last + 1, ())

    def _walk(self, path: Path) -> tuple[Any, int, Any]:
        """The node at a path or its deepest ancestor, the length of its path, and its key.

        Raises Unfixable if the path goes through an alias, whose text is elsewhere.
        """
        node, key = self.root, None
        for depth, part in enumerate(path):
            if node.id == "mapping":
                found = [(name, child) for name, child in node.value if name.value == part]
            elif node.id == "sequence" and isinstance(part, int) and part < len(node.value):
                found = [(None, node.value[part])]
            else:
                raise Unfixable
            if not found:
                return node, depth, key
            name, child = found[0]
            if child.start_mark.index < (name.end_mark if name else node.start_mark).index:
                raise Unfixable
            node, key = child, name
        return node, len(path), key

    def _replace(self, node: Any, value: Any) -> Change:
        start, end = node.start_mark, node.end_mark
        old = self.lines[start.line][start.column : end.column]
        if node.id != "scalar" or start.line != end.line or old[:1] in ("&", "!", "|", ">", ""):
            raise Unfixable
        line = self.lines[start.line]
        new = line[: start.column] + _flow(value) + line[end.column :]
        return Change(start.line, start.line + 1, (new,))

    def _insert_lines(self, node: Any, names: Path, value: Any) -> Change:
        """The change that adds lines after the last line of a block mapping."""
        last = self._last_line(node)
        end = _ending(self.lines[last]) or _ending(self.lines[0]) or "\n"
        indent = node.start_mark.column
        added = []
        for name in names[:-1]:
            added.append(f"{' ' * indent}{scalar(str(name))}:{end}")
            indent += _STEP
        added.append(f"{' ' * indent}{scalar(str(names[-1]))}: {_flow(value)}{end}")
        if not _ending(self.lines[last]):
            return Change(last, last + 1, (self.lines[last] + end, *added))
        return Change(last + 1, last + 1, tuple(added))

    def _insert_in_braces(self, node: Any, names: Path, value: Any) -> Change:
        """The change that adds a pair before the brace that ends a flow mapping."""
        text = _flow(value)
        for name in reversed(names[1:]):
            text = f"{{{scalar(str(name))}: {text}}}"
        mark = node.end_mark
        line = self.lines[mark.line]
        head, tail = line[: mark.column - 1], line[mark.column - 1 :]
        body = head.rstrip()
        if not tail.startswith("}") or not body:
            raise Unfixable
        comma = "" if body.endswith(("{", ",")) else ","
        space = "" if body.endswith("{") else " "
        new = f"{body}{comma}{space}{scalar(str(names[0]))}: {text}{head[len(body) :]}{tail}"
        return Change(mark.line, mark.line + 1, (new,))

    def _last_line(self, node: Any) -> int:
        """The number, from 0, of the last line with a character of a node."""
        while node.id != "scalar" and not node.flow_style and node.value:
            if node.id == "mapping":
                key, child = node.value[-1]
                if _is_alias(key, child):
                    return int(key.end_mark.line)
            else:
                child = node.value[-1]
                if child.start_mark.index < node.start_mark.index:
                    raise Unfixable
            node = child
        last = int(node.end_mark.line)
        if node.id == "scalar" and node.style in ("|", ">"):
            last -= node.end_mark.column == 0
            while not self.lines[last].strip():
                last -= 1
        return last


def _is_alias(key: Any, node: Any) -> bool:
    return bool(node.start_mark.index < key.end_mark.index)


def _ending(line: str) -> str:
    return line[len(line.rstrip("\n\r\x85\u2028\u2029")) :]


def _flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, str):
        return scalar(value)
    if isinstance(value, list):
        return f"[{', '.join(json.dumps(item, ensure_ascii=False) for item in value)}]"
    return json.dumps(value)
