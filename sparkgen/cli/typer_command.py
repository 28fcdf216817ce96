"""Makes typer's commands from tables of options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from sparkgen.cli.option_table import Command, Option


def typer_command(command: Command[Any]) -> Callable[..., None]:
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
    kind: Any = list[option.type] if option.many else option.type  # type: ignore[name-defined]
    if option.required:
        default = inspect.Parameter.empty
    elif default is None:
        kind = kind | None
    info = _argument(option) if not option.flags else _option(option)
    return inspect.Parameter(
        option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info]
    )


def _argument(option: Option) -> Any:
    return typer.Argument(
        metavar=option.metavar or None,
        help=option.help,
        show_default=option.default is not None,
        autocompletion=option.complete,
    )


def _option(option: Option) -> Any:
    return typer.Option(
        *option.flags,
        metavar=option.metavar or None,
        help=option.help,
        show_default=option.default is not None,
        case_sensitive=False,
        min=option.least,
        max=option.most,
    )
