"""Arguments and options of commands as rows of tables, independent of typer.

The same rows give the commands of typer (app.py), the quick reader of plain command lines
(plain_arguments.py) and the page of all commands (reference.py). The rows are named tuples, because a
dataclass of this size takes a millisecond of every start to create.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Generic, NamedTuple, TypeVar

Values = TypeVar("Values")


class Option(NamedTuple):
    """An argument or an option of a command.

    `name`: the field that it sets; `usage`: its flags and the name of its value, such as "--output -o FILE";
    an argument has no flags; `kind`: the type of a value; None for a text, or for a bool if there is no
    value; `choices`: the allowed values, () for all; `many`: whether it takes several values; `default`: None
    if there is no value without it; `least`, `most`: the limits of a number; `complete`: returns the values
    that begin with a text, for the shell.
    """

    name: str
    usage: str
    help: str
    kind: Any = None
    choices: tuple[str, ...] = ()
    many: bool = False
    required: bool = False
    default: Any = None
    least: float | None = None
    most: float | None = None
    complete: Callable[[str], list[str]] | None = None

    @property
    def flags(self) -> tuple[str, ...]:
        """The names of an option, such as --output and -o; () for an argument."""
        return tuple(word for word in self.usage.split() if word.startswith("-"))

    @property
    def metavar(self) -> str:
        """The name of the value in the help; "" for none."""
        return " ".join(word for word in self.usage.split() if not word.startswith("-"))

    @property
    def type(self) -> Any:
        """The type of a value."""
        return self.kind or (str if self.metavar or self.choices else bool)

    @property
    def absent(self) -> Any:
        """The value if the command line does not have this option."""
        if self.default is not None:
            return self.value(self.default)
        if self.many:
            return ()
        if self.type is bool:
            return False
        return "" if self.type is str else None

    def value(self, read: Any) -> Any:
        """Returns what the command gets: a tuple for a list, a text for a choice."""
        if read is None:
            return self.absent
        if isinstance(read, enum.Enum):
            return read.value
        return tuple(read) if self.many else read


class Command(NamedTuple, Generic[Values]):
    """A command: its arguments and options, and its work.

    `values`: the dataclass of their values, or dict; `work`: takes it, and returns the exit code (None: 0);
    `name`, `help`: of a command in a group, such as `chart export`.
    """

    options: tuple[Option, ...]
    values: type[Values]
    work: Callable[[Values], int | None]
    name: str = ""
    help: str = ""

    def run(self, values: Mapping[str, Any]) -> int:
        """Do the work with a value for each option. Returns the exit code."""
        return self.work(self.values(**values)) or 0


def command(
    values: type[Values],
    work: Callable[[Values], int | None],
    *options: Option,
    name: str = "",
    help: str = "",  # noqa: A002 - typer's
) -> Command[Values]:
    """Returns the command with these options, in the order of the help."""
    return Command(options, values, work, name, help)


def plain_command(
    work: Callable[..., int | None],
    *options: Option,
    name: str = "",
    help: str = "",  # noqa: A002 - typer's
) -> Command[dict[str, Any]]:
    """Returns the command whose work takes a parameter for each of these options."""

    @wraps(work)
    def call(values: dict[str, Any]) -> int | None:
        return work(**values)

    return Command(options, dict, call, name, help)
