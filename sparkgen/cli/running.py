"""Runs `run` in a cluster: starts one more run of an application, and may wait for its end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from sparkgen.cli import output
from sparkgen.cluster import Place, connect
from sparkgen.usecases import object_names
from sparkgen.usecases.starting import StartedRun, start


@dataclass(frozen=True, slots=True)
class ClusterRunOptions:
    """The options of a call. `id`: of the request; the same ID gives the same run. `timeout`: such as `30m`.

    `form`: a value of ObjectForm.
    """

    place: Place
    name: str
    arguments: tuple[str, ...] | None
    id: str
    form: str = "text"
    wait: bool = False
    timeout: str = ""
    quiet: bool = False


def run(options: ClusterRunOptions) -> int:
    """Start a run, and print its name. Returns 0; with `wait`, its exit code."""
    cluster = connect(options.place)
    started = start(cluster, options.name, options.arguments, options.id, datetime.now(UTC))
    _print(started, options.form)
    if started.beside and _state(started) == "started" and not options.quiet:
        output.note(f"running at the same time: {', '.join(started.beside)}")
    namespace = started.application.namespace
    if options.wait:
        from sparkgen.cli import waiting  # noqa: PLC0415 - only with --wait

        asked = waiting.WaitOptions(
            name=started.application.name, run=started.name, timeout=options.timeout, quiet=options.quiet
        )
        return waiting.wait(cluster, asked, options.place, namespace)
    if not options.quiet:
        here = object_names.options(options.place, namespace)
        next_step = f"sparkgen wait {started.application.name} --run {started.name}{here}"
        output.note(f"{_state(started)}; next: {next_step}")
    return 0


def _state(started: StartedRun) -> str:
    if not started.begun:
        return "the run exists already"
    return f"waiting in the queue {started.queue}" if started.queue else "started"


def _print(started: StartedRun, form: str) -> None:
    if form == "text":
        output.write(f"{started.name}\n")
    elif form == "name":
        output.write(f"{object_names.full_name(started.job)}\n")
    else:
        output.data(object_names.objects_text([started.job], form))
