"""Splits a shell script into simple commands and words, with their positions. Nothing is run or expanded.

Source of the grammar: POSIX.1-2017, Shell Command Language: quoting (2.2), token recognition (2.3),
redirection (2.7), and bash's `$'...'`. Variables and substitutions stay as written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sparkgen.importing.commands import ASSIGNMENT, FUNCTION, Command, Part, Structure, Word

_OPERATORS = ("&&", "||", ";;", "<<<", "<<-", "<<", ">>", "<&", ">&", "&>", "<>", ">|")
_SINGLE = frozenset(";&|()<>\n")
_DESCRIPTOR = re.compile(r"(?<![^\s;&|()])[0-9]+(?=[<>])")
_BARE = re.compile(r"""[^ \t;&|()<>\n\\'"$`]+""")
_IN_DOUBLE = re.compile(r'[^"\\$`]+')
_PLAIN = {"'": re.compile(r"[^\\']+"), "`": re.compile(r"[^\\`]+")}
_NOT_NESTED = re.compile(r"[^(){}'\\]+")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!-]")


class Unclosed(Exception):
    """A quote or bracket that is not closed. `line` and `column`: where it starts."""

    def __init__(self, what: str, line: int, column: int) -> None:
        super().__init__(what)
        self.line, self.column = line, column


@dataclass(slots=True)
class _Reader:
    """A position in a text. The text is read in pieces, each character once."""

    text: str
    at: int = 0
    line: int = 1
    column: int = 1
    documents: list[Word] = field(default_factory=list)
    bodies: dict[tuple[int, int], tuple[int, str]] = field(default_factory=dict)

    def peek(self, count: int = 1) -> str:
        return self.text[self.at : self.at + count]

    def next(self) -> str:
        return self.take(1)

    def take(self, count: int) -> str:
        """Returns the next characters, fewer at the end of the text, and moves past them."""
        piece = self.peek(count)
        self.at += len(piece)
        if lines := piece.count("\n"):
            self.line, self.column = self.line + lines, len(piece) - piece.rindex("\n")
        else:
            self.column += len(piece)
        return piece

    def run(self, pattern: re.Pattern[str]) -> str:
        """Returns what a pattern matches here, and moves past it; "" if it does not match."""
        match = pattern.match(self.text, self.at)
        return self.take(match.end() - self.at) if match else ""

    def until(self, end: str) -> str:
        """Returns the text before a character, and moves to it; the rest of the text if it does not occur."""
        place = self.text.find(end, self.at)
        return self.take((len(self.text) if place < 0 else place) - self.at)

    @property
    def ended(self) -> bool:
        return self.at >= len(self.text)


def commands(text: str) -> list[Command]:
    """Returns the simple commands of a script in their order. Raises Unclosed."""
    return read(text).commands


@dataclass(frozen=True, slots=True)
class Program:
    """A script: its commands, and its here-documents by the position of the word after `<<`.

    A here-document is the number of its first line, and its text. `functions`: the names of those that the
    script defines. `of_function`: the commands of each function; those of "" are followed when the script
    starts: they are in no function, or in one that the script does not call.
    """

    commands: list[Command]
    bodies: dict[tuple[int, int], tuple[int, str]]
    functions: frozenset[str]
    of_function: Mapping[str, Sequence[Command]]


def read(text: str, line: int = 1) -> Program:
    """Read a script. Raises Unclosed if a quote or bracket is not closed.

    `line`: the number of its first line.
    """
    reader = _Reader(text.replace("\r\n", "\n"), line=line)
    structure = Structure()
    for token in _tokens(reader):
        structure.take(token)
    structure.end("")
    called = {command.words[0].text for command in structure.commands if command.words}
    of_function: dict[str, list[Command]] = {"": []}
    functions: set[str] = set()
    around: tuple[str, ...] = ()
    innermost = ""
    for command in structure.commands:
        if command.blocks is not around:
            around = command.blocks
            names = [block.removeprefix(FUNCTION) for block in around if block.startswith(FUNCTION)]
            innermost = names[-1] if names else ""
            functions.update(names)
        of_function.setdefault(innermost, []).append(command)
        if innermost and innermost not in called:
            of_function[""].append(command)
    return Program(structure.commands, reader.bodies, frozenset(functions), of_function)


def words_in(text: str) -> list[Word]:
    """Returns the words of a text, such as the default in `${NAME:-text}`."""
    return [token for token in _tokens(_Reader(text)) if isinstance(token, Word)]


def _tokens(reader: _Reader) -> Iterator[Word | str]:
    """Yields words, and operators as strings."""
    here: str | None = None
    while not reader.ended:
        number = _DESCRIPTOR.match(reader.text, reader.at)
        char = reader.peek()
        if number:
            reader.take(len(number[0]))
        elif reader.peek(2) == "\\\n":
            reader.take(2)
        elif char in " \t":
            reader.next()
        elif char == "#":
            reader.until("\n")
        elif char in _SINGLE:
            operator = _operator(reader)
            if operator == "\n" and reader.documents:
                _skip_documents(reader)
            here = operator if operator in ("<<", "<<-") else None
            yield operator
        else:
            word = _word(reader)
            if here is not None:
                reader.documents.append(word)
                here = None
            yield word


def _operator(reader: _Reader) -> str:
    for operator in _OPERATORS:
        if reader.peek(len(operator)) == operator:
            return reader.take(len(operator))
    return reader.next()


