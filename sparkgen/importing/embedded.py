"""Finds manifests of applications in the texts of other documents: in Argo's Workflows, in ConfigMaps."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from sparkgen.document import Node
from sparkgen.document.parse import Parsed, parse
from sparkgen.errors import Path, Position

_APPLICATION = re.compile(
    r"^[ \t]*[\"']?kind[\"']?:[ \t]*[\"']?(Scheduled)?Spark(Application|Connect)\b"
    r"|[{,][ \t]*\"kind\"[ \t]*:[ \t]*\"(Scheduled)?Spark(Application|Connect)\"",
    re.MULTILINE,
)
"""The kind on a line of its own, or anywhere in JSON, which may be one line."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text in a document that contains an application: its path and its node."""

    path: Path
    node: Node


def has_application(text: str) -> bool:
    """Whether a text looks like the manifest of an application."""
    return _APPLICATION.search(text) is not None


def texts_in(root: Node, path: Path = ()) -> Iterator[Text]:
    """Yields the texts of a document that look like manifests of applications, one with aliases only once."""
    waiting = [(path, root)]
    seen: set[int] = set()
    while waiting:
        place, node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if node.is_mapping or node.is_list:
            parts = node.entries.items() if node.is_mapping else enumerate(node.items)
            waiting += [((*place, key), child) for key, child in reversed([*parts])]
        elif isinstance(node.value, str) and has_application(node.value):
            yield Text(place, node)


def read(node: Node, lines: Sequence[str], file: str) -> Parsed:
    """Returns the documents in a text, with their positions in the file around it, which has these `lines`.

    If the lines of the text differ from those of the file, every position is that of the text itself.
    """
    start = node.position.line
    inner = node.text.rstrip("\n").split("\n")
    block = lines[start : start + len(inner)]
    if [line.strip() for line in block] == [line.strip() for line in inner]:
        indent = min((len(line) - len(line.lstrip()) for line in block if line.strip()), default=0)
        text = "\n".join(line[indent:] for line in block)
        parsed = parse(text.encode(), file, as_kubectl=True, above=start)
        return _moved(parsed, lambda place: Position(place.file, place.line, place.column + indent))
    return _moved(parse(node.text.encode(), file, as_kubectl=True), lambda _: node.position)


def read_at(text: str, line: int, file: str) -> Parsed:
    """Returns the documents in a text whose first line is the file's line `line`."""
    return parse(text.encode(), file, as_kubectl=True, above=line - 1)


Move = Callable[[Position], Position]


def _moved(parsed: Parsed, move: Move) -> Parsed:
    """Returns the documents with other positions."""
    documents = tuple(
        replace(
            document,
            root=document.root and _moved_node(document.root, move),
            problems=tuple(replace(item, position=move(item.position)) for item in document.problems),
            remarks=tuple(replace(item, position=move(item.position)) for item in document.remarks),
        )
        for document in parsed.documents
    )
    problems = tuple(replace(item, position=move(item.position)) for item in parsed.problems)
    return replace(parsed, documents=documents, problems=problems)


def _moved_node(node: Node, move: Move) -> Node:
    children: dict[str, Node] | list[Node] = [_moved_node(child, move) for child in node.items]
    if node.is_mapping:
        children = {key: _moved_node(child, move) for key, child in node.entries.items()}
    keys = {key: move(place) for key, place in node.keys.items()}
    return Node(node.value, move(node.position), node.text, keys, children)
