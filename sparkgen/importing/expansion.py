"""Expands the words of a script as a shell does, as far as the script sets the values of its variables.

Source: POSIX.1-2017, Shell Command Language, 2.6 (word expansions), and bash's arrays. Expansions that only
the machine knows (other programs' output, environment variables) stay as written, and are listed as unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from sparkgen.grammar.whole import whole
from sparkgen.importing.commands import Part, Word

_PLAIN = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*|[0-9@*])|\{([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*])\})")
_DEFAULT = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*|[0-9]+)(:?)([-=+?])(.*)\}", re.DOTALL)
_ARRAY = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\[([@*]|[0-9]+)\]\}")
_MANY = frozenset({"$@", "$*", "${@}", "${*}"})
_COMMENT = re.compile(r"(?:\s*+#[^\n]*+)?\s*+")
_BRACES = re.compile(r"\{(?:[^{},.]|\.(?!\.))*+(?:,|\.\.)[^{}]*+\}")


@dataclass(frozen=True, slots=True)
class Value:
    """The value of a variable: its words, exactly one unless it is an array. `blocks`: where it was set."""

    words: tuple[Word, ...]
    blocks: tuple[str, ...] = ()


MOST_EXPANDED = 4 << 20
"""The most characters that all expansions of a script may produce together.

