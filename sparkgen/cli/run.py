"""`sparkgen run`: an application once more in a cluster, or a document on this machine."""

from __future__ import annotations

import os
import random
import sys
import uuid
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sparkgen.cli import output
from sparkgen.cli.options import (
    Context,
    Kubeconfig,
    Namespace,
    ObjectForm,
    Quiet,
    Set,
    SetString,
    Values,
)
from sparkgen.cli.pipeline import Checked, check
from sparkgen.cli.problems import Stdin, show
from sparkgen.cli.request import Request
from sparkgen.errors import Severity, SparkgenError, path_text

# Imported by the functions that use them: `sparkgen --help` needs none of it.
if TYPE_CHECKING:
    from sparkgen.document import Document
    from sparkgen.local.plan import Plan
    from sparkgen.local.view import View

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


def command(
    source: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="An application of a cluster; with --local a document: a file, a directory, or -.",
            show_default=False,
        ),
    ],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[-- ARGUMENT...]",
            help="Arguments for the application, instead of the document's.",
            show_default=False,
        ),
    ] = None,
    local: Annotated[bool, typer.Option("--local", help="Run a document here, without a cluster.")] = False,
    single: Annotated[
        list[str] | None,
        typer.Option(
            "--arg",
            metavar="ARGUMENT",
            help="In a cluster: an argument for the application, instead of its own. Repeatable.",
            show_default=False,
        ),
    ] = None,
    request_id: Annotated[
        str,
        typer.Option(
            "--id",
            metavar="ID",
            help="In a cluster: the same ID gives the same run, however often it is asked for.",
            show_default=False,
        ),
    ] = "",
    wait: Annotated[
        bool,
        typer.Option("--wait", help="In a cluster: wait until it has ended; its exit code is the command's."),
    ] = False,
    timeout: Annotated[
        str,
        typer.Option(
            "--timeout",
            metavar="TIME",
            help="With --wait: how long at most, as in 30m; then 124.",
            show_default=False,
        ),
    ] = "",
    namespace: Namespace = "",
    context: Context = "",
    kubeconfig: Kubeconfig = "",
    form: Annotated[
        ObjectForm,
        typer.Option("--output", "-o", help="How the new run is written.", case_sensitive=False),
    ] = ObjectForm.TEXT,
    name: Annotated[
        str,
        typer.Option(
            "--name",
            metavar="NAME",
            help="With --local: the application of this metadata.name, where there are several.",
            show_default=False,
        ),
    ] = "",
    values: Values = None,
    sets: Set = None,
    set_strings: SetString = None,
    maps: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="PATH=FOLDER",
            help="With --local: where a folder of the image is on this machine. Repeatable.",
            show_default=False,
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Run an application."""
    if not local:
        for_documents = {
            "--name": name,
            "--values": values,
            "--set": sets,
            "--set-string": set_strings,
            "--map": maps,
        }
        _no_document(source, [option for option, given in for_documents.items() if given])
        chosen = _one_way(single, arguments)
        place = (kubeconfig, context, namespace)
        code = _in_cluster(source, place, chosen, request_id, form.value, timeout, wait=wait, quiet=quiet)
        if code:
            raise typer.Exit(code)
        return
    for_clusters = {
        "--arg": single,
        "--id": request_id,
        "--wait": wait,
        "--timeout": timeout,
        "--namespace": namespace,
        "--context": context,
        "--kubeconfig": kubeconfig,
    }
    if given := [option for option, value in for_clusters.items() if value]:
        step = ": write arguments behind --" if given == ["--arg"] else ""
        raise SparkgenError(f"{' and '.join(given)} has no meaning with --local{step}")
    request = Request(
        (source,), tuple(values or ()), tuple(sets or ()), tuple(set_strings or ()), quiet=quiet
    )
    document = _document(request, name)
    if document is None:
        raise typer.Exit(1)
    if code := _run(document, request, tuple(maps or ()), tuple(arguments or ())):
        raise typer.Exit(code)


def _no_document(source: str, given: list[str]) -> None:
    """SparkgenError for what is meant for a document, not for an application of a cluster."""
    if "/" in source or source == "-" or source.endswith((".yaml", ".yml")) or Path(source).is_file():
        raise SparkgenError(
            f"{source} is a document, and in a cluster it is applications that run: sparkgen apply {source}, "
            "then sparkgen run NAME with other arguments; or on this machine: sparkgen run --local "
            f"{source}"
        )
    if given:
        raise SparkgenError(
            f"{' and '.join(given)} is about a document: use it with --local, or with sparkgen apply"
        )


def _one_way(single: list[str] | None, arguments: list[str] | None) -> tuple[str, ...] | None:
    """The arguments, which are said in one of two ways; None when in neither."""
    if single and arguments:
        raise SparkgenError("arguments stand behind --, or each in an --arg: leave one of the two out")
    return tuple(single or arguments or ()) or None


def _in_cluster(
    name: str,
    place: tuple[str, str, str],
    arguments: tuple[str, ...] | None,
    request_id: str,
    form: str,
    timeout: str,
    *,
    wait: bool,
    quiet: bool,
) -> int:
    from sparkgen.cli import running  # noqa: PLC0415
    from sparkgen.cluster import Place  # noqa: PLC0415

    if timeout and not wait:
        raise SparkgenError("--timeout says how long to --wait: add it, or leave the time out")
    wish = running.Wish(
        Place(*place), name, arguments, request_id, uuid.uuid4().hex, form, wait, timeout, quiet
    )
    return running.run(wish)


def _document(request: Request, name: str) -> Document | None:
    """The one document to run; None when it has errors, which are shown."""
    stdin = Stdin()
    checked = check(request, stdin)
    problems = [
        problem for problem in checked.problems if not request.quiet or problem.severity is Severity.ERROR
    ]
    show(problems, request, stdin, on_stdout=False)
    return None if checked.errors else picked(checked, name)


def picked(checked: Checked, name: str) -> Document:
    """The document of this name, or the only one. SparkgenError when it is not clear which."""
    by_name: dict[str, Document] = {
        document.value["metadata"]["name"]: document for document in checked.documents
    }
    if name:
        if name not in by_name:
            raise SparkgenError(f"--name {name}: no application has it; there are: {', '.join(by_name)}")
        return by_name[name]
    if len(checked.documents) != 1:
        raise SparkgenError(f"there are several applications: choose one with --name: {', '.join(by_name)}")
    return checked.documents[0]


def _run(document: Document, request: Request, maps: tuple[str, ...], arguments: tuple[str, ...]) -> int:
    from sparkgen import model  # noqa: PLC0415
    from sparkgen.local import plan, run  # noqa: PLC0415

    if document.value["kind"] in model.SERVER_KINDS:
        raise SparkgenError(f"a {document.value['kind']} runs in a cluster only; name an application")
    # Executors of one machine find each other's files without a service.
    application = replace(model.build(_without_event_log(document.value)), shuffle=None)
    if arguments:
        application = replace(application, arguments=arguments)
    on_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    view = _view(on_terminal=on_terminal)
    if not request.quiet:
        _tell_meaningless(document)
    folder = Path(document.source).parent if Path(document.source).exists() else Path()
    wish = plan.Wish(application, folder, maps, dict(os.environ))
    made: Plan = plan.make(wish, lambda: str(uuid.uuid4()), random.Random(), view)  # noqa: S311 - ports
    return run.run(made, view, on_terminal=on_terminal)


def _without_event_log(value: Mapping[str, Any]) -> dict[str, Any]:
    """A document's value without the directory for event logs, which is the cluster's."""
    spec = {name: section for name, section in value["spec"].items() if name != "eventLog"}
    if "template" in spec:
        template = {name: section for name, section in spec["template"].items() if name != "eventLog"}
        spec["template"] = template
    return {**value, "spec": spec}


def _view(*, on_terminal: bool) -> View:
    from sparkgen.local.view import Plain  # noqa: PLC0415

    if not on_terminal:
        return Plain(sys.stderr)
    from rich.console import Console  # noqa: PLC0415 - rich takes a while to import

    from sparkgen.local.live import Terminal  # noqa: PLC0415

    return Terminal(Console(stderr=True))


def _tell_meaningless(document: Document) -> None:
    from sparkgen.local.meaningless import meaningless  # noqa: PLC0415

    found = meaningless(document.value)
    if not found:
        return
    output.note("without meaning on this machine, and left aside:")
    for path, why in found:
        output.note(f"  {document.node.locate_key(path)}: {path_text(path)}: {why}")
