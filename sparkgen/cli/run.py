"""`sparkgen run`: prints the name of a new run in a cluster, or runs a document with run_local.py."""

from __future__ import annotations

import shlex
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sparkgen.cli import listing, output, wait
from sparkgen.cli.option_table import Option, command
from sparkgen.cli.options import CHANGES, OBJECTS_OUTPUT, PLACE, QUIET, TIMEOUT
from sparkgen.cli.request import ProgramOptions
from sparkgen.cluster import connect
from sparkgen.errors import SparkgenError
from sparkgen.usecases.run import StartedRun, start

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

_FOR_CLUSTERS = (
    Option(
        "single",
        "--arg ARGUMENT",
        "In a cluster: argument for the application. Replaces the application's own. Repeatable.",
        many=True,
    ),
    Option(
        "request_id", "--id ID", "In a cluster: ID of the request. The same ID always returns the same run."
    ),
    Option("wait", "--wait", "In a cluster: wait for the run to end, and exit with its exit code."),
    TIMEOUT,
    *PLACE,
)
"""Options that have an effect only in a cluster."""
_FOR_DOCUMENTS = (
    Option(
        "name",
        "--name NAME",
        "With --local: run the application with this metadata.name, if there are several.",
    ),
    *CHANGES,
    Option(
        "maps",
        "--map PATH=FOLDER",
        "With --local: use this local folder for a folder of the image. Repeatable.",
        many=True,
    ),
)
"""Options that have an effect only with --local."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions(ProgramOptions):
    """The options of `run`.

    `single`: arguments of --arg; `request_id`: the same ID gives the same run; `output`: a form of
    objects; `maps`: PATH=FOLDER.
    """

    local: bool
    single: tuple[str, ...]
    request_id: str
    wait: bool
    output: str
    maps: tuple[str, ...]


def run(options: RunOptions) -> int:
    """Run an application. Returns its exit code, or 0 if it was started in a cluster."""
    if options.local:
        _nothing_for_a_cluster(options)
        from sparkgen.cli import run_local  # noqa: PLC0415 - only with --local

        return run_local.run(options, options.maps)
    _no_document(options)
    arguments = _one_way(options)
    if options.timeout and not options.wait:
        raise SparkgenError("--timeout needs --wait; add it, or leave out --timeout")
    return _run(options, arguments)


def _run(options: RunOptions, arguments: tuple[str, ...] | None) -> int:
    """Start a run in a cluster, and print its name. Returns 0; with `wait`, its exit code."""
    cluster = connect(options.place)
    id_ = options.request_id or uuid.uuid4().hex
    started = start(cluster, options.source, arguments, id_, datetime.now(UTC))
    if options.output == "text":
        output.write(f"{started.name}\n")
    else:
        listing.show_objects([started.job], options.output)
    if started.beside and _state(started) == "started" and not options.quiet:
        output.note(f"running at the same time: {', '.join(started.beside)}")
    name, namespace = started.application.name, started.application.namespace
    if options.wait:
        return wait.wait(cluster, options, name, started.name, namespace)
    if not options.quiet:
        step = f"sparkgen wait {name} --run {started.name}{options.here(namespace)}"
        output.note(f"{_state(started)}; next: {step}")
    return 0


COMMAND = command(
    RunOptions,
    run,
    Option(
        "source",
        "NAME",
        "Application in the cluster; with --local a document: a file, a directory, or -.",
        required=True,
    ),
    Option(
        "arguments",
        "[-- ARGUMENT...]",
        "Arguments for the application. They replace the application's own.",
        many=True,
    ),
    Option("local", "--local", "Run a document on this machine, without a cluster."),
    *_FOR_CLUSTERS,
    OBJECTS_OUTPUT._replace(help="Output format of the new run."),
    *_FOR_DOCUMENTS,
    QUIET,
)


def _given(options: RunOptions, rows: Iterable[Option]) -> list[str]:
    """Returns the options of these rows that have a value."""
    return [row.flags[0] for row in rows if getattr(options, row.name)]


def _nothing_for_a_cluster(options: RunOptions) -> None:
    """Raise SparkgenError for options of an application in a cluster."""
    if given := _given(options, _FOR_CLUSTERS):
        step = "; write arguments after --" if given == ["--arg"] else ""
        raise SparkgenError(f"{' and '.join(given)} cannot be combined with --local{step}")


def _no_document(options: RunOptions) -> None:
    """Raise SparkgenError for a document instead of an application, and for options of documents."""
    source = options.source
    if "/" in source or source == "-" or source.endswith((".yaml", ".yml")) or Path(source).is_file():
        word = shlex.quote(source)
        raise SparkgenError(
            f"{source} is a document, not the name of an application in a cluster. To run it in a cluster: "
            f"sparkgen apply {word}, then sparkgen run NAME for more runs. To run it on this machine: "
            f"sparkgen run --local {word}"
        )
    if given := _given(options, _FOR_DOCUMENTS):
        raise SparkgenError(f"{' and '.join(given)} needs a document; add --local, or use sparkgen apply")


def _one_way(options: RunOptions) -> tuple[str, ...] | None:
    """Returns the arguments of --arg or after --; None if there are none. Raises SparkgenError for both."""
    if options.single and options.arguments:
        raise SparkgenError("--arg and arguments after -- cannot be combined; use only one")
    return options.single or options.arguments or None


def _state(started: StartedRun) -> str:
    if not started.begun:
        return "the run exists already"
    return f"waiting in the queue {started.queue}" if started.queue else "started"
