"""Writes docs/reference/cli.md: the commands, from their tables of options."""

from __future__ import annotations

from typing import Any

from docs.reference.markdown import table
from sparkgen.cli.app import COMMANDS, EXIT_CODES, commands_of, module_of
from sparkgen.cli.option_table import Command, Option

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
    return "\n".join([_OPENING, *(_section(name) for name in COMMANDS), _ENVIRONMENT])


def _section(name: str) -> str:
    """Returns the section of a command: its calls, what it does, its arguments and options, examples."""
    module, commands = module_of(name), commands_of(name)
    calls = [f"    sparkgen {_call(name, command)}" for command in commands]
    rows = [_row(option) for command in commands for option in command.options]
    options = [table(("argument or option", "meaning"), rows)] if rows else []
    examples = module.EXAMPLES.partition("Examples:\n")[2].rstrip()
    shown = "\n".join(line.removeprefix("  ") for line in examples.split("\n"))
    parts = [f"## {name}", "", *calls, "", module.HELP.strip(), "", *options, "```sh", shown, "```", ""]
    return "\n".join(parts)


def _call(name: str, command: Command[Any]) -> str:
    """Returns how to call a command: its names, [OPTIONS] and its arguments."""
    arguments = [_argument(option) for option in command.options if not option.flags]
    options = ["[OPTIONS]"] if len(command.options) > len(arguments) else []
    return " ".join([name, *([command.name] if command.name else []), *options, *arguments])


def _argument(option: Option) -> str:
    several = "..." if option.many and "..." not in option.metavar else ""
    return f"{option.metavar}{several}" if option.required else f"[{option.metavar}{several}]"


def _row(option: Option) -> tuple[str, str]:
    """Returns a line of the table, with default and choices if there are any."""
    flags = ", ".join(f"`{flag}`" for flag in sorted(option.flags, key=len))
    value = f"`{option.metavar}`" if option.metavar else ""
    text = option.help
    if option.choices:
        text += f" One of {', '.join(f'`{choice}`' for choice in option.choices)}."
    if isinstance(option.absent, str) and option.absent:
        text += f" Default: `{option.absent}`."
    return f"{flags} {value}".strip(), text
