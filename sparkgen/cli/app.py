"""The commands of sparkgen. Each has its own module; this module builds one program of them."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from sparkgen.cli import (
    apply,
    chart,
    connect,
    delete,
    diff,
    explain,
    history,
    image,
    import_,
    init,
    kill,
    lint,
    logs,
    push,
    render,
    rule,
    run,
    schema,
    shell,
    status,
    ui,
    validate,
    version,
    wait,
    whatif,
)
from sparkgen.cli.option_table import Command
from sparkgen.cli.typer_command import typer_command
from sparkgen.errors import SparkgenError

EXIT_CODES = "Exit codes: 0 success, 1 problems or differences found, 2 wrong usage or an internal error."
SECTIONS = {
    "Write documents": (init, import_, validate, lint, push, render, diff, whatif),
    "Run applications": (apply, run, wait, kill, delete, shell),
    "Observe applications": (status, history, logs, ui, connect),
    "Look up and set up": (explain, schema, rule, chart, image, version),
}
"""The sections of `sparkgen --help`, each with the modules of its commands."""
COMMANDS = tuple(command for section in SECTIONS.values() for command in section)
_HELP = f"""One YAML document in, reviewable Kubernetes manifests for Apache Spark out.

\b
Start here:
  sparkgen init                         # write a commented app.yaml
  sparkgen validate app.yaml            # report every mistake, with its line
  sparkgen render app.yaml -o deploy    # write one file per object, to commit
  sparkgen run --local app.yaml         # run it on this machine
  sparkgen apply app.yaml               # run it in a cluster

{EXIT_CODES}
"""


def name_of(module: ModuleType) -> str:
    """Returns the name of a module's command."""
    return module.__name__.rpartition(".")[2].rstrip("_")  # `import` is a keyword of Python


# Names of other tools' commands, which people type by habit -> the command that does it here.
_OTHER_NAMES = {
    "build": "sparkgen render",
    "check": "sparkgen validate",
    "convert": "sparkgen import",
    "create": "sparkgen init",
    "deploy": "sparkgen apply",
    "generate": "sparkgen render",
    "help": "sparkgen --help",
    "migrate": "sparkgen import",
    "install": "sparkgen apply",
    "new": "sparkgen init",
    "publish": "sparkgen push",
    "remove": "sparkgen delete",
    "rules": "sparkgen rule",
    "stop": "sparkgen kill",
    "submit": "sparkgen apply, or: sparkgen run",
    "template": "sparkgen render",
    "upload": "sparkgen push",
    "uninstall": "sparkgen delete",
}


class Commands(TyperGroup):
    """The commands, with an answer to names that are no command but have a clear meaning."""

    def format_commands(self, _ctx: Any, formatter: Any) -> None:
        """Write the list of commands in its sections, with columns of the same width in all."""
        width = max(len(name_of(module)) for module in COMMANDS)
        for title, modules in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name_of(module).ljust(width), module.SUMMARY) for module in modules])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Returns the command in the arguments. Raises SparkgenError with the command that is meant."""
        name = args[0]
        if name in _OTHER_NAMES:
            raise SparkgenError(f"unknown command {name}; did you mean: {_OTHER_NAMES[name]}")
        if name.endswith((".yaml", ".yml")):
            step = f"sparkgen validate {shlex.quote(name)}, or: sparkgen render {shlex.quote(name)}"
            raise SparkgenError(f"unknown command {name}; did you mean: {step}")
        return super().resolve_command(ctx, args)


# The arguments of an application may be empty.
_MAY_BE_EMPTY = ("arguments", "single")


class StrictCommand(TyperCommand):
    """A command that refuses empty values.

    A CI job passes "" for a variable that is not set: `diff --from "$BASE"` would compare with a cluster,
    `render -o "$OUT"` would print, `apply -n "$NAMESPACE"` would use another namespace.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments. Raises SparkgenError if a value is empty."""
        given = list(args)
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:
            self._refuse_empty(ctx, given)
        return rest

    def _refuse_empty(self, ctx: Any, given: list[str]) -> None:
        values, *_ = self.make_parser(ctx).parse_args(args=given)
        for parameter in self.get_params(ctx):
            value = values.get(parameter.name)
            texts = value if isinstance(value, list | tuple) else (value,)
            if parameter.name in _MAY_BE_EMPTY or not any(_is_empty(text) for text in texts):
                continue
            option = max(parameter.opts, key=len) if parameter.param_type_name == "option" else ""
            step = (
                "give it a value, or leave it out" if option or not parameter.required else "give it a value"
            )
            name = option or parameter.metavar
            raise SparkgenError(f"{name} is empty; {step}. Is a variable in your script or CI job unset?")


def _is_empty(text: object) -> bool:
    return isinstance(text, str) and not text.strip()


def build_app() -> typer.Typer:
    """Returns the program. Its help is plain text, so that no markup library is imported."""
    app = typer.Typer(
        name="sparkgen",
        cls=Commands,
        help=_HELP,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_program)
    for module in COMMANDS:
        name = name_of(module)
        describe: dict[str, Any] = {
            "help": module.HELP,
            "short_help": module.SUMMARY,
            "epilog": module.EXAMPLES,
        }
        if hasattr(module, "COMMANDS"):
            app.add_typer(_group(module), name=name, **describe)
        else:
            app.command(name, cls=StrictCommand, **describe)(typer_command(module.COMMAND))
    return app


def commands_of(module: ModuleType) -> tuple[Command[Any], ...]:
    """Returns the command of a module, or all of its group."""
    return getattr(module, "COMMANDS", None) or (module.COMMAND,)


@cache
def program() -> Callable[..., object]:
    """Returns the program as a function of its arguments. Building it takes longer than most commands."""
    return get_command(build_app())


def _group(module: ModuleType) -> typer.Typer:
    """Returns a command that has commands of its own."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    for command in commands_of(module):
        group.command(command.name, cls=StrictCommand)(typer_command(command))
    return group


def _print_version(wanted: bool) -> None:
    """Print the version and exit."""
    if wanted:
        version.version()
        raise typer.Exit


def _program(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Options of the program itself."""
