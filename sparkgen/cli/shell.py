"""`sparkgen shell`, as typer declares it. What it does is in shell_session.py."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from sparkgen.cli.options import (
    Context,
    Kubeconfig,
    Namespace,
    Quiet,
    Set,
    SetString,
    Values,
    requested,
)

SUMMARY = "Work with Spark on this machine, with executors in a cluster."
HELP = """Run a program whose Spark has its executors in a cluster: a shell, a script, a notebook.

The driver runs here, in COMMAND, which is pyspark for documents of Python and spark-shell for others. The
document says what executors are like; its main file is not run. A Job in the cluster makes and removes the
executors. It ends with COMMAND, or a minute after this machine was heard last: nothing stays behind.

Executors connect to the driver: this machine needs an address that pods can reach. It is found by itself, or
named with --driver-host, and tried from the cluster before anything else happens. Where there is none, use a
Connect server: `sparkgen connect`.

The exit code is COMMAND's. Ctrl-C is COMMAND's, too.
"""
EXAMPLES = """\b
Examples:
  sparkgen shell app.yaml                           # pyspark, or spark-shell
  sparkgen shell app.yaml -- python report.py 2026-01-01
  sparkgen shell app.yaml -n analytics -- spark-sql
  sparkgen shell app.yaml --set spec.dynamicAllocation.maxExecutors=4 -- jupyter lab
  sparkgen shell app.yaml --driver-host 10.1.2.3 --driver-port 7078
"""


def command(
    source: Annotated[
        str,
        typer.Argument(metavar="PATH", help="A document: a file, a directory, or -.", show_default=False),
    ],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- COMMAND...]",
            help="A program that uses Spark, and its arguments.",
            show_default=False,
        ),
    ] = None,
    values: Values = None,
    sets: Set = None,
    set_strings: SetString = None,
    name: Annotated[
        str,
        typer.Option(
            "--name",
            metavar="NAME",
            help="The application of this metadata.name, where there are several.",
            show_default=False,
        ),
    ] = "",
    driver_host: Annotated[
        str,
        typer.Option(
            "--driver-host",
            metavar="HOST",
            help="An address of this machine that pods can reach; found by itself if not given.",
            show_default=False,
        ),
    ] = "",
    driver_port: Annotated[
        int,
        typer.Option(
            "--driver-port", metavar="PORT", min=0, max=65535, help="Of the driver, for executors; 0 for any."
        ),
    ] = 0,
    block_manager_port: Annotated[
        int,
        typer.Option(
            "--block-manager-port",
            metavar="PORT",
            min=0,
            max=65535,
            help="Of the driver's data, for executors; 0 for any.",
        ),
    ] = 0,
    timeout: Annotated[
        str,
        typer.Option("--timeout", metavar="TIME", help="How long to wait for the session's pod, as in 30m."),
    ] = "5m",
    namespace: Namespace = "",
    context: Context = "",
    kubeconfig: Kubeconfig = "",
    quiet: Quiet = False,
) -> None:
    """Begin a session, run a program in it, and end it."""
    from sparkgen.cli import shell_session  # noqa: PLC0415 - not for every command's help
    from sparkgen.cluster import Place  # noqa: PLC0415

    request = replace(requested((source,), values, sets, set_strings), quiet=quiet, namespace=namespace)
    options = shell_session.ShellOptions(
        Place(kubeconfig, context, namespace),
        name,
        tuple(arguments or ()),
        shell_session.Listening(driver_host, driver_port, block_manager_port),
        timeout,
    )
    if code := shell_session.run(request, options):
        raise typer.Exit(code)
