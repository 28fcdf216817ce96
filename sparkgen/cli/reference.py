"""Writes docs/reference/cli.md: the commands as Markdown, from their declarations for typer."""

from __future__ import annotations

import enum
import inspect
import typing
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from typer.models import ArgumentInfo, OptionInfo

from sparkgen.cli.app import COMMANDS, EXIT_CODES, commands_of
from sparkgen.cli.typer_command import typer_command

_OPENING = f"""\
# Commands

<!-- Generated from the commands themselves: change sparkgen/cli/, then run `make golden`. -->

On this page you look up each command with its arguments and options.
`sparkgen COMMAND --help` prints the same text.

Data goes to standard output, and everything else goes to standard error. {EXIT_CODES}
`sparkgen --install-completion` installs completion for your shell.
Only these commands use the network: the [commands that talk to a cluster](../commands.md), `diff`
without `--from` or `--rendered`, `push`, `image build` and `run --local`.
Only `kill` and `delete` ask for confirmation, and only on a terminal.
A configuration file, `.sparkgen.yaml`, sets defaults for a repository (see [lint](../lint.md)).
"""
_ENVIRONMENT = """\
## Environment

| variable | meaning |
|---|---|
| `NO_COLOR` | If this is not empty, there are no colours, unless you use `--color always`. |
| `FORCE_COLOR` | If this is not empty, pipes get colours, unless you set `NO_COLOR` or use `--color never`. |
| `SPARKGEN_DEBUG` | If this is not empty, sparkgen prints the traceback of an internal error. |
"""


def reference() -> str:
    """Returns the whole page."""
    return "\n".join([_OPENING, *(_section(module) for module in COMMANDS), _ENVIRONMENT])


def _section(module: ModuleType) -> str:
    """Returns the section of a command: its calls, what it does, its arguments and options, examples."""
    name = module.__name__.rpartition(".")[2].rstrip("_")  # import_ is the command `import`
    calls, rows = [], []
    for command in map(typer_command, commands_of(module)):
        parameters = list(_parameters(command))
        called = name if command.__name__ == "command" else f"{name} {command.__name__}"
        arguments = [
            f" {_argument(info, kind, default)}"
            for info, kind, default in parameters
            if isinstance(info, ArgumentInfo)
        ]
        options = " [OPTIONS]" if len(parameters) > len(arguments) else ""
        calls.append(f"    sparkgen {called}{options}{''.join(arguments)}")
        rows += [_row(info, kind, default) for info, kind, default in parameters]
    table = ["| argument or option | meaning |", "|---|---|", *rows, ""] if rows else []
    examples = module.EXAMPLES.partition("Examples:\n")[2].rstrip()
    shown = "\n".join(line.removeprefix("  ") for line in examples.split("\n"))
    parts = [f"## {name}", "", *calls, "", module.HELP.strip(), "", *table, "```sh", shown, "```", ""]
    return "\n".join(parts)


def _parameters(command: Any) -> Iterator[tuple[OptionInfo | ArgumentInfo, Any, Any]]:
    """Yields each parameter's declaration for typer, its type and its default."""
    hints = typing.get_type_hints(command, include_extras=True)
    for name, parameter in inspect.signature(command).parameters.items():
        kind, info = typing.get_args(hints[name])[:2]
        yield info, kind, parameter.default


def _argument(info: ArgumentInfo, kind: Any, default: Any) -> str:
    several = "..." if "list[" in str(kind) and "..." not in str(info.metavar) else ""
    return f"{info.metavar}{several}" if default is inspect.Parameter.empty else f"[{info.metavar}{several}]"


def _row(info: OptionInfo | ArgumentInfo, kind: Any, default: Any) -> str:
    """Returns a line of the table, with default and choices if there are any."""
    if isinstance(info, ArgumentInfo):
        names = f"`{info.metavar}`"
    else:
        # Inside Annotated, typer keeps the first name as the default until it builds the command.
        written = sorted([str(info.default), *(info.param_decls or ())], key=len)
        names = ", ".join(f"`{name}`" for name in written) + (f" `{info.metavar}`" if info.metavar else "")
    text = str(info.help)
    if isinstance(default, enum.Enum):
        text += f" One of {_choices(kind)}. Default: `{default.value}`."
    elif choices := _choices(kind):
        text += f" One of {choices}."
    elif isinstance(default, str) and default:
        text += f" Default: `{default}`."
    return f"| {names} | {text} |"


def _choices(kind: Any) -> str:
    """Returns the choices of an option's enum, whose default may be None; "" for another type."""
    for part in (kind, *typing.get_args(kind)):
        if isinstance(part, type) and issubclass(part, enum.Enum):
            return ", ".join(f"`{choice.value}`" for choice in part)
    return ""
