"""The commands of sparkgen as one program. Each has its own module, which is imported when it is called."""

from __future__ import annotations

import enum
import inspect
import shlex
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from keyword import iskeyword
from types import ModuleType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from sparkgen.cli import version
from sparkgen.cli.option_table import Command, Option
from sparkgen.errors import SparkgenError

EXIT_CODES = "Exit codes: 0 success, 1 problems or differences found, 2 wrong usage or an internal error."
SECTIONS = {
    "Write documents": {
        "init": "Write a commented, valid document to start from.",
        "import": "Convert SparkApplications and spark-submit commands to documents.",
        "export": "Convert documents to other operators' applications and spark-submit commands.",
        "validate": "Check documents, and report every problem with its line.",
        "lint": "Check documents against best practices and policies, by profile.",
        "push": "Push the local files that documents name to a registry.",
        "render": "Render documents to Kubernetes manifests.",
        "diff": "Show what would change, and which applications would run again.",
        "verify": "Check that the runtime in manifests or a cluster is this version's.",
        "whatif": "Predict an application's time and cost with other settings, from its event log.",
    },
    "Run applications": {
        "apply": "Check documents against a cluster, then apply them.",
        "run": "Start a new run in a cluster, or run a document on this machine.",
        "wait": "Wait for a run to end, and exit with its exit code.",
        "kill": "Stop a run, and keep its Job, marked as failed.",
        "delete": "Delete applications from a cluster, with all their runs.",
        "shell": "Run a driver on this machine, with executors in a cluster.",
    },
    "Observe applications": {
        "status": "Show the state of applications, and why one is stuck.",
        "history": "List the runs of applications that are still in the cluster.",
        "logs": "Print the log of a run's driver, allocator or executors.",
        "ui": "Forward a running driver's Spark UI to this machine.",
        "connect": "Forward a Connect server or a notebook to this machine.",
        "doctor": "Find out whether applications can run in a namespace.",
    },
    "Look up and set up": {
        "explain": "Explain a field of the document, as kubectl explain does.",
        "schema": "Print the document's JSON Schema, or write Kubernetes' schemas.",
        "rule": "Explain a rule by its code, or list all rules.",
        "chart": "Copy or package the Helm chart that takes the same documents.",
        "runtime": "Print the ConfigMap with the runtime, for Helm.",
        "image": "Build the runtime image, and push it to your registry.",
        "version": "Print the version of sparkgen.",
    },
}
"""The sections of `sparkgen --help`, each with its commands and what they do."""
COMMANDS = tuple(name for section in SECTIONS.values() for name in section)
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
        width = max(map(len, COMMANDS))
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), summary) for name, summary in commands.items()])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Returns the command in the arguments. Raises SparkgenError with the command that is meant."""
        name = args[0]
        if name in _OTHER_NAMES:
            raise SparkgenError(f"unknown command {name}; did you mean: {_OTHER_NAMES[name]}")
        if name.endswith((".yaml", ".yml")):
            step = f"sparkgen validate {shlex.quote(name)}, or: sparkgen render {shlex.quote(name)}"
            raise SparkgenError(f"unknown command {name}; did you mean: {step}")
        found, _, rest = super().resolve_command(ctx, args)
        return found, found and _loaded(found), rest


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
    for section in SECTIONS.values():
        for name, summary in section.items():
            app.command(name, short_help=summary)(_nothing)
    return app


def _nothing() -> None:
    """The work of a command until it is chosen: Commands then loads its module."""


def module_of(name: str) -> ModuleType:
    """Returns the module of a command."""
    return import_module(f"sparkgen.cli.{name}{'_' if iskeyword(name) else ''}")


def commands_of(name: str) -> tuple[Command[Any], ...]:
    """Returns the command of this name, or all of its group."""
    module = module_of(name)
    return getattr(module, "COMMANDS", None) or (module.COMMAND,)


def _loaded(name: str) -> Any:
    """Returns a command with its options; if it is a group, with its commands."""
    module = module_of(name)
    app = typer.Typer(
        name=name,
        help=module.HELP,
        epilog=module.EXAMPLES,
        no_args_is_help=True,
        rich_markup_mode=None,
        add_completion=False,
    )
    for command in commands_of(name):
        describe = {} if command.name else {"help": module.HELP, "epilog": module.EXAMPLES}
        app.command(command.name or name, cls=StrictCommand, **describe)(_typer_command(command))
    return get_command(app)


def _typer_command(command: Command[Any]) -> Callable[..., None]:
    """Returns the function to register with typer: each of its parameters is a row of the command."""

    def call(**read: Any) -> None:
        values = {option.name: option.value(read[option.name]) for option in command.options}
        if code := command.run(values):
            raise typer.Exit(code)

    parameters = [_parameter(option) for option in command.options]
    call.__name__, call.__doc__ = command.name or "command", command.help
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    vars(call)["__signature__"] = inspect.Signature(parameters)
    return call


def _parameter(option: Option) -> inspect.Parameter:
    """Returns the parameter of an option, with its type, its default and what typer must know."""
    default = False if option.type is bool else option.default
    kind: Any = _choice(option.choices) if option.choices else option.type
    if option.many:
        kind = list[kind]
    if option.required:
        default = inspect.Parameter.empty
    elif default is None:
        kind = kind | None
    return inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, _info(option)],
    )


def _choice(choices: Sequence[str]) -> Any:
    """Returns the type with which typer refuses other values."""
    return enum.Enum("Choice", {choice.upper(): choice for choice in choices})


def _info(option: Option) -> Any:
    """Returns what typer must know of an option besides its type and its default."""
    make: Any = typer.Option if option.flags else typer.Argument
    return make(
        *option.flags,
        metavar=option.metavar or None,
        help=option.help,
        show_default=option.default is not None,
        autocompletion=option.complete,
        case_sensitive=False,
        min=option.least,
        max=option.most,
    )


@cache
def program() -> Callable[..., object]:
    """Returns the program as a function of its arguments. Building it takes longer than most commands."""
    return get_command(build_app())


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