Without this limit, a few lines that each double a variable would use all memory. A shell itself passes at
most some megabytes to a command.
"""

DEEPEST = 30
"""The depth of nested defaults, as in `${A:-${B:-x}}`, that are expanded; deeper ones are unknown."""

WORD = 64
"""The cost of a word, in characters, besides its text; also that of the name of each default in it."""


@dataclass(slots=True)
class Budget:
    """The characters that the expansions of a script may still produce, and the current depth of defaults."""

    left: int = MOST_EXPANDED
    depth: int = 0


@dataclass(slots=True)
class Variables:
    """The variables of a script at one of its commands. `arguments`: those of the current function.

    `shifted`: how many of the arguments `shift` has removed. When `budget` is used up, all variables are
    unknown.
    """

    values: dict[str, Value | None] = field(default_factory=dict)
    blocks: tuple[str, ...] = ()
    arguments: tuple[Word, ...] | None = None
    shifted: int = 0
    budget: Budget = field(default_factory=Budget)

    def afford(self, words: Iterable[Word], *, split: bool = False) -> bool:
        """Whether the budget suffices to copy words once more. Their cost is subtracted from it.

        `split`: the shell splits each word, and every part of it gets the names of the defaults in it.
        """
        for word in words:
            if self.budget.left < 0:
                return False
            parts = len(word.text.split()) if split and word.defaults else 1
            self.budget.left -= len(word.text) + WORD * (1 + parts * len(word.defaults))
        return self.budget.left >= 0

    def left_arguments(self) -> tuple[Word, ...] | None:
        """Returns the arguments that were not removed; None if only the machine knows them."""
        if self.arguments is None or self.budget.left < 0:
            return None
        return self.arguments[self.shifted :]

    def set_arguments(self, words: tuple[Word, ...] | None) -> None:
        """Set all arguments."""
        self.arguments, self.shifted = words, 0

    def get(self, name: str) -> tuple[Word, ...] | None:
        """Returns the words of a variable; None if only the machine knows them."""
        if name.isdigit():
            number = whole(name)
            if self.arguments is None or not number:
                return None
            place = self.shifted + number
            return self.arguments[place - 1 : place]
        value = self.values.get(name)
        if value is None or self.blocks[: len(value.blocks)] != value.blocks:
            return None  # from the environment, or set under a condition
        return value.words

    def put(self, name: str, words: tuple[Word, ...]) -> None:
        """Set a variable."""
        self.values[name] = Value(words, self.blocks)

    def forget(self, name: str) -> None:
        """Mark a variable as unknown."""
        self.values[name] = None


@dataclass(slots=True)
class _Fields:
    """The words that one word becomes, while it is being expanded."""

    word: Word
    done: list[Word] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    open: bool = False
    unknown: list[str] = field(default_factory=list)
    many: bool = False
    defaults: list[str] = field(default_factory=list)

    def add(self, text: str) -> None:
        self.texts.append(text)
        self.open = True

    def adopt(self, word: Word) -> None:
        """Add the text of a known word, with its unknown expansions."""
        self.add(word.text)
        self.unknown += word.variables
        self.defaults += word.defaults
        self.many = self.many or word.bare

    def end(self) -> None:
        """End the current word, if one was started."""
        if self.open:
            word = self.word
            text = "".join(self.texts)
            whole = Word(text, word.line, word.column, tuple(self.unknown), self.many, word.quoted)
            self.done.append(replace(whole, defaults=tuple(dict.fromkeys(self.defaults))))
        self.texts, self.open, self.unknown, self.many, self.defaults = [], False, [], False, []


def expand(words: Iterable[Word], variables: Variables) -> list[Word]:
    """Returns the words that a command gets, each with its unknown expansions."""
    return [expanded for word in words for expanded in _expanded(word, variables)]


def _expanded(word: Word, variables: Variables) -> list[Word]:
    if not word.parts:
        return [word]
    fields = _Fields(word)
    for part in word.parts:
        if not part.expansion:
            fields.add(part.text)
            # # the shell may turn a file pattern, or braces, into several words.
            if not part.quoted and (_BRACES.search(part.text) or _has_pattern(part.text)):
                fields.unknown.append(part.text)
        else:
            _expansion(part, variables, fields)
    fields.end()
    return fields.done


def _has_pattern(text: str) -> bool:
    """Whether a shell reads a text as a file pattern: it has `*`, `?`, or a list in brackets."""
    if "*" in text or "?" in text:
        return True
    start = text.find("[")
    while start >= 0 and (end := text.find("]", start)) >= 0:
        if end > start + 1:
            return True
        start = text.find("[", end)
    return False


def joined(word: Word, variables: Variables) -> Word:
    """Returns the value of an assignment as one word: the shell does not split it."""
    quoted = [part if not part.expansion else Part(part.text, True, True) for part in word.parts]
    whole = expand([replace(word, parts=tuple(quoted))], variables)
    text = " ".join(one.text for one in whole)
    unknown = tuple(name for one in whole for name in one.variables if name.startswith(("$", "`")))
    defaults = tuple(name for one in whole for name in one.defaults)
    return Word(text, word.line, word.column, unknown, any(one.bare for one in whole), defaults=defaults)


def _expansion(part: Part, variables: Variables, fields: _Fields) -> None:
    words = _words_of(part.text, variables, fields)
    if words is None or not variables.afford(words, split=not part.quoted):
        fields.add(part.text)
        fields.unknown.append(part.text)
        fields.many = fields.many or not part.quoted or part.text in _MANY or part.text.endswith("[@]}")
        return
    separate = part.text in ("$@", "${@}") or part.text.endswith("[@]}") or not part.quoted
    if part.quoted and not separate:
        for index, word in enumerate(words):
            fields.add(" " if index else "")
            fields.adopt(word)
        return
    for index, word in enumerate(words):
        if index:
            fields.end()
        if part.quoted or word.variables:
            fields.adopt(replace(word, bare=word.bare or (not part.quoted and bool(word.variables))))
        else:
            _split(word, fields)


def _split(word: Word, fields: _Fields) -> None:
    """Split an unquoted text into words."""
    pieces = re.split(r"[ \t\n]+", word.text)
    for index, piece in enumerate(pieces):
        if index:
            fields.end()
        if piece:
            fields.add(piece)
            fields.defaults += word.defaults
            if _has_pattern(piece):
                fields.unknown.append(piece)


def _words_of(written: str, variables: Variables, fields: _Fields) -> Sequence[Word] | None:
    """Returns the words of an expansion; None if only the machine knows them."""
    inner = written[2:-1] if written.startswith("$(") else written[1:-1] if written[0] == "`" else None
    if inner is not None:
        return () if _COMMENT.fullmatch(inner) else None
    if (plain := _PLAIN.fullmatch(written)) is not None:
        name = plain[1] or plain[2]
        if name in ("@", "*"):
            return variables.left_arguments()
        words = variables.get(name)
        return words[:1] if words is not None else None
    if (array := _ARRAY.fullmatch(written)) is not None:
        words = variables.get(array[1])
        if words is None or array[2] in ("@", "*"):
            return words
        index = whole(array[2])
        return words[index : index + 1] if index is not None else None
    if (default := _DEFAULT.fullmatch(written)) is None or variables.budget.depth >= DEEPEST:
        return None
    variables.budget.depth += 1
    try:
        return _with_default(default, variables, fields)
    finally:
        variables.budget.depth -= 1


def _with_default(match: re.Match[str], variables: Variables, fields: _Fields) -> Sequence[Word] | None:
    """Returns the words of `${NAME:-word}` and similar expansions; None if only the machine knows them."""
    from sparkgen.importing.shell import words_in  # noqa: PLC0415 - that module imports this one

    name, colon, operator, text = match.groups()
    variables.budget.left -= len(text)  # each level of nested defaults is read again
    if variables.budget.left < 0:
        return None
    known = variables.get(name)
    is_set = (
        known is not None and bool(known) and (not colon or bool(known[0].text) or bool(known[0].variables))
    )
    if operator == "+":
        return None if known is None else expand(words_in(text), variables) if is_set else ()
    if is_set and known is not None:
        return known[:1]
    if operator == "?" or (known is None and name in variables.values):
        return None
    words = [joined(word, variables) for word in words_in(text)]
    if known is None:  # the environment may have another value
        words = [replace(word, defaults=(*word.defaults, name)) for word in words]
        if not words:
            fields.defaults.append(name)
    together = Word(" ".join(word.text for word in words), 0, 0)
    unknown = tuple(name for word in words for name in word.variables)
    defaults = tuple(name for word in words for name in word.defaults)
    result = (replace(together, variables=unknown, defaults=defaults),)
    if operator == "=" and not name.isdigit():
        variables.put(name, result)
    return result
