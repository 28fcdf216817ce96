"""The commands of sparkgen. Each stands in its own module; here they become one program."""

from __future__ import annotations

from typing import Annotated

import typer

from sparkgen.cli import explain, init, render, rule, schema, validate, version

EXIT_CODES = "Exit codes: 0 done, 1 problems or a difference found, 2 wrong usage or an internal error."
COMMANDS = (init, validate, render, explain, schema, rule, version)
_HELP = f"""One YAML document in, reviewable Kubernetes manifests for Apache Spark out.

\b
Start here:
  sparkgen init                         # write a commented app.yaml
  sparkgen validate app.yaml            # every mistake, with its line
  sparkgen render app.yaml -o deploy    # one file per object, to commit

{EXIT_CODES}
"""


def build_app() -> typer.Typer:
    """The program. Help is plain text: no markup library is imported for it."""
    app = typer.Typer(
        name="sparkgen",
        help=_HELP,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_program)
    for module in COMMANDS:
        name = module.__name__.rpartition(".")[2]
        describe = {"help": module.HELP, "short_help": module.SUMMARY, "epilog": module.EXAMPLES}
        app.command(name, **describe)(module.command)
    return app


def _program(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=version.print_and_leave, is_eager=True, help="Print the version and leave."
        ),
    ] = False,
) -> None:
    """Options of the program itself."""
