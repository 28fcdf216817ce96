"""Turns the command `aws emr-containers start-job-run` into the request that it sends, as a node."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from sparkgen.document import Node
from sparkgen.document.text import shortened
from sparkgen.errors import Position
from sparkgen.importing import embedded
from sparkgen.importing.commands import Word
from sparkgen.importing.emr import Unreadable
from sparkgen.importing.properties_files import Files

_CALL = ("emr-containers", "start-job-run")
_OWN = frozenset({"region", "profile", "output", "query", "endpointUrl", "noCliPager", "debug"})
"""Options of the AWS CLI itself, which are no fields of the request."""
_INPUT, _FILE = "cliInputJson", "file://"


def starts_job(words: Sequence[Word]) -> bool:
    """Whether a command starts a job of EMR on EKS."""
    texts = [word.text for word in words]
    return bool(texts) and texts[0].rpartition("/")[2] == "aws" and all(name in texts for name in _CALL)


def request_of(words: Sequence[Word], file: str, files: Files) -> Node:
    """Returns the fields of the request. `files`: those that the command may name.

    Raises `Unreadable` if a field cannot be read, or `Beyond` if its file is too large for one more job.
    """
    entries: dict[str, Node] = {}
    for name, word in _options(words):
        if name in _OWN:
            continue
        node = _value(word, file, files)
        if name == _INPUT:
            for key, child in node.entries.items():
                entries.setdefault(key, child)
        else:
            entries[name] = node
    first = words[0]
    values = {name: node.value for name, node in entries.items()}
    keys = {name: node.position for name, node in entries.items()}
    return Node(values, Position(file, first.line, first.column), "", keys, entries)


def _options(words: Sequence[Word]) -> Iterator[tuple[str, Word]]:
    """Yields the options: the name as the request has it, and the value."""
    for index, word in enumerate(words):
        name, equals, text = word.text.partition("=")
        following = words[index + 1] if index + 1 < len(words) else None
        if not name.startswith("--"):
            continue
        field = re.sub("-(.)", lambda found: found[1].upper(), name[2:])
        if equals:
            yield field, Word(text, word.line, word.column, word.variables)
        elif following is not None and not following.text.startswith("--"):
            yield field, following


def _value(word: Word, file: str, files: Files) -> Node:
    text, name, line = word.text, file, word.line
    in_file = text.startswith(_FILE)
    if in_file:
        contents = files.text(text.removeprefix(_FILE), file)
        if contents is None:
            where = "relative to the script and in its Git repository"
            raise Unreadable(f"import did not find the file {text}, {where}")
        (name, text), line = contents, 1
        files.budget.take(len(text), 1)
    for unknown in dict.fromkeys(word.variables):
        text = text.replace(unknown, json.dumps(unknown, ensure_ascii=False)[1:-1])  # may have quotes
    if not text.lstrip().startswith(("{", "[")):
        return Node(text, Position(name, line, word.column), text, {}, {})
    parsed = embedded.read_at(text, line, name)
    roots = [document.root for document in parsed.documents if document.root is not None]
    root = roots[0] if len(roots) == 1 and not parsed.problems else None
    if in_file:
        files.budget.take_node(root, text)
    if root is None:
        said = f"in {name}" if in_file else shortened(text)
        raise Unreadable(f"the value of an option starts like JSON, but is not valid: {said}")
    return root
