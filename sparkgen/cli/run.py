"""Declares `sparkgen run` for typer; running.py and run_local.py do its work."""

from __future__ import annotations

import shlex
import uuid
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from sparkgen.cli.options import (
    Context,
    Kubeconfig,
    Namespace,
    ObjectForm,
    Quiet,
    Set,
    SetString,
    Values,
    requested,
)
from sparkgen.errors import SparkgenError

SUMMARY = "Start a new run in a cluster, or run a document on this machine."
HELP = """Start a new run of an application in a cluster; or, with --local, run a document on this machine.

In a cluster, NAME is an application that `sparkgen apply`, kubectl, Helm or a GitOps controller has applied.
The application may be suspended or scheduled. The new run is a copy of the newest run; for a schedule, it is
a copy of the next run. You can give the new run other arguments. The command prints the name of the run.
GitOps controllers ignore the run. If you repeat a call with the same --id, the command returns the same run,
so a scheduler can safely repeat the call. With --wait, the exit code is that of `sparkgen wait`.

With --local, you need no cluster: the document runs with the same allocator, and the driver and executors
are processes of a stock Spark. sparkgen downloads the document's version of Spark from PyPI once, unless
SPARK_HOME is set. Executors start and stop as in a cluster, and the command shows when they do. The command
lists the fields that have no meaning on one machine. Ctrl-C stops everything. You need Java 17 or 21.

With --local, the driver's standard output goes to standard output. Everything else goes to standard error and
to log files, which the command lists at the end. The exit code is the driver's.
"""
EXAMPLES = """\b
Examples:
  sparkgen run pi -n analytics
  sparkgen run pi --arg 2026-01-01 --arg=--full
  sparkgen run pi --id nightly-2026-01-01 --wait -- 2026-01-01
  sparkgen run --local app.yaml
  sparkgen run --local app.yaml --set spec.executor.memory=1g
  sparkgen run --local app.yaml --map /opt/app=src      # local:///opt/app/main.py is src/main.py
  sparkgen run --local app.yaml -- 2026-01-01 --dry-run  # replace the document's arguments
"""


Source = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="Application in the cluster; with --local a document: a file, a directory, or -.",
        show_default=False,
    ),
]
Arguments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[-- ARGUMENT...]",
        help="Arguments for the application. They replace the application's own.",
        show_default=False,
    ),
]
Local = Annotated[bool, typer.Option("--local", help="Run a document on this machine, without a cluster.")]
Single = Annotated[
    list[str] | None,
    typer.Option(
        "--arg",
        metavar="ARGUMENT",
        help="In a cluster: argument for the application. Replaces the application's own. Repeatable.",
        show_default=False,
    ),
]
RequestId = Annotated[
    str,
    typer.Option(
        "--id",
        metavar="ID",
        help="In a cluster: ID of the request. The same ID always returns the same run.",
        show_default=False,
    ),
]
Wait = Annotated[
    bool,
    typer.Option("--wait", help="In a cluster: wait for the run to end, and exit with its exit code."),
]
Timeout = Annotated[
    str,
    typer.Option(
        "--timeout",
        metavar="TIME",
        help="With --wait: maximum time to wait, for example 30m. After this time, exit 124.",
        show_default=False,
    ),
]
Form = Annotated[
    ObjectForm,
    typer.Option("--output", "-o", help="Output format of the new run.", case_sensitive=False),
]
Name = Annotated[
    str,
    typer.Option(
        "--name",
        metavar="NAME",
        help="With --local: run the application with this metadata.name, if there are several.",
        show_default=False,
    ),
]
Maps = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="PATH=FOLDER",
        help="With --local: use this local folder for a folder of the image. Repeatable.",
        show_default=False,
    ),
]

FOR_DOCUMENTS = {
    "--name": "name",
    "--values": "values",
    "--set": "sets",
    "--set-string": "set_strings",
    "--map": "maps",
}
"""Options that have an effect only with --local, and their parameters."""
FOR_CLUSTERS = {
    "--arg": "single",
    "--id": "request_id",
    "--wait": "wait",
    "--timeout": "timeout",
    "--namespace": "namespace",
    "--context": "context",
    "--kubeconfig": "kubeconfig",
}
"""Options that have an effect only in a cluster, and their parameters."""


def command(
    source: Source,
    arguments: Arguments = None,
    local: Local = False,
    single: Single = None,
    request_id: RequestId = "",
    wait: Wait = False,
    timeout: Timeout = "",
    namespace: Namespace = "",
    context: Context = "",
    kubeconfig: Kubeconfig = "",
    form: Form = ObjectForm.TEXT,
    name: Name = "",
    values: Values = None,
    sets: Set = None,
    set_strings: SetString = None,
    maps: Maps = None,
    quiet: Quiet = False,
) -> None:
    """Run an application."""
    given = {parameter for parameter, value in locals().items() if value}
    if local:
        _nothing_for_a_cluster(given)
        from sparkgen.cli import run_local  # noqa: PLC0415 - not for every command's help

        request = replace(requested((source,), values, sets, set_strings), quiet=quiet)
        code = run_local.run(
            request, run_local.LocalRunOptions(name, tuple(arguments or ()), tuple(maps or ()))
        )
    else:
        _no_document(source, given)
        chosen = _one_way(single, arguments)
        if timeout and not wait:
            raise SparkgenError("--timeout needs --wait; add it, or leave out --timeout")
        from sparkgen.cli import running  # noqa: PLC0415 - as above
        from sparkgen.cluster import Place  # noqa: PLC0415

        place, id_ = Place(kubeconfig, context, namespace), request_id or uuid.uuid4().hex
        code = running.run(running.RunOptions(place, source, chosen, id_, form.value, wait, timeout, quiet))
    if code:
        raise typer.Exit(code)


def _nothing_for_a_cluster(given: AbstractSet[str]) -> None:
    """Raise SparkgenError for options of an application in a cluster."""
    options = [option for option, parameter in FOR_CLUSTERS.items() if parameter in given]
    if options:
        step = "; write arguments after --" if options == ["--arg"] else ""
        raise SparkgenError(f"{' and '.join(options)} cannot be combined with --local{step}")


def _no_document(source: str, given: AbstractSet[str]) -> None:
    """Raise SparkgenError for a document instead of an application, and for options of documents."""
    if "/" in source or source == "-" or source.endswith((".yaml", ".yml")) or Path(source).is_file():
        word = shlex.quote(source)
        raise SparkgenError(
            f"{source} is a document, not the name of an application in a cluster. To run it in a cluster: "
            f"sparkgen apply {word}, then sparkgen run NAME for more runs. To run it on this machine: "
            f"sparkgen run --local {word}"
        )
    options = [option for option, parameter in FOR_DOCUMENTS.items() if parameter in given]
    if options:
        raise SparkgenError(f"{' and '.join(options)} needs a document; add --local, or use sparkgen apply")


def _one_way(single: list[str] | None, arguments: list[str] | None) -> tuple[str, ...] | None:
    """Returns the arguments of --arg or after --; None if there are none. Raises SparkgenError for both."""
    if single and arguments:
        raise SparkgenError("--arg and arguments after -- cannot be combined; use only one")
    return tuple(single or arguments or ()) or None