def _skip_documents(reader: _Reader) -> None:
    """Read the here-documents, which end with the words after `<<`."""
    for end in reader.documents:
        start, lines = reader.line, []
        while not reader.ended:
            line = reader.until("\n")
            reader.next()
            if line.strip("\t") == end.text:
                break
            lines.append(line)
        reader.bodies[end.line, end.column] = start, "\n".join(lines)
    reader.documents.clear()


@dataclass(slots=True)
class _Parts:
    """A word while it is read."""

    parts: list[Part] = field(default_factory=list)
    variables: list[str] = field(default_factory=list)
    bare: bool = False
    quoted: bool = False

    @property
    def text(self) -> str:
        """The characters so far."""
        return "".join(part.text for part in self.parts)

    def add(self, text: str, *, quoted: bool) -> None:
        """Add characters."""
        self.parts.append(Part(text, quoted))
        self.quoted = self.quoted or quoted


def _word(reader: _Reader, *, arrays: bool = True) -> Word:
    """Read the word that starts here. `arrays`: whether it may be an array; the words in an array may not."""
    line, column = reader.line, reader.column
    parts = _Parts()
    while not reader.ended:
        char = reader.peek()
        if arrays and char == "(" and not parts.quoted and ASSIGNMENT.fullmatch(written := parts.text):
            return Word(written, line, column, array=_array(reader))
        if char in " \t" or char in _SINGLE:
            break
        _piece(reader, char, parts)
    all_parts = tuple(parts.parts)
    return Word(parts.text, line, column, tuple(parts.variables), parts.bare, parts.quoted, all_parts)


def _piece(reader: _Reader, char: str, parts: _Parts) -> None:
    """Read the part of a word that starts with `char`."""
    if char == "\\":
        reader.next()
        following = reader.next()
        if following != "\n":
            parts.add(following, quoted=True)
    elif char == "'":
        parts.add(_quoted(reader, "'", "a single quote"), quoted=True)
    elif char == '"' or reader.peek(2) == '$"':
        if char == "$":
            reader.next()
        _double(reader, parts)
    elif reader.peek(2) == "$'":
        reader.next()
        parts.add(_ansi(_quoted(reader, "'", "a quote", escapes=True)), quoted=True)
    elif char in "$`":
        _expansion(reader, parts, bare=True)
    else:
        parts.add(reader.run(_BARE), quoted=False)


def _array(reader: _Reader) -> tuple[Word, ...]:
    """Read the words between the brackets of an array, which may be on several lines."""
    line, column = reader.line, reader.column
    reader.next()
    words: list[Word] = []
    while not reader.ended:
        char = reader.peek()
        if char == ")":
            reader.next()
            return tuple(words)
        if reader.peek(2) == "\\\n":
            reader.take(2)
        elif char == "#":
            reader.until("\n")
        elif char in " \t" or char in _SINGLE:
            reader.next()
        else:
            words.append(_word(reader, arrays=False))
    raise Unclosed("a bracket", line, column)


def _quoted(reader: _Reader, end: str, what: str, *, escapes: bool = False) -> str:
    """Returns the text between the quote at this position and the next one, and moves past it."""
    line, column = reader.line, reader.column
    reader.next()
    pieces: list[str] = []
    while not reader.ended:
        pieces.append(reader.run(_PLAIN[end]) if escapes else reader.until(end))
        char = reader.next()
        if char == end:
            return "".join(pieces)
        pieces += [char, reader.next()]  # a backslash, and the character that it escapes
    raise Unclosed(what, line, column)


_ANSI = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}


def _ansi(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ANSI.get(match[1], match[0]), text, flags=re.DOTALL)


def _double(reader: _Reader, parts: _Parts) -> None:
    line, column = reader.line, reader.column
    reader.next()
    parts.add("", quoted=True)
    while not reader.ended:
        char = reader.peek()
        if char == '"':
            reader.next()
            return
        if char == "\\" and reader.peek(2)[1:] in ("$", "`", '"', "\\", "\n") and len(reader.peek(2)) == 2:
            reader.next()
            following = reader.next()
            parts.add("" if following == "\n" else following, quoted=True)
        elif char in "$`":
            _expansion(reader, parts, bare=False)
        else:
            parts.add(reader.run(_IN_DOUBLE) or reader.next(), quoted=True)
    raise Unclosed("a double quote", line, column)


def _expansion(reader: _Reader, parts: _Parts, *, bare: bool) -> None:
    """Read a variable or substitution, which stays as written."""
    start = reader.at
    line, column = reader.line, reader.column
    if reader.peek() == "`":
        _quoted(reader, "`", "a backquote", escapes=True)
    elif reader.peek(2) in ("${", "$("):
        _balanced(reader, line, column)
    else:
        reader.next()
        if not reader.run(_VARIABLE):
            parts.add("$", quoted=not bare)
            return
    written = reader.text[start : reader.at]
    parts.parts.append(Part(written, not bare, expansion=True))
    parts.variables.append(written)
    parts.bare = parts.bare or bare


def _balanced(reader: _Reader, line: int, column: int) -> None:
    """Skip `${...}` or `$(...)` with everything that is nested in it."""
    reader.next()
    pairs = {"(": ")", "{": "}"}
    stack = [pairs[reader.next()]]
    while not reader.ended:
        char = reader.peek()
        if char == "'" and stack[-1] == ")":
            _quoted(reader, "'", "a single quote")
            continue
        if reader.run(_NOT_NESTED):
            continue
        reader.next()
        if char == "\\" and not reader.ended:
            reader.next()
        elif char in pairs:
            stack.append(pairs[char])
        elif char == stack[-1]:
            stack.pop()
            if not stack:
                return
    raise Unclosed("an expansion", line, column)
