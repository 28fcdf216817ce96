"""Finds the spark-submit commands of a shell script, and what else it does.

The commands are followed in their order: assignments are recorded, functions are called, and the words of
each spark-submit are expanded as by a shell. Expansions that only the machine knows stay as written, and are
reported.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sparkgen.importing.commands import Command, Word
from sparkgen.importing.embedded import has_application
from sparkgen.importing.emr_commands import starts_job
from sparkgen.importing.expansion import WORD, Variables, expand, joined
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
_MOST_APPLICATIONS = 1000
_MOST_FOLLOWED = 4 << 20
"""The most characters of commands that calls of functions, and texts for a shell, add to a script.

Each command and each word counts WORD more. A call can follow all other commands, and a text can be long.
"""
_READ = 16
"""The cost of reading a character of a text for a shell, in characters of commands."""
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
    commands that call spark-submit in a way that import does not follow. `beyond`: commands that may call it,
    and are beyond what is followed of one script. `jobs`: the words of the commands that start jobs of EMR on
    EKS.
    """

    submits: tuple[tuple[Word, ...], ...]
    before: tuple[tuple[Word, ...], ...]
    others: tuple[Word, ...]
    known: dict[str, int]
    manifests: tuple[Body, ...] = ()
    unread: tuple[Word, ...] = ()
    beyond: tuple[Word, ...] = ()
    jobs: tuple[tuple[Word, ...], ...] = ()


def is_submit(text: str) -> bool:
    """Whether a word calls spark-submit."""
    return _SUBMIT.fullmatch(text) is not None


def read_script(text: str) -> Script:
    """Read a script. Raises sparkgen.importing.shell.Unclosed if a quote or bracket is not closed."""
    reading = _Reading()
    reading.run(read(text), Variables())
    return reading.script()


def _cost(command: Command, program: Program) -> int:
    """What it costs to follow a command, in characters: its words, its assignments and its here-documents."""
    words = [*command.words, *command.assignments]
    words += [inner for word in words for inner in word.array or ()]
    bodies = (program.bodies.get((word.line, word.column), (0, ""))[1] for word in command.redirections)
    return WORD + sum(len(word.text) + WORD for word in words) + sum(map(len, bodies))


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
    manifests: dict[Body, None] = field(default_factory=dict)
    unread: dict[Word, None] = field(default_factory=dict)
    jobs: list[tuple[Word, ...]] = field(default_factory=list)
    calls: int = 0
    left: int = _MOST_FOLLOWED
    beyond: dict[tuple[int, int], Word] = field(default_factory=dict)
    """The first words of commands that were not followed, by their lines and columns."""

    def script(self) -> Script:
        """Returns what was found."""
        others, manifests = tuple(self.others.values()), tuple(self.manifests)
        submits, before = tuple(self.submits), tuple(self.before)
        unread, beyond = tuple(self.unread), tuple(self.beyond.values())
        return Script(submits, before, others, self.known, manifests, unread, beyond, tuple(self.jobs))

    def run(self, program: Program, variables: Variables, function: str = "", depth: int = 0) -> None:
        """Follow the commands of a program, or of one of its functions."""
        around: tuple[str, ...] | None = None
        for command in program.of_function.get(function, ()):
            if depth and not self._afford(_cost(command, program)):
                self._leave_out(command, program)
                continue
            if command.blocks is not around:
                around = command.blocks
                blocks = tuple(name for name in around if not name.startswith(_SAME))
            variables.blocks = blocks
            self._command(command, program, variables, depth)

    def _afford(self, cost: int) -> bool:
        self.left = max(self.left - cost, -1)
        return self.left >= 0

    def _leave_out(self, command: Command, program: Program) -> None:
        """Record a command that is not followed if it may start an application."""
        words = [*command.words, *command.assignments, *command.redirections]
        texts = [word.text for word in words]
        texts += [program.bodies.get((word.line, word.column), (0, ""))[1] for word in command.redirections]
        is_call = bool(command.words) and command.words[0].text in program.functions
        if is_call or any(_STARTS.search(text) or has_application(text) for text in texts):
            self._beyond(words[0])

    def _beyond(self, word: Word) -> None:
        self.beyond.setdefault((word.line, word.column), word)

    def _has_room(self, word: Word) -> bool:
        """Whether one more application may be imported. If not, record the word that starts it."""
        has_room = len(self.submits) + len(self.jobs) + len(self.manifests) < _MOST_APPLICATIONS
        if not has_room:
            self._beyond(word)
        return has_room

    def _command(self, command: Command, program: Program, variables: Variables, depth: int) -> None:
        self._bodies(command, program, variables, depth)
        self._substitutions(command, variables, depth)
        words = expand(command.words, variables)
        first = words[0].text if words else ""
        if words and first in program.functions and depth < _DEEPEST:
            self._call(words, program, variables, depth)
        elif starts_job(words):
            if self._has_room(words[0]):
                self.jobs.append(tuple(words))
        elif (index := _index(words)) is not None:
            if self._has_room(words[0]):
                self.submits.append(tuple(words[index:]))
                self.before.append((*command.assignments, *words[:index]))
        elif (inner := _script_in(words)) is not None:
            self._inner(inner, words[0], variables, depth)
        else:
            self._other(command, words, variables)

    def _call(self, words: Sequence[Word], program: Program, variables: Variables, depth: int) -> None:
        """Follow a function with the arguments of a call. The first of the words is its name."""
        self.calls += 1
        if self.calls > _MOST_CALLS or self.left < 0:
            self._beyond(words[0])
            return
        blocks = variables.blocks
        self.run(program, replace(variables, arguments=tuple(words[1:]), shifted=0), words[0].text, depth + 1)
        variables.blocks = blocks

    def _inner(self, text: Word, shell: Word, variables: Variables, depth: int) -> None:
        """Follow the commands in a text that a shell gets."""
        if not self._afford(_READ * len(text.text)):
            self._beyond(shell)
            return
        try:
            program = read(text.text, text.line)
        except Unclosed:
            self.unread[shell] = None
            return
        if depth >= _DEEPEST:
            self.unread[shell] = None
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
                body = Body(text, line)
                if body not in self.manifests and self._has_room(word):
                    self.manifests[body] = None
            elif _CALLS.search(text) and command.words:
                shell = command.words[0]
                if shell.text.rpartition("/")[2] in _SHELLS:
                    self._inner(Word(text, line, 1), shell, variables, depth)
                elif shell.text != "cat":
                    self.unread[shell] = None

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
                self.unread[command.words[0]] = None

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
