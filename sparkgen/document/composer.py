"""YAML events -> Nodes, without recursion: a file of 20,000 brackets causes a problem, not a crash.

Whatever go-yaml v2 (kubectl, Helm) refuses, or silently reads differently from how it is written, is a
problem here: duplicate keys, keys that are not strings, unknown tags, `<<` below the key that it replaces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparkgen.document import problems
from sparkgen.document.limits import MAX_CHARACTERS, MAX_DEPTH, MAX_NODES
from sparkgen.document.node import NO_KEYS, Node, scalar_node
from sparkgen.document.scalars import (
    BOOLEAN_WORDS,
    Scalar,
    TagError,
    key_text,
    resolve,
    resolve_tagged,
    unreadable,
)
from sparkgen.errors import Path, Position, Problem

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Composed:
    """One document of a file: its root (None: the document is empty) and its problems.

    `remarks`: whatever was read as kubectl reads it, and not as it is written: the last one of duplicate
    keys, and a key that is no string as the string to which kubectl converts it.

    `first_line`: the document's first line in the text, from 1; its lines end before the first line of the
    next document. The first document also has all lines above it.
    """

    root: Node | None
    index: int
    first_line: int
    problems: tuple[Problem, ...]
    remarks: tuple[Problem, ...] = ()


Span = tuple[tuple[int, int], tuple[int, int]]
"""From (line, column), inclusive, to (line, column), exclusive; all count from 1."""


def _span(event: Any) -> Span:
    start, end = event.start_mark, event.end_mark
    # a block scalar starts below the line of its `|`, which may end with a comment
    first = (start.line + 2, 1) if event.style in "|>" else (start.line + 1, start.column + 1)
    return first, (end.line + 1, end.column + 1)


class TooMuch(Exception):
    """A limit was reached, and the rest of the file is not read. `problem` is SG005."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class _Marker:
    """The state of a mapping whose next value does not belong to a key."""


_AWAIT = _Marker()  # the next node is a key
_SKIP = _Marker()  # the key was refused: its value is read and discarded
_MERGE = _Marker()  # the key was `<<`

_COLLECTION_TAGS = frozenset((None, "!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"))


class _Frame:
    """A list or mapping whose end was not reached yet.

    `size` (its values, including itself), `length` (characters of its keys and values) and `height` (levels)
    count aliases as if expanded. `key` is None in a list. `merge`: the position of its `<<`; `merged`: the
    keys from `<<`, which later keys may replace. `skipped`: the text of a key that was refused. `start`: the
    number of characters before it. `template`: it is not a mapping but `{{ x }}`.
    """

    __slots__ = (
        "anchor",
        "children",
        "flow",
        "height",
        "items",
        "key",
        "keys",
        "length",
        "merge",
        "merged",
        "position",
        "size",
        "skipped",
        "start",
        "template",
        "value",
    )

    def __init__(self, position: Position, anchor: str | None, *, mapping: bool, flow: bool) -> None:
        self.position = position
        self.anchor = anchor
        self.flow = flow
        self.value: Any = {} if mapping else []
        self.keys: dict[str, Position] = {} if mapping else NO_KEYS
        self.children: dict[str, Node] = {}
        self.items: list[Node] = []
        self.key: str | _Marker | None = _AWAIT if mapping else None
        self.merge: Position | None = None
        self.merged: set[str] = set()
        self.size = 1
        self.length = 0
        self.height = 1
        self.skipped = ""
        self.start = 0
        self.template = False


