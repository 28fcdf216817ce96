"""Reads plain command lines of `render`, `validate` and `apply` without typer.

Importing typer takes longer than rendering a document (60 to 160 ms, depending on its version), and these
commands run in every CI job and every commit hook. This module reads only well-formed command lines, with
options in their usual forms. Typer reads all others, from `--help` to a mistake, because it has the help and
the messages. A test checks that both read the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from sparkgen.cli.option_table import Command, Option

_COMMANDS = ("apply", "render", "validate")
_ARGUMENT = ""
"""The flag of what has none."""


def parse(arguments: Sequence[str]) -> tuple[Command[Any], dict[str, Any]] | None:
    """Returns the command and the values of its options; None if typer must read the arguments."""
    if not arguments or arguments[0] not in _COMMANDS:
        return None
    command: Command[Any] = import_module(f"sparkgen.cli.{arguments[0]}").COMMAND
    options = {flag: option for option in command.options for flag in option.flags or (_ARGUMENT,)}
    values = {option.name: option.absent for option in command.options}
    rest = list(reversed(arguments[1:]))
    while rest:
        pair = _next(rest, options)
        if pair is None:
            return None
        option, value = pair
        values[option.name] = (*values[option.name], value) if option.many else value
    return (command, values) if values[options[_ARGUMENT].name] else None


def _next(rest: list[str], options: Mapping[str, Option]) -> tuple[Option, Any] | None:
    """Take an argument, or an option with its value, from the end of `rest`; None if it is not plain."""
    word = rest.pop()
    if not word.startswith("-") or word == "-":
        return (options[_ARGUMENT], word) if word.strip() else None
    name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
    option = options.get(name)
    if option is None:
        return None
    if option.type is bool:
        return None if equals else (option, True)
    if not equals:
        if not rest or (rest[-1].startswith("-") and rest[-1] != "-"):
            return None
        value = rest.pop()
    plain = value in option.choices if option.choices else option.type is str and value.strip()
    return (option, value) if plain else None
