"""A shell script -> the spark-submit commands in it, and what else it does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sparkgen.importing.shell import Command, Word, commands

_SUBMIT = re.compile(r"(?:.*/)?spark[0-9]*-submit(?:\.sh|\.cmd)?")
_TALK = frozenset(
    {"echo", "printf", "which", "command", "type", "grep", "test", "[", "[[", "ls", "cat", "man"}
)
_SETS = frozenset({"export", "readonly", "declare", "local"})
_QUIET = frozenset({"set", "exit", "return", "true", ":", "shopt", "fi", "trap"})


@dataclass(frozen=True, slots=True)
class Script:
    """What is in a script.

    `submits`: the words behind each `spark-submit`, with its own word first. `before`: what stands before
    each of them: variables and commands that run it. `others`: the first words of other commands.
    `known`: variable -> the line that sets it; its value may be a secret, and is not kept.
    """

    submits: tuple[tuple[Word, ...], ...]
    before: tuple[tuple[Word, ...], ...]
    others: tuple[Word, ...]
    known: dict[str, int]


def is_submit(text: str) -> bool:
    """Whether a word calls spark-submit."""
    return _SUBMIT.fullmatch(text) is not None


def read_script(text: str) -> Script:
    """Take a script apart. sparkgen.importing.shell.Unclosed where its grammar ends too early."""
    submits: list[tuple[Word, ...]] = []
    before: list[tuple[Word, ...]] = []
    others: list[Word] = []
    known: dict[str, int] = {}
    for command in commands(text):
        index = _index(command)
        if index is None:
            others += _other(command)
            _remember(command, known)
        else:
            submits.append(command.words[index:])
            before.append((*command.assignments, *command.words[:index]))
    return Script(tuple(submits), tuple(before), tuple(others), known)


def words_of(arguments: Sequence[str]) -> tuple[Word, ...]:
    """The words of a command line that a shell has read already."""
    return tuple(Word(text, 1, index + 1) for index, text in enumerate(arguments))


def _index(command: Command) -> int | None:
    if command.words and command.words[0].text in _TALK:
        return None
    return next((index for index, word in enumerate(command.words) if is_submit(word.text)), None)


def _other(command: Command) -> list[Word]:
    """The first word of a command that does something."""
    if not command.words:
        return list(command.assignments)
    first = command.words[0]
    if first.text in _SETS:
        return [word for word in command.words[1:] if "=" in word.text]
    return [] if first.text in _QUIET else [first]


def _remember(command: Command, known: dict[str, int]) -> None:
    words = [*command.assignments]
    if command.words and command.words[0].text in _SETS:
        words += command.words[1:]
    for word in words:
        name, equals, _ = word.text.partition("=")
        if equals and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            known[name] = word.line
