"""Finds the spark-submit commands of a shell script, and what else it does.

The commands are followed in their order: assignments are recorded, functions are called, and the words of
each spark-submit are expanded as by a shell. Expansions that only the machine knows stay as written, and are
reported.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sparkgen.importing.commands import FUNCTION, Command, Word
from sparkgen.importing.embedded import has_application
from sparkgen.importing.emr_commands import starts_job
from sparkgen.importing.expansion import Variables, expand, joined
from sparkgen.importing.shell import Program, Unclosed, read
from sparkgen.semantics.secret import is_secret

_SUBMIT = re.compile(r"(?:.*/)?spark[0-9]*-submit(?:\.sh|\.cmd)?")
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]++)\}?")
_CALLS = re.compile(r"spark[0-9]*-submit\b")
_STARTS = re.compile(rf"{_CALLS.pattern}|\bstart-job-run\b")
_TALK = frozenset(
    {"echo", "printf", "which", "command", "type", "grep", "test", "[", "[[", "ls", "cat", "man"}
)
_SETS = frozenset({"export", "readonly", "declare", "local", "typeset"})
_QUIET = frozenset({"set", "exit", "return", "true", ":", "shopt", "trap", "shift", "unset", "]]"})
_SHELLS = frozenset({"bash", "sh", "zsh", "ksh", "dash"})
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SAME = ("{", "function")
"""Blocks that share their variables with the commands around them."""
_MOST_CALLS = 100
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Body:
    """A here-document: its text, and the number of its first line."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Script:
    """The contents of a script.

    `submits`: the words of each spark-submit command, from `spark-submit` on. `before`: the words before each
    of them: variables and commands that run it. `others`: assignments, and the first words of other commands.
    `known`: variable -> the line that sets it. `manifests`: here-documents with applications. `unread`:
    commands that call spark-submit in a way that import does not follow. `jobs`: the words of the commands
    that start jobs of EMR on EKS.
    """

    submits: tuple[tuple[Word, ...], ...]
    before: tuple[tuple[Word, ...], ...]
    others: tuple[Word, ...]
    known: dict[str, int]
    manifests: tuple[Body, ...] = ()
    unread: tuple[Word, ...] = ()
    jobs: tuple[tuple[Word, ...], ...] = ()


def is_submit(text: str) -> bool:
    """Whether a word calls spark-submit."""
    return _SUBMIT.fullmatch(text) is not None


def read_script(text: str) -> Script:
    """Read a script. Raises sparkgen.importing.shell.Unclosed if a quote or bracket is not closed."""
    reading = _Reading()
    reading.run(read(text), Variables())
    return reading.script()


def words_of(arguments: Sequence[str]) -> tuple[Word, ...]:
    """Returns the words of a command line that a shell has split already."""
    return tuple(Word(text, 1, index + 1) for index, text in enumerate(arguments))


