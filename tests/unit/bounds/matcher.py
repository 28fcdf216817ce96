"""How much work an expression makes on a text, counted: a matcher that tracks back as `re` does.

`re` itself tells nobody how many steps it took. What it leaves out that this one does (such as a search for a
literal beginning) changes the number of steps, not how they grow.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

Continue = Callable[[int], bool]
ENDLESS = 1000
"""A repetition that may be this long counts as one without an end."""
LONGEST_UNIT = 12
"""Characters of what is repeated in a text: a longer one costs time, and shows the same. A beginning of the
expression has any length: only a whole one makes `search` and its like try again."""
_SINGLE = (ops.LITERAL, ops.NOT_LITERAL, ops.ANY, ops.IN)
_REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)


class TooMuch(Exception):
    """More steps than were allowed."""


def tree(pattern: re.Pattern[Any]) -> Any:
    """The parsed form of an expression."""
    text = pattern.pattern
    if isinstance(text, bytes):
        text = text.decode("latin-1")
    return _parser.parse(text, pattern.flags & ~re.DEBUG)


def steps(pattern: re.Pattern[Any], method: str, text: str, most: int = 100_000) -> int:
    """The steps of a method of `re` on a text. TooMuch for more than `most`."""
    matcher = _Matcher(tree(pattern), pattern.flags, text, most)
    matcher.run(method)
    return matcher.steps


class _Matcher:
    def __init__(self, parsed: Any, flags: int, text: str, most: int) -> None:
        self.parsed, self.flags, self.text, self.most = parsed, flags, text, most
        self.steps = 0
        self.groups: dict[int, tuple[int, int]] = {}

    def run(self, method: str) -> None:
        if method == "fullmatch":
            self._sequence(self.parsed, 0, 0, lambda at: at == len(self.text))
        elif method == "match":
            self._first(self.parsed, 0)
        else:
            start = 0
            while start <= len(self.text):
                end = self._first(self.parsed, start)
                if end is not None and method == "search":
                    return
                start = max(start + 1, end or 0)

    def _first(self, sequence: Any, at: int) -> int | None:
        """Where the first match that begins at `at` ends."""
        ends: list[int] = []

        def kept(end: int) -> bool:
            ends.append(end)
            return True

        return ends[0] if self._sequence(sequence, 0, at, kept) else None

    def _count(self, number: int = 1) -> None:
        self.steps += number
        if self.steps > self.most:
            raise TooMuch

    def _sequence(self, sequence: Any, index: int, at: int, then: Continue) -> bool:
        while True:
            self._count()
            if index == len(sequence):
                return then(at)
            op, value = sequence[index]
            if op not in _SINGLE:
                break
            if at == len(self.text) or not fits(op, value, self.text[at], self.flags):
                return False
            index, at = index + 1, at + 1
        return self._step(op, value, at, lambda end: self._sequence(sequence, index + 1, end, then))

    def _step(self, op: Any, value: Any, at: int, then: Continue) -> bool:
        if op is ops.BRANCH:
            return any(self._sequence(branch, 0, at, then) for branch in value[1])
        if op is ops.SUBPATTERN:
            return self._sequence(value[3], 0, at, then)
        if op is ops.ATOMIC_GROUP:
            end = self._first(value, at)
            return end is not None and then(end)
        if op in (ops.ASSERT, ops.ASSERT_NOT):
            return self._asserted(*value, at) is (op is ops.ASSERT) and then(at)
        if op is ops.AT:
            return self._is_at(value, at) and then(at)
        return self._repeated(op, *value, at, then)

    def _asserted(self, direction: int, inner: Any, at: int) -> bool:
        start = at if direction >= 0 else at - inner.getwidth()[0]
        return start >= 0 and self._first(inner, start) is not None

    def _is_at(self, place: Any, at: int) -> bool:
        before, after = self.text[at - 1 : at], self.text[at : at + 1]
        multiline = self.flags & re.MULTILINE
        if place in (ops.AT_BEGINNING, ops.AT_BEGINNING_STRING):
            return not before or bool(place is ops.AT_BEGINNING and multiline and before == "\n")
        if place is ops.AT_END_STRING:
            return not after
        if place is ops.AT_END:
            return not after or (after == "\n" and bool(multiline or at + 1 == len(self.text)))
        words = [bool(char) and (char.isalnum() or char == "_") for char in (before, after)]
        return (words[0] != words[1]) is (place is ops.AT_BOUNDARY)

    def _repeated(self, op: Any, least: int, most: Any, body: Any, at: int, then: Continue) -> bool:
        most = 10**9 if most is ops.MAXREPEAT else most
        if len(body) == 1 and body[0][0] in _SINGLE:
            return self._of_single(op, least, most, body[0], at, then)
        if op is ops.POSSESSIVE_REPEAT:
            count = 0
            while count < most and (end := self._first(body, at)) is not None and end > at:
                at, count = end, count + 1
            return count >= least and then(at)

        def go(count: int, at: int, last: int) -> bool:
            self._count()

            def more() -> bool:
                may = count < most and (count < least or at != last)
                return may and self._sequence(body, 0, at, lambda end: go(count + 1, end, at))

            def enough() -> bool:
                return count >= least and then(at)

            first, second = (more, enough) if op is ops.MAX_REPEAT else (enough, more)
            return first() or second()

        return go(0, at, -1)

    def _of_single(self, op: Any, least: int, most: int, single: Any, at: int, then: Continue) -> bool:
        """A repetition of one character: counted at once, and then given back one by one."""
        longest = 0
        while (
            longest < most
            and at + longest < len(self.text)
            and fits(*single, self.text[at + longest], self.flags)
        ):
            longest += 1
            self._count()
        lengths: Iterator[int] = iter(range(longest, least - 1, -1))
        if op is ops.MIN_REPEAT:
            lengths = iter(range(least, longest + 1))
        elif op is ops.POSSESSIVE_REPEAT:
            lengths = iter([longest] if longest >= least else [])
        for length in lengths:
            self._count()
            if then(at + length):
                return True
        return False


def fits(op: Any, value: Any, char: str, flags: int) -> bool:
    """Whether one character is what a part of an expression asks for."""
    if op is ops.ANY:
        return char != "\n" or bool(flags & re.DOTALL)
    if op is ops.IN:
        negated = value[0][0] is ops.NEGATE
        return any(_is_in(item, char, flags) for item in value) is not negated
    return _is_in((ops.LITERAL, value), char, flags) is (op is ops.LITERAL)


def _is_in(item: Any, char: str, flags: int) -> bool:
    op, value = item
    forms = {char, char.lower(), char.upper()} if flags & re.IGNORECASE else {char}
    if op is ops.LITERAL:
        return chr(value) in forms
    if op is ops.RANGE:
        return any(len(form) == 1 and value[0] <= ord(form) <= value[1] for form in forms)
    if op is ops.CATEGORY:
        return _is_of_category(value, char)
    return False


def _is_of_category(category: Any, char: str) -> bool:
    name = str(category).removeprefix("CATEGORY_").removeprefix("UNI_")
    positive = name.removeprefix("NOT_")
    found = {
        "DIGIT": unicodedata.category(char) == "Nd",
        "SPACE": char.isspace(),
        "WORD": char.isalnum() or char == "_",
    }[positive]
    return found is (name == positive)


# --- hostile texts ----------------------------------------------------------------------------------------


def has_repeats(parsed: Any) -> bool:
    """Whether an expression has a repetition without an end."""
    return any(True for _ in _repeats(parsed, ""))


def attacks(pattern: re.Pattern[Any]) -> Iterator[Callable[[int], str]]:
    """Texts that grow with a number, made of what the expression itself asks for."""
    parsed, flags = tree(pattern), pattern.flags
    alphabet = _alphabet(parsed)
    whole = _sample(parsed, flags, alphabet)
    pairs = {("", whole): None, ("", whole[:-1]): None}
    beginnings = {""}
    for before, body in _repeats(parsed, ""):
        beginnings.add(before)
        units = [*_samples(body, flags, alphabet), before + _sample(body, flags, alphabet), before]
        pairs |= {(start, unit): None for unit in units for start in ("", before)}
    for before, unit in pairs:
        if 0 < len(unit) <= LONGEST_UNIT or (unit in beginnings and unit):
            for end in ("", "\n\x00"):
                yield lambda number, b=before, u=unit, e=end: b + u * number + e  # type: ignore[misc]


def _repeats(sequence: Any, before: str) -> Iterator[tuple[str, Any]]:
    """Each repetition without an end, after a sample of what comes before it."""
    for op, value in sequence:
        if op in _REPEATS:
            least, most, body = value
            if most is ops.MAXREPEAT or most >= ENDLESS:
                yield before, body
            yield from _repeats(body, before)
            before += _sample(body, 0, "a") * least
        elif op is ops.BRANCH:
            for branch in value[1]:
                yield from _repeats(branch, before)
            before += _sample(value[1][0], 0, "a")
        elif op is ops.SUBPATTERN:
            yield from _repeats(value[3], before)
            before += _sample(value[3], 0, "a")
        elif op is ops.ATOMIC_GROUP:
            yield from _repeats(value, before)
            before += _sample(value, 0, "a")
        elif op in (ops.ASSERT, ops.ASSERT_NOT):
            yield from _repeats(value[1], before)
        else:
            before += _sample([(op, value)], 0, "a")


def _alphabet(sequence: Any) -> str:
    """Characters that an expression names, and usual ones."""
    named: dict[str, None] = {}

    def walk(item: Any) -> None:
        if isinstance(item, tuple) and len(item) == 2:
            op, value = item
            if op in (ops.LITERAL, ops.NOT_LITERAL):
                named[chr(value)] = None
            elif op is ops.RANGE:
                named[chr(value[0])] = None
        if isinstance(item, tuple | list | _parser.SubPattern):
            for part in item:
                walk(part)

    walk(sequence)
    return "".join(named) + "a0 .-\t/:=\\\"'"


def _samples(sequence: Any, flags: int, alphabet: str) -> Iterator[str]:
    """Some texts that a part of an expression takes."""
    if len(sequence) == 1 and sequence[0][0] in _SINGLE:
        taken = [char for char in dict.fromkeys(alphabet) if fits(*sequence[0], char, flags)]
        yield from taken[:4]
        return
    if len(sequence) == 1 and sequence[0][0] is ops.BRANCH:
        for branch in sequence[0][1][1]:
            yield _sample(branch, flags, alphabet)
        return
    yield _sample(sequence, flags, alphabet)
    yield _sample(sequence, flags, alphabet[::-1])


def _sample(sequence: Any, flags: int, alphabet: str) -> str:
    return "".join(_part(op, value, flags, alphabet) for op, value in sequence)


def _part(op: Any, value: Any, flags: int, alphabet: str) -> str:
    if op in _SINGLE:
        if op is ops.LITERAL:
            return chr(value)
        usual = alphabet + 'a0A. -/"\\:=\x01\n' + "".join(map(chr, range(33, 127)))
        return next((char for char in usual if fits(op, value, char, flags)), "")
    if op in _REPEATS:
        return _sample(value[2], flags, alphabet) * max(value[0], 1)
    if op is ops.BRANCH:
        return _sample(value[1][0], flags, alphabet)
    if op is ops.SUBPATTERN:
        return _sample(value[3], flags, alphabet)
    if op is ops.ATOMIC_GROUP:
        return _sample(value, flags, alphabet)
    return ""
