"""Runs `kill` and `delete`: asks for confirmation, and prints the results."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sparkgen import contract
from sparkgen.cli import output
from sparkgen.cli.cluster_options import ClusterOptions
from sparkgen.cluster import Place, connect
from sparkgen.cluster.annotations import controller_of
from sparkgen.errors import SparkgenError
from sparkgen.live.find import one
from sparkgen.live.state import life_of
from sparkgen.live.values import Application, Run, served_as
from sparkgen.usecases import deleting, killing, object_names


@dataclass(frozen=True, slots=True, kw_only=True)
class EndOptions(ClusterOptions):
    """The options that `kill` and `delete` share. `output`: a value of ObjectForm; `yes`: do not ask."""

    output: str
    yes: bool
    quiet: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class KillOptions(EndOptions):
    """The application, and its run to stop; "" for the running one."""

    name: str
    run: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteOptions(EndOptions):
    """The applications to delete; `dry_run`: only list what would be deleted."""

    names: tuple[str, ...]
    dry_run: bool


def kill(options: KillOptions) -> int:
    """Stop a run. Returns 0 also if none is running, 1 if the user says no."""
    cluster = connect(options.place)
    application = one(cluster, options.name)
    run = killing.run_to_kill(application, options.run)
    if run is None:
        output.note(f"no run of {application.name} is running{_instead(application)}")
        return 0
    if not _agreed(f"stop {run.name} in {run.namespace} ({cluster.context})?", options):
        return 1
    _print([killing.kill(cluster, run, datetime.now(UTC))], "killed", options)
    if not options.quiet:
        output.note(_after(run, options.place))
    return 0


def _instead(application: Application) -> str:
    """Returns the latest run's state, and how to name the sessions: only a named session is stopped."""
    latest = next((run for run in application.runs if not contract.is_session(run.workload)), None)
    words = f": {latest.name} is {life_of(latest).state.value}" if latest else ""
    sessions = [
        run.name for run in application.runs if contract.is_session(run.workload) and not life_of(run).over
    ]
    return f"{words}; to stop a session, name it: --run {' or '.join(sessions)}" if sessions else words


def _after(run: Run, place: Place) -> str:
    here = object_names.options(place, run.namespace)
    name = controller_of(run.workload)
    if run.kind == "Deployment":
        undone = (
            f"{name} starts it again, unless you set spec.suspend: true in Git"
            if name
            else "the next apply starts it again; to keep it stopped, set spec.suspend: true in the document"
        )
        back = f"; next: sparkgen connect {run.application}{here} --start" if served_as(run.workload) else ""
        return f"its driver gets its grace period to stop; {undone}{back}"
    if contract.is_session(run.workload):
        return "its driver is notified at once, and its executors are deleted"
    return (
        "its driver and executors get their grace period to stop; next: "
        f"sparkgen wait {run.application} --run {run.name}{here}, or sparkgen run {run.application}{here}"
    )


def delete(options: DeleteOptions) -> int:
    """Delete all objects of applications; 1 if the user says no, 2 if an application cannot be found."""
    cluster = connect(options.place)
    to_delete, problems = deleting.applications(cluster, options.names)
    for text in problems:
        output.note(f"sparkgen: {text}")
    if problems:
        return 2
    for text in dict.fromkeys(text for each in to_delete.values() for text in each.unseen):
        output.note(f"not checked: {text}")
    objects = [item for each in to_delete.values() for item in each.objects]
    if options.dry_run:
        _print(objects, "(dry run)", options)
        return 0
    for name, each in to_delete.items():
        if each.controllers:
            output.note(
                f"warning: {' and '.join(each.controllers)} manages {name}, and will create it "
                "again and start a new run; delete it there instead"
            )
    if not options.yes and sys.stdin.isatty():
        output.complain("".join(f"  {object_names.full_name(item)}\n" for item in objects))
    shown = "this 1 object" if len(objects) == 1 else f"these {len(objects)} objects"
    question = f"delete {shown} of {' and '.join(to_delete)} in {cluster.namespace} ({cluster.context})?"
    if not _agreed(question, options):
        return 1
    deleting.delete(cluster, objects, lambda gone: _print(gone, "deleted", options))
    return 0


def _print(items: Sequence[Mapping[str, Any]], what: str, options: EndOptions) -> None:
    """Print objects; in the form `text`, with what happened to them."""
    if options.output in ("json", "yaml"):
        output.data(object_names.objects_text(items, options.output))
        return
    after = f" {what}" if options.output == "text" else ""
    output.write("".join(f"{object_names.full_name(item)}{after}\n" for item in items))


def _agreed(question: str, options: EndOptions) -> bool:
    """Whether the user says yes. Raises SparkgenError if there is no terminal to ask on."""
    if options.yes:
        return True
    if not sys.stdin.isatty():
        raise SparkgenError(f"{question} Cannot ask without a terminal; add --yes")
    output.complain(f"{question} [y/N] ")
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    output.note("canceled; nothing was changed")
    return False