@dataclass(slots=True)
class _Reading:
    """The state while a script is followed."""

    submits: list[tuple[Word, ...]] = field(default_factory=list)
    before: list[tuple[Word, ...]] = field(default_factory=list)
    others: dict[tuple[int, int], Word] = field(default_factory=dict)
    known: dict[str, int] = field(default_factory=dict)
    manifests: list[Body] = field(default_factory=list)
    unread: list[Word] = field(default_factory=list)
    jobs: list[tuple[Word, ...]] = field(default_factory=list)
    calls: int = 0
    left_out: dict[tuple[int, int], Word] = field(default_factory=dict)
    """The calls beyond _MOST_CALLS, which were not followed."""

    def script(self) -> Script:
        """Returns what was found."""
        others, manifests = tuple(self.others.values()), tuple(self.manifests)
        submits, before = tuple(self.submits), tuple(self.before)
        unread = (*self.unread, *self.left_out.values())
        return Script(submits, before, others, self.known, manifests, unread, tuple(self.jobs))

    def run(self, program: Program, variables: Variables, function: str = "", depth: int = 0) -> None:
        """Follow the commands of a program, or of one of its functions."""
        called = _called(program)
        for command in program.commands:
            inside = _function_of(command)
            if inside != function and not (function == "" and inside and inside not in called):
                continue
            variables.blocks = tuple(name for name in command.blocks if not name.startswith(_SAME))
            self._command(command, program, variables, depth)

    def _command(self, command: Command, program: Program, variables: Variables, depth: int) -> None:
        self._bodies(command, program, variables, depth)
        self._substitutions(command, variables, depth)
        words = expand(command.words, variables)
        first = words[0].text if words else ""
        if words and first in program.functions and depth < _DEEPEST:
            self._call(words, program, variables, depth)
        elif starts_job(words):
            self.jobs.append(tuple(words))
        elif (index := _index(words)) is not None:
            self.submits.append(tuple(words[index:]))
            self.before.append((*command.assignments, *words[:index]))
        elif (inner := _script_in(words)) is not None:
            self._inner(inner, words[0], variables, depth)
        else:
            self._other(command, words, variables)

    def _call(self, words: Sequence[Word], program: Program, variables: Variables, depth: int) -> None:
        """Follow a function with the arguments of a call. The first of the words is its name."""
        self.calls += 1
        if self.calls > _MOST_CALLS:
            self.left_out.setdefault((words[0].line, words[0].column), words[0])
            return
        blocks = variables.blocks
        self.run(program, replace(variables, arguments=tuple(words[1:]), shifted=0), words[0].text, depth + 1)
        variables.blocks = blocks

    def _inner(self, text: Word, shell: Word, variables: Variables, depth: int) -> None:
        """Follow the commands in a text that a shell gets."""
        try:
            program = read(text.text, text.line)
        except Unclosed:
            self.unread.append(shell)
            return
        if depth >= _DEEPEST:
            self.unread.append(shell)
            return
        self.run(program, replace(variables, blocks=()), "", depth + 1)

    def _substitutions(self, command: Command, variables: Variables, depth: int) -> None:
        """Follow substitutions that start applications, such as one that assigns a job's id to a variable."""
        for word in (*command.assignments, *command.words):
            for written in word.variables:
                if written.startswith(("$(", "`")) and _STARTS.search(written):
                    text = written.removeprefix("$")[1:-1]
                    self._inner(replace(word, text=text, variables=(), parts=()), word, variables, depth)

    def _bodies(self, command: Command, program: Program, variables: Variables, depth: int) -> None:
        """Read the here-documents of a command: manifests, and commands for a shell."""
        for word in command.redirections:
            line, text = program.bodies.get((word.line, word.column), (0, ""))
            if has_application(text):
                self.manifests.append(Body(text, line))
            elif _CALLS.search(text) and command.words:
                shell = command.words[0]
                if shell.text.rpartition("/")[2] in _SHELLS:
                    self._inner(Word(text, line, 1), shell, variables, depth)
                elif shell.text != "cat":
                    self.unread.append(shell)

    def _other(self, command: Command, words: Sequence[Word], variables: Variables) -> None:
        """Record a command that runs no spark-submit: the variables that it sets, and its first word."""
        first = command.words[0].text if command.words else ""
        declared = [word for word in command.words[1:] if "=" in word.text] if first in _SETS else []
        set_here = [*declared, *(command.assignments if not command.words else ())]
        for word in set_here:
            self._assign(word, variables)
            self.others.setdefault((word.line, word.column), word)
        if first in ("read", "unset", "getopts", "mapfile", "readarray"):
            for word in command.words[1:]:
                variables.forget(word.text)
        if first == "shift":
            variables.shifted += 1
        if first == "set" and len(command.words) > 1 and command.words[1].text == "--":
            variables.set_arguments(tuple(expand(command.words[2:], variables)))
        if words and first not in _SETS and first not in _QUIET and not is_submit(first):
            self.others.setdefault((words[0].line, words[0].column), command.words[0])
            if first not in _TALK and any(_CALLS.search(word.text) for word in words[1:]):
                self.unread.append(command.words[0])

    def _assign(self, word: Word, variables: Variables) -> None:
        """Record an assignment: `NAME=value`, `NAME+=value` or `NAME=(...)`."""
        name, equals, _ = word.text.partition("=")
        more, name = name.endswith("+"), name.removesuffix("+")
        if not equals or not _NAME.fullmatch(name):
            return
        self.known[name] = word.line
        old = variables.get(name)
        loops, is_more_of_unknown = word.bare and not word.parts, more and old is None
        if loops or is_more_of_unknown or (more and old and not variables.afford(old)):
            variables.forget(name)
        elif word.array is not None:
            variables.put(name, (*(old or () if more else ()), *expand(word.array, variables)))
        else:
            value = _without_name(joined(word, variables))
            if more and old:
                unknown = (*old[0].variables, *value.variables)
                value = replace(value, text=old[0].text + value.text, variables=unknown)
            if is_secret(name, value.text):
                variables.forget(name)  # a password stays in the script, and its use is a finding
            else:
                variables.put(name, (value,))


def _without_name(word: Word) -> Word:
    return replace(word, text=word.text.partition("=")[2])


def _function_of(command: Command) -> str:
    """Returns the innermost function around a command; "" if there is none."""
    names = [block.removeprefix(FUNCTION) for block in command.blocks if block.startswith(FUNCTION)]
    return names[-1] if names else ""


def _called(program: Program) -> set[str]:
    """Returns the first words of all commands; those that are names of functions are calls."""
    return {command.words[0].text for command in program.commands if command.words}


def _index(words: Sequence[Word]) -> int | None:
    """Returns the index of spark-submit among the words of a command; None if it is not called."""
    if words and words[0].text in _TALK:
        return None
    position = next((index for index, word in enumerate(words) if is_submit(word.text)), None)
    if position is None and len(words) > 1 and _is_named_submit(words[0].text):
        return 0  # the value is unknown, but the name says what it is
    return position


def _is_named_submit(text: str) -> bool:
    """Whether a word is a variable such as `$SPARK_SUBMIT`."""
    variable = _VARIABLE.fullmatch(text)
    return variable is not None and "submit" in variable[1].lower()


def _script_in(words: Sequence[Word]) -> Word | None:
    """Returns the script that `eval`, or a shell with `-c`, gets, if it calls spark-submit; else None."""
    if not words:
        return None
    first = words[0].text.rpartition("/")[2]
    text = ""
    if first == "eval":
        text = " ".join(word.text for word in words[1:])
    elif first in _SHELLS:
        options = [index for index, word in enumerate(words[:-1]) if re.fullmatch(r"-[a-z]*c", word.text)]
        text = words[options[0] + 1].text if options else ""
    return Word(text, words[0].line, words[0].column) if _CALLS.search(text) else None
