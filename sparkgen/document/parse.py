"""The bytes of one file -> its documents, with every problem that can be found without a schema."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparkgen.document.composer import Composed, Composer, Span, TooMuch
from sparkgen.document.limits import MAX_FILE_BYTES
from sparkgen.document.text import decode, lines_of
from sparkgen.errors import Position, Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


COMMENT = re.compile(r"(?:^|(?<=\s))#\s*sparkgen\s*:[^\S\n]*(?P<text>.*)", re.MULTILINE)
"""A comment for sparkgen, unless it is inside a string."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """The content of a file.

    `documents`: also empty ones; the problems of a document that was read to its end are in it. `problems`:
    those that ended the reading before the end of the file, and those of the last document until then.
    `text`: the file's text, or "" if it cannot be decoded. `texts`: the spans of its quoted strings and block
    scalars, if there may be a comment for sparkgen.
    """

    documents: tuple[Composed, ...]
    problems: tuple[Problem, ...]
    text: str = ""
    texts: tuple[Span, ...] = ()


def parse(data: bytes, file: str, *, as_kubectl: bool = False, above: int = 0) -> Parsed:
    """Read YAML. Never raises, whatever the bytes are; `file` is the file name for positions.

    `as_kubectl`: read duplicate keys, and keys that are no strings, as kubectl does. `above`: the number of
    lines that stand above these in the file.
    """
    if len(data) > MAX_FILE_BYTES:
        return Parsed((), (too_large(file),))
    text = decode(data, file)
    if isinstance(text, Problem):
        return Parsed((), (text,))
    documents: list[Composed] = []
    texts: list[Span] = []
    spans = texts if COMMENT.search(text) else None
    composer = Composer(file, spans, as_kubectl=as_kubectl, source=text, above=above)
    problems = _compose(text, composer, documents.append)
    return Parsed(tuple(documents), problems, text, tuple(texts))


def each_document(data: bytes, file: str, take: Callable[[Composed], object]) -> tuple[Problem, ...]:
    """Call `take` with each document of a file of any size, so that only one of them is in memory.

    Returns the problems that ended the reading, as `parse` does.
    """
    text = decode(data, file)
    return (text,) if isinstance(text, Problem) else _compose(text, Composer(file, source=text), take)


def too_large(file: str, most: int = MAX_FILE_BYTES) -> Problem:
    """SG005: the file has more bytes than may be read."""
    message = f"the file is larger than {most // 1024 // 1024} MiB"
    step = "split it into several files; check that it is a document, not a data file"
    return Problem("SG005", Severity.ERROR, Position(file, 1, 1), (), message, next_step=step)


def _compose(text: str, composer: Composer, take: Callable[[Composed], object]) -> tuple[Problem, ...]:
    """Call `take` with the readable documents of a text. Returns the problem that ended the reading, or ().

    Before it are the problems found earlier in the same document.
    """
    import yaml  # noqa: PLC0415  (20 ms: only a command that reads documents pays)

    try:
        for composed in composer.feed(_events(text)):
            take(composed)
    except TooMuch as limit:
        return (*composer.pending, limit.problem)
    except yaml.YAMLError as error:
        from sparkgen.document.syntax_hints import explain  # noqa: PLC0415  (only for text that is not YAML)

        found = explain(error, lines_of(text), composer.file, composer.above)
        return (*(known for known in composer.pending if known.position != found.position), found)
    return ()


def _events(text: str) -> Iterator[Any]:
    parser = parser_class()(text.encode())
    while True:
        event = parser.get_event()
        if event is None:
            return
        yield event


def parser_class() -> Any:
    """The parser of libyaml, or PyYAML's own, about four times slower, if PyYAML was built without libyaml.

    It is used without PyYAML's loaders, which resolve scalars by YAML 1.1's rules, and compose recursively.
    """
    try:
        from yaml.cyaml import CParser  # type: ignore[attr-defined]  # noqa: PLC0415  (as in _compose)
    except ImportError:
        return _pure_parser()
    return CParser


def _pure_parser() -> Any:
    from yaml.parser import Parser  # noqa: PLC0415  (only without libyaml)
    from yaml.reader import Reader  # noqa: PLC0415
    from yaml.scanner import Scanner  # noqa: PLC0415

    class PureParser(Reader, Scanner, Parser):
        def __init__(self, stream: bytes) -> None:
            Reader.__init__(self, stream)
            Scanner.__init__(self)
            Parser.__init__(self)

    return PureParser
