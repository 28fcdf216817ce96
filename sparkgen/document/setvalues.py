"""`--set` and `--set-string`: Helm's grammar (helm.sh/helm/v4, pkg/strvals), with positions for messages.

`a.b=c,d=e` sets two values, `a[0]=x` an item, `a={x,y}` a list; after a backslash, a character has no special
meaning. `true`, `false`, `null` and decimal integers are typed; fractions remain strings, as in Helm.
Arguments for which Helm silently sets nothing (`=x`, `a[0]`, `a.`) are problems here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sparkgen.document.limits import MAX_DEPTH, MAX_NODES, MAX_SET_KEYS
from sparkgen.document.node import Node, list_node, scalar_node
from sparkgen.document.text import shortened
from sparkgen.errors import Position, Problem, Severity

_INTEGER = re.compile(r"[+-]?[0-9]{1,20}")
_INDEX = re.compile(r"[+]?[0-9]{1,9}")
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_HOW = "write key=value, a.b=value, a[0]=value or a={x,y}; put a backslash before a comma inside a value"

Step = tuple[str | int, Position]
"""A key or an index of a path, and its position."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One value to set: its path and the value. A null deletes the key."""

    path: tuple[Step, ...]
    value: Node


class SetError(Exception):
    """A `--set` argument cannot be parsed, or does not fit a document; `problem` (SG017) has the reason."""

    def __init__(self, place: Position, message: str, next_step: str = _HOW, found: str = "") -> None:
        super().__init__(message)
        self.problem = Problem(
            "SG017", Severity.ERROR, place, (), message, found=shortened(found), next_step=next_step
        )


def parse_set(text: str, option: str, number: int, *, strings: bool = False) -> list[Assignment]:
    """The assignments in one argument of `--set`. Raises SetError.

    `option` ("--set") is the file of their positions, and `number` the line: the number of this option in
    the command, from 1. Columns count within the argument. `strings`: every value is a string.
    """
    return _Reader(text, option, number, strings=strings).assignments()


class _Reader:
    def __init__(self, text: str, option: str, number: int, *, strings: bool) -> None:
        self._text = text
        self._at = 0
        self._option = option
        self._number = number
        self._strings = strings

    def _place(self, index: int) -> Position:
        return Position(self._option, self._number, index + 1)

    def _next_is(self, character: str) -> bool:
        return self._text[self._at : self._at + 1] == character

    def _until(self, stops: str) -> tuple[str, str]:
        """The text up to a stop character, and this character, which is consumed; ("...", "") at the end."""
        taken: list[str] = []
        while self._at < len(self._text):
            character = self._text[self._at]
            self._at += 1
            if character in stops:
                return "".join(taken), character
            if character == "\\":
                character = self._text[self._at : self._at + 1]
                self._at += 1
            taken.append(character)
        return "".join(taken), ""

    def assignments(self) -> list[Assignment]:
        if not self._text:
            raise SetError(self._place(0), f"{self._option} is empty")
        try:
            self._text.encode()
        except UnicodeEncodeError as error:  # bytes of the command line that are not UTF-8
            step = "write it in UTF-8"
            raise SetError(self._place(error.start), "is not UTF-8", step, self._text) from None
        found: list[Assignment] = []
        while self._at < len(self._text):
            path = self._path()
            found.append(Assignment(path, self._value()))
        return found

    def _path(self) -> tuple[Step, ...]:
        start = self._at
        path: list[Step] = []
        stop = "."
        while stop != "=":
            step, stop = self._index() if stop == "[" else self._key()
            path.append(step)
            if stop in ("", ","):
                found = self._text[start : self._at].rstrip(",")
                raise SetError(self._place(start), "the key has no value", found=found)
        if sum(isinstance(part, str) for part, _ in path) > MAX_SET_KEYS or len(path) > MAX_DEPTH:
            message = f"the path has more than {MAX_SET_KEYS} keys"
            raise SetError(self._place(start), message, "set a value this deep in a file, with -f")
        return tuple(path)

    def _key(self) -> tuple[Step, str]:
        place = self._place(self._at)
        key, stop = self._until("=[,.")
        if not key:
            raise SetError(place, "a key is missing here", found=self._text)
        return (key, place), stop

    def _index(self) -> tuple[Step, str]:
        place = self._place(self._at)
        digits, stop = self._until("]")
        if not stop:
            raise SetError(place, "the bracket `[` is not closed", found=digits)
        if not _INDEX.fullmatch(digits):
            raise SetError(place, "an index must be a number from 0", found=digits)
        if int(digits) >= MAX_NODES:
            message = f"the index is larger than {MAX_NODES - 1}"
            raise SetError(place, message, "set long lists in a file, with -f", digits)
        behind = self._place(self._at)
        rest, stop = self._until("[.=")
        if rest:
            raise SetError(behind, "only `=`, `.` or `[` may follow `]`", found=rest)
        return (int(digits), place), stop

    def _value(self) -> Node:
        place = self._place(self._at)
        if not self._next_is("{"):
            text, _ = self._until(",")
            return self._scalar(text, place)
        self._at += 1
        items: list[Node] = []
        stop = ","
        while stop != "}":
            inner = self._place(self._at)
            text, stop = self._until(",}")
            if not stop:
                raise SetError(
                    place, "the list is not closed", "end it with `}`", self._text[place.column - 1 :]
                )
            items.append(self._scalar(text, inner))
        if self._next_is(","):
            self._at += 1
        return list_node(place, items)

    def _scalar(self, text: str, place: Position) -> Node:
        return scalar_node(text if self._strings else _typed(text), place, text)


def _typed(text: str) -> str | int | bool | None:
    """Helm's typedVal: a word in any case, 0, or an integer that does not start with a zero."""
    word = text.casefold()
    if word in _WORDS:
        return _WORDS[word]
    if text == "0":
        return 0
    if not text.startswith("0") and _INTEGER.fullmatch(text) and -(2**63) <= int(text) < 2**63:
        return int(text)
    return text
