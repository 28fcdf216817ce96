"""`sparkgen run`, as typer declares it. What it does is in running.py and run_local.py."""

from __future__ import annotations

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

SUMMARY = "Run an application once more in a cluster, or on this machine: --local."
HELP = """Run an application that is in a cluster once more; or, with --local, a document on this machine.

In a cluster, NAME is an application that `sparkgen apply`, kubectl, Helm or a GitOps controller has brought
there, perhaps suspended or on a schedule. The new run is like its newest one, or like the next firing of its
schedule, with other arguments if you name some; its name goes to standard output. No GitOps controller takes
it for its own. With --id, a call that is repeated gives the same run, as a scheduler needs it. With --wait,
the exit code is that of `sparkgen wait`.

With --local, it is a document, and no cluster is needed: the same document, the same allocator. The driver
and the executors are processes of a stock Spark of the document's version, which is fetched from PyPI once
unless SPARK_HOME names it. Executors come and go as in a cluster, and you see them do so. What of the
document has no meaning here is listed. Ctrl-C ends everything. Java 17 or 21 is needed.

The driver's standard output goes to standard output, everything else to standard error and into log files
that are named at the end. The exit code is the driver's.
"""
EXAMPLES = """\b
Examples:
  sparkgen run pi -n analytics
  sparkgen run pi --arg 2026-01-01 --arg=--full
  sparkgen run pi --id nightly-2026-01-01 --wait -- 2026-01-01
  sparkgen run --local app.yaml
  sparkgen run --local app.yaml --set spec.executor.memory=1g
  sparkgen run --local app.yaml --map /opt/app=src      # local:///opt/app/main.py is src/main.py
  sparkgen run --local app.yaml -- 2026-01-01 --dry-run  # other arguments than the document's
"""


Source = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="An application of a cluster; with --local a document: a file, a directory, or -.",
        show_default=False,
    ),
]
Arguments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[-- ARGUMENT...]",
        help="Arguments for the application, instead of the document's.",
        show_default=False,
    ),
]
Local = Annotated[bool, typer.Option("--local", help="Run a document here, without a cluster.")]
Single = Annotated[
    list[str] | None,
    typer.Option(
        "--arg",
        metavar="ARGUMENT",
        help="In a cluster: an argument for the application, instead of its own. Repeatable.",
        show_default=False,
    ),
]
RequestId = Annotated[
    str,
    typer.Option(
        "--id",
        metavar="ID",
        help="In a cluster: the same ID gives the same run, however often it is asked for.",
        show_default=False,
    ),
]
Wait = Annotated[
    bool,
    typer.Option("--wait", help="In a cluster: wait until it has ended; its exit code is the command's."),
]
Timeout = Annotated[
    str,
    typer.Option(
        "--timeout",
        metavar="TIME",
        help="With --wait: how long at most, as in 30m; then 124.",
        show_default=False,
    ),
]
Form = Annotated[
    ObjectForm,
    typer.Option("--output", "-o", help="How the new run is written.", case_sensitive=False),
]
Name = Annotated[
    str,
    typer.Option(
        "--name",
        metavar="NAME",
        help="With --local: the application of this metadata.name, where there are several.",
        show_default=False,
    ),
]
Maps = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="PATH=FOLDER",
        help="With --local: where a folder of the image is on this machine. Repeatable.",
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
"""Options that mean something with --local alone, and their parameters."""
FOR_CLUSTERS = {
    "--arg": "single",
    "--id": "request_id",
    "--wait": "wait",
    "--timeout": "timeout",
    "--namespace": "namespace",
    "--context": "context",
    "--kubeconfig": "kubeconfig",
}
"""Options that mean something in a cluster alone, and their parameters."""


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
            raise SparkgenError("--timeout says how long to --wait: add it, or leave the time out")
        from sparkgen.cli import running  # noqa: PLC0415 - as above
        from sparkgen.cluster import Place  # noqa: PLC0415

        place, id_ = Place(kubeconfig, context, namespace), request_id or uuid.uuid4().hex
        code = running.run(running.RunOptions(place, source, chosen, id_, form.value, wait, timeout, quiet))
    if code:
        raise typer.Exit(code)


def _nothing_for_a_cluster(given: AbstractSet[str]) -> None:
    """SparkgenError for what is meant for an application of a cluster."""
    options = [option for option, parameter in FOR_CLUSTERS.items() if parameter in given]
    if options:
        step = ": write arguments behind --" if options == ["--arg"] else ""
        raise SparkgenError(f"{' and '.join(options)} has no meaning with --local{step}")


def _no_document(source: str, given: AbstractSet[str]) -> None:
    """SparkgenError for what is meant for a document, not for an application of a cluster."""
    if "/" in source or source == "-" or source.endswith((".yaml", ".yml")) or Path(source).is_file():
        raise SparkgenError(
            f"{source} is a document, and in a cluster it is applications that run: sparkgen apply {source}, "
            "then sparkgen run NAME with other arguments; or on this machine: sparkgen run --local "
            f"{source}"
        )
    options = [option for option, parameter in FOR_DOCUMENTS.items() if parameter in given]
    if options:
        raise SparkgenError(
            f"{' and '.join(options)} is about a document: use it with --local, or with sparkgen apply"
        )


def _one_way(single: list[str] | None, arguments: list[str] | None) -> tuple[str, ...] | None:
    """The arguments, which are said in one of two ways; None when in neither."""
    if single and arguments:
        raise SparkgenError("arguments stand behind --, or each in an --arg: leave one of the two out")
    return tuple(single or arguments or ()) or None
