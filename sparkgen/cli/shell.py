"""Declares `sparkgen shell` for typer; shell_session.py does its work."""

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

SUMMARY = "Run a driver on this machine, with executors in a cluster."
HELP = """Run a shell, a script or a notebook on this machine, with Spark's executors in a cluster.

COMMAND runs on this machine, and contains the driver. The default is pyspark for Python documents, and
spark-shell for others. The document describes the executors; its main file does not run. A Job in the cluster
creates and deletes the executors. The Job ends when COMMAND ends, or one minute after the Job loses contact
with this machine. In both cases, no pod is left in the cluster.

Executors connect to the driver, so pods must be able to reach this machine. sparkgen finds the address of
this machine, or you set the address with --driver-host. A pod then tests the address. If pods cannot reach
this machine, use a Connect server: `sparkgen connect`.

The exit code is that of COMMAND, and COMMAND handles Ctrl-C.
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
        typer.Argument(metavar="PATH", help="Document: a file, a directory, or -.", show_default=False),
    ],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- COMMAND...]",
            help="Program that uses Spark, and its arguments.",
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
            help="Use the application with this metadata.name, if there are several.",
            show_default=False,
        ),
    ] = "",
    driver_host: Annotated[
        str,
        typer.Option(
            "--driver-host",
            metavar="HOST",
            help="Address of this machine that pods can reach. Default: detected.",
            show_default=False,
        ),
    ] = "",
    driver_port: Annotated[
        int,
        typer.Option(
            "--driver-port",
            metavar="PORT",
            min=0,
            max=65535,
            help=("Port of the driver, for executors; 0 for any free port."),
        ),
    ] = 0,
    block_manager_port: Annotated[
        int,
        typer.Option(
            "--block-manager-port",
            metavar="PORT",
            min=0,
            max=65535,
            help="Port of the driver's block manager, for executors; 0 for any free port.",
        ),
    ] = 0,
    timeout: Annotated[
        str,
        typer.Option(
            "--timeout", metavar="TIME", help=("Maximum time to wait for the session's pod, for example 30m.")
        ),
    ] = "5m",
    namespace: Namespace = "",
    context: Context = "",
    kubeconfig: Kubeconfig = "",
    quiet: Quiet = False,
) -> None:
    """Start a session, run a program in it, and end the session."""
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