class Composer:
    """Builds the documents of one file, one after the other, from YAML events.

    `texts`: a list to which it adds the span of each quoted string and block scalar; None if not needed.
    `as_kubectl`: read duplicate keys, and keys that are no strings, as kubectl does, and report them as
    remarks instead of problems. `source`: the text, for the text of a template. `above`: the number of lines
    above it in the file.
    """

    def __init__(
        self,
        file: str,
        texts: list[Span] | None = None,
        *,
        as_kubectl: bool = False,
        source: str = "",
        above: int = 0,
    ) -> None:
        self.file = file
        self.above = above
        self._as_kubectl = as_kubectl
        self._source = source
        self._texts = texts
        self._index = 0
        self._first_line = 1
        self._reset()

    def _reset(self) -> None:
        self._stack: list[_Frame] = []
        self._anchors: dict[str, tuple[Node, int, int, int] | _Frame] = {}
        self._problems: list[Problem] = []
        self._remarks: list[Problem] = []
        self._total = 0
        self._characters = 0
        self._root: Node | None = None

    @property
    def pending(self) -> tuple[Problem, ...]:
        """The problems found so far in the current document, for a reading that a syntax error ends."""
        return tuple(self._problems)

    def feed(self, events: Iterator[Any]) -> Iterator[Composed]:
        """Yields each document when its end is reached. Raises TooMuch, and whatever `events` raises."""
        import yaml.events as kinds  # noqa: PLC0415  (20 ms: only a command that reads documents pays)

        handlers: dict[type, Any] = {
            kinds.ScalarEvent: self._scalar,
            kinds.AliasEvent: self._alias,
            kinds.MappingStartEvent: self._mapping_start,
            kinds.SequenceStartEvent: self._list_start,
            kinds.MappingEndEvent: self._end,
            kinds.SequenceEndEvent: self._end,
            kinds.DocumentStartEvent: self._document_start,
        }
        for event in events:
            handler = handlers.get(type(event))
            if handler is not None:
                handler(event)
            elif isinstance(event, kinds.DocumentEndEvent):
                yield self._document_end()

    # Documents

    def _document_start(self, event: Any) -> None:
        if self._index:
            self._first_line = event.start_mark.line + 1
        if event.version is not None and tuple(event.version) != (1, 1):
            version = ".".join(str(number) for number in event.version)
            self._problems.append(problems.yaml_version(self._position(event), version))

    def _document_end(self) -> Composed:
        problems, remarks = tuple(self._problems), tuple(self._remarks)
        composed = Composed(self._root, self._index, self._first_line, problems, remarks)
        self._index += 1
        self._reset()
        return composed

    # Values

    def _scalar(self, event: Any) -> None:
        position = self._position(event)
        text: str = event.value
        if event.tag is None:
            value = resolve(text) if event.implicit[0] and not event.style else text
        else:
            value = self._tagged(event, position)
        node = scalar_node(value, position, text)
        if event.anchor is not None:
            self._anchors[event.anchor] = (node, 1, len(text), 0)
        if self._texts is not None and event.style:
            self._texts.append(_span(event))
        frame = self._stack[-1] if self._stack else None
        if frame is not None and frame.flow and "?" in text and not event.style and text[0] != "?":
            self._problems.append(problems.question_mark(position, self._path(), text))
        if frame is not None and frame.key is _AWAIT:
            self._count(0, len(text), position, aliased=False)
            frame.length += len(text)
            self._scalar_key(frame, event, value, position)
            return
        if value is not None and not isinstance(value, str):
            self._check_scalar(event, value, position)
        self._count(1, len(text), position, aliased=False)
        self._attach(node, 1, len(text), 0)

    def _tagged(self, event: Any, position: Position) -> Scalar:
        text: str = event.value
        if event.tag == "!":  # the tag that means "do not resolve"
            return text
        try:
            return resolve_tagged(event.tag, text)
        except TagError as error:
            reason = str(error)
            self._problems.append(problems.wrong_tag(position, self._path(), event.tag, text, reason))
            return text

    def _check_scalar(self, event: Any, value: Scalar, position: Position) -> None:
        text: str = event.value
        if text in BOOLEAN_WORDS and event.tag is None:
            self._problems.append(problems.boolean_word(position, self._path(), text, bool(value)))
        reason = unreadable(value, text)
        if reason:
            self._problems.append(problems.unreadable_number(position, self._path(), text, reason))

    def _alias(self, event: Any) -> None:
        position = self._position(event)
        name: str = event.anchor
        target = self._anchors.get(name)
        if isinstance(target, tuple):
            node, size, length, height = target
            if len(self._stack) + height > MAX_DEPTH:
                raise TooMuch(problems.too_deep(position))
            self._count(size, length, position, aliased=True)
            self._attach(node, size, length, height)
            return
        complaint = problems.no_anchor if target is None else problems.endless_alias
        self._problems.append(complaint(position, self._path(), name))
        self._attach(scalar_node(None, position, f"*{name}"), 1, 0, 0)

    # Lists and mappings

    def _mapping_start(self, event: Any) -> None:
        self._start(event, mapping=True)

    def _list_start(self, event: Any) -> None:
        self._start(event, mapping=False)

    def _start(self, event: Any, *, mapping: bool) -> None:
        position = self._position(event)
        if len(self._stack) >= MAX_DEPTH:
            raise TooMuch(problems.too_deep(position))
        if event.tag not in _COLLECTION_TAGS:
            self._problems.append(problems.collection_tag(position, self._path(), event.tag))
        self._count(1, 0, position, aliased=False)
        frame = _Frame(position, event.anchor, mapping=mapping, flow=bool(event.flow_style))
        frame.start = event.start_mark.index
        if event.anchor is not None:
            self._anchors[event.anchor] = frame
        self._stack.append(frame)

    def _end(self, event: Any) -> None:
        frame = self._stack.pop()
        if frame.template:
            text = self._source[frame.start : event.end_mark.index] or "{{ ... }}"
            node = scalar_node(text, frame.position, text)
        elif frame.key is None:
            node = Node(frame.value, frame.position, "", NO_KEYS, frame.items)
        else:
            node = Node(frame.value, frame.position, "", frame.keys, frame.children)
        if frame.anchor is not None and self._anchors.get(frame.anchor) is frame:
            self._anchors[frame.anchor] = (node, frame.size, frame.length, frame.height)
        self._attach(node, frame.size, frame.length, frame.height)

    def _attach(self, node: Node, size: int, length: int, height: int) -> None:
        """Add a finished node to the list or mapping that contains it."""
        if not self._stack:
            self._root = node
            return
        frame = self._stack[-1]
        frame.size += size
        frame.length += length
        frame.height = max(frame.height, height + 1)
        key = frame.key
        if key is None:
            frame.items.append(node)
            frame.value.append(node.value)
        elif isinstance(key, str):
            frame.children[key] = node
            frame.value[key] = node.value
            frame.key = _AWAIT
        elif key is _AWAIT:
            self._node_as_key(frame, node)
        else:
            if key is _MERGE:
                self._merge(frame, node)
            frame.key = _AWAIT

    # Keys

    def _scalar_key(self, frame: _Frame, event: Any, value: Scalar, position: Position) -> None:
        if event.value == "<<" and event.implicit[0]:
            self._merge_key(frame, position)
        else:
            self._key(frame, event.value, value, position)

    def _node_as_key(self, frame: _Frame, node: Node) -> None:
        """Read a key that is an alias (possibly of a string), a list or a mapping."""
        left = Position(node.position.file, node.position.line, node.position.column - 1)
        if node.is_mapping and frame.position == left:
            self._problems.append(problems.template(frame.position, self._path()))
            frame.key, frame.template = _SKIP, True
        else:
            self._key(frame, node.text, node.value, node.position)

    def _key(self, frame: _Frame, text: str, value: Any, position: Position) -> None:
        if not isinstance(value, str):
            key = key_text(value, text) if self._as_kubectl else None
            if key is None:
                path = (*self._path(), text) if self._as_kubectl else self._path()
                self._problems.append(problems.key_not_text(position, path, text, value))
                frame.key, frame.skipped = _SKIP, text
                return
            if key != text:
                self._remarks.append(problems.key_as_text(position, (*self._path(), key), text, key))
            value = key
        first = frame.keys.get(value)
        if first is None or value in frame.merged:
            frame.merged.discard(value)
        elif self._refused(problems.duplicate_key(position, (*self._path(), value), value, first)):
            frame.key, frame.skipped = _SKIP, value
            return
        frame.keys[value] = position
        frame.key = value

    def _merge_key(self, frame: _Frame, position: Position) -> None:
        if frame.merge is not None:
            self._refused(problems.duplicate_merge(position, self._path(), frame.merge))
        frame.merge = position
        frame.key = _MERGE

    def _merge(self, frame: _Frame, node: Node) -> None:
        """Copy the keys of `<<` into the mapping; in a list of mappings, earlier ones take precedence."""
        sources = node.items if node.is_list else [node]
        if not all(source.is_mapping for source in sources):
            self._problems.append(problems.merge_of_no_mapping(node.position, self._path(), node.text))
            return
        taken: set[str] = set()
        for source in sources:
            for key, child in source.entries.items():
                if key not in taken:
                    taken.add(key)
                    self._merge_entry(frame, key, source.keys[key], child)

    def _merge_entry(self, frame: _Frame, key: str, position: Position, child: Node) -> None:
        own = frame.keys.get(key)
        if own is not None and frame.merge is not None and key not in frame.merged:
            path = (*self._path(), key)
            if self._refused(problems.replaced_by_merge(own, path, key, frame.merge)):
                return
        frame.keys[key] = position
        frame.children[key] = child
        frame.value[key] = child.value
        frame.merged.add(key)

    def _refused(self, double: Problem) -> bool:
        """Record the problem of a duplicate key. Returns whether the key is refused."""
        (self._remarks if self._as_kubectl else self._problems).append(double)
        return not self._as_kubectl

    # Places and limits

    def _count(self, size: int, length: int, position: Position, *, aliased: bool) -> None:
        self._total += size
        self._characters += length
        if self._total > MAX_NODES:
            raise TooMuch(problems.too_many(position, aliased=aliased))
        if self._characters > MAX_CHARACTERS:
            raise TooMuch(problems.too_long(position))

    def _position(self, event: Any) -> Position:
        mark = event.start_mark
        return Position(self.file, self.above + mark.line + 1, mark.column + 1)

    def _path(self) -> Path:
        """The path of the value that is being read, or of the mapping if the next node is a key."""
        parts: list[str | int] = []
        for frame in self._stack:
            if frame.key is None:
                parts.append(len(frame.items))
            elif isinstance(frame.key, str):
                parts.append(frame.key)
            elif frame.key is _SKIP:
                parts.append(frame.skipped)
        return tuple(parts)
