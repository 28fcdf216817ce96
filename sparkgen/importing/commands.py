"""Turns the tokens of a shell script into simple commands, each with the blocks around it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

REDIRECTIONS = frozenset({"<", ">", ">>", "<<", "<<-", "<<<", "<&", ">&", "&>", "<>", ">|"})
ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_BRANCHES = frozenset({"then", "else", "elif"})
_OPENING = frozenset({"if", "for", "while", "until", "select"})
_CLOSING = frozenset({"fi", "done", "esac", "}"})
_QUIET = frozenset({"!", "time", "do"})
FUNCTION = "function "
"""The start of a block's name if the block is the body of a function."""
DEEPEST_BLOCKS = 100
"""The depth to which blocks are recorded. Deeper ones count as part of the deepest recorded block."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a word: its characters without quotes, or an expansion as written."""

    text: str
    quoted: bool
    expansion: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """A word as the command gets it. `line` and `column` count from 1.

    `variables`: the expansions in it, as written (`${DATE}`, `$(date)`). `bare`: one of them is outside of
    quotes, so the shell may turn it into several words. `quoted`: some part was in quotes. `defaults`: the
    variables whose default was used. `array`: the words between the brackets of `NAME=(...)`.
    """

    text: str
    line: int
    column: int
    variables: tuple[str, ...] = ()
    bare: bool = False
    quoted: bool = False
    parts: tuple[Part, ...] = ()
    defaults: tuple[str, ...] = ()
    array: tuple[Word, ...] | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command. `assignments`: those before it; `redirections`: the words of its redirections.

    `blocks`: the names of the conditions, loops, subshells and functions around it, outermost first. The
    names have a number, except those of functions and of groups (`{ }`).
    """

    words: tuple[Word, ...]
    assignments: tuple[Word, ...] = ()
    redirections: tuple[Word, ...] = ()
    blocks: tuple[str, ...] = ()


@dataclass(slots=True)
class Structure:
    """Groups tokens into commands, and records the blocks around each."""

    commands: list[Command] = field(default_factory=list)
    blocks: list[str] = field(default_factory=list)
    tokens: list[Word | str] = field(default_factory=list)
    has_word: bool = False
    """Whether one of `tokens` is a Word."""
    number: int = 0
    pattern: bool = False
    function: str = ""
    raw: str = ""
    deeper: int = 0
    """The number of open blocks beyond DEEPEST_BLOCKS."""
    around: tuple[str, ...] = ()
    """The blocks of the last command; commands in the same blocks share them."""

    def take(self, token: Word | str) -> None:
        """Process the next token."""
        if isinstance(token, Word):
            self._word(token)
        elif token in REDIRECTIONS:
            self.tokens.append(token)
        elif self.raw:
            return  # inside [[ ]]
        elif self.pattern:
            self.pattern = token not in (")",)
            self._begin()
        else:
            self._operator(token)

    def _word(self, word: Word) -> None:
        first = not self.has_word
        plain = "" if word.quoted or word.variables else word.text
        if self.pattern:
            self.pattern = plain != "esac"
            if plain == "esac":
                self._close()
        elif self.raw:
            self.raw = "" if plain == self.raw else self.raw
        elif first and plain == "[[":
            self.raw = "]]"
        elif plain == "in" and self.tokens[:1] == ["case"]:
            self.pattern = True
            self._begin()
        elif first and self._is_keyword(plain):
            pass
        else:
            self.tokens.append(word)
            self.has_word = True

    def _begin(self) -> None:
        """Forget the tokens of the command so far."""
        self.tokens, self.has_word = [], False

    def _is_keyword(self, text: str) -> bool:
        """Whether a command's first word is a keyword of the shell. If it is, update the blocks."""
        if text in _OPENING or text == "case":
            self._open(text)
            if text in ("for", "select", "case"):
                self.tokens.append(text)
        elif text in _BRANCHES:
            self._branch()
        elif text in _CLOSING:
            self._close()
        elif text == "{":
            self._open("{" if not self.function else f"{FUNCTION}{self.function}")
        elif text == "function":
            self.tokens.append(text)
        elif text not in _QUIET:
            return False
        return True

    def _operator(self, operator: str) -> None:
        if operator == "(":
            self._bracket()
        elif operator == ")":
            self.end(";")
            if self.blocks and self.blocks[-1].startswith("("):
                self._close()
        else:
            self.end(operator)

    def _bracket(self) -> None:
        """Process an opening bracket: of a subshell, or of a function's `()`."""
        words = [token for token in self.tokens if isinstance(token, Word)]
        if len(words) == 1 and "=" not in words[0].text:
            self.function = words[0].text
            self._begin()
        else:
            self.end(";")
        self._open("(")

    def end(self, operator: str) -> None:
        """End a command. What follows `&&`, `||` or a pipe gets its own block, up to the end of the list."""
        head = next((token for token in self.tokens if isinstance(token, str)), "")
        words = [token for token in self.tokens if isinstance(token, Word)]
        if head in ("for", "select") and words:
            self._add([Word(f"{words[0].text}=", words[0].line, words[0].column, ("$@",), bare=True)])
        elif head == "function" and words:
            self.function = words[0].text
        else:
            self._add(self.tokens)
        self._begin()
        if operator == ";;":
            self._branch()
            self.pattern = True
        if operator in ("&&", "||", "|"):
            self._open("&&")
            return
        while self.blocks and self.blocks[-1].startswith("&&"):
            self._close()

    def _add(self, tokens: list[Word | str]) -> None:
        command = _command(tokens)
        if command is not None:
            blocks = tuple(self.blocks)
            self.around = self.around if blocks == self.around else blocks
            self.commands.append(replace(command, blocks=self.around))

    def _open(self, name: str) -> None:
        if len(self.blocks) >= DEEPEST_BLOCKS:
            self.deeper += 1
            self.function = ""
            return
        self.number += 1
        if name.startswith(FUNCTION):
            self.function = ""
            self.blocks.append(name)
        elif name == "{":
            self.blocks.append("{")
        else:
            self.blocks.append(f"{name} {self.number}")

    def _branch(self) -> None:
        if self.blocks:
            self.number += 1
            self.blocks[-1] = f"{self.blocks[-1].partition(' ')[0]} {self.number}"

    def _close(self) -> None:
        if self.deeper:
            self.deeper -= 1
        elif self.blocks:
            self.blocks.pop()


def _command(tokens: list[Word | str]) -> Command | None:
    """Returns the command that the tokens form; None if they contain no word."""
    words: list[Word] = []
    assignments: list[Word] = []
    redirections: list[Word] = []
    expect = False
    for token in tokens:
        if isinstance(token, str):
            expect = True
        elif expect:
            redirections.append(token)
            expect = False
        elif not words and (token.array is not None or ASSIGNMENT.match(token.text)):
            assignments.append(token)
        else:
            words.append(token)
    if not words and not assignments and not redirections:
        return None
    return Command(tuple(words), tuple(assignments), tuple(redirections))
