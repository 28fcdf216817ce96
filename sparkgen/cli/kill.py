"""`sparkgen kill`: asks for confirmation, and stops a run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from sparkgen import contract
from sparkgen.cli import listing, output
from sparkgen.cli.option_table import Option, command
from sparkgen.cli.options import APPLICATION, OBJECTS_OUTPUT, PLACE, QUIET, YES
from sparkgen.cli.request import EndOptions
from sparkgen.cluster import connect
from sparkgen.cluster.annotations import controller_of
from sparkgen.live.find import one
from sparkgen.live.state import life_of
from sparkgen.live.values import Application, Run, served_as
from sparkgen.usecases import kill as usecase

HELP = """Stop a run: delete its driver and executors, and keep its Job, marked as failed.

The next apply or sync does not start the run again. The driver gets its grace period to stop. The driver's
log is deleted with its pod: if you need the log, run `sparkgen logs` first. A streaming application is scaled
to zero until you or your GitOps tool apply it again.
"""
EXAMPLES = """\b
Examples:
  sparkgen kill pi -n analytics
  sparkgen kill pi --run pi-51bb888d --yes
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KillOptions(EndOptions):
    """The application, and its run to stop; "" for the running one."""

    name: str
    run: str


def kill(options: KillOptions) -> int:
    """Stop a run. Returns 0 also if none is running, 1 if the user says no."""
    cluster = connect(options.place)
    application = one(cluster, options.name)
    run = usecase.run_to_kill(application, options.run)
    if run is None:
        output.note(f"no run of {application.name} is running{_instead(application)}")
        return 0
    if not output.confirmed(f"stop {run.name} in {run.namespace} ({cluster.context})?", yes=options.yes):
        return 1
    listing.show_objects([usecase.kill(cluster, run, datetime.now(UTC))], options.output, "killed")
    if not options.quiet:
        output.note(_after(run, options.here(run.namespace)))
    return 0


def _instead(application: Application) -> str:
    """Returns the latest run's state, and how to name the sessions: only a named session is stopped."""
    latest = next((run for run in application.runs if not contract.is_session(run.workload)), None)
    words = f": {latest.name} is {life_of(latest).state.value}" if latest else ""
    sessions = [
        run.name for run in application.runs if contract.is_session(run.workload) and not life_of(run).over
    ]
    return f"{words}; to stop a session, name it: --run {' or '.join(sessions)}" if sessions else words


def _after(run: Run, here: str) -> str:
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


COMMAND = command(
    KillOptions,
    kill,
    APPLICATION,
    Option(
        "run",
        "--run RUN",
        "Run to stop, by its name or the end of its name. Required if several are running.",
    ),
    YES,
    *PLACE,
    OBJECTS_OUTPUT,
    QUIET,
)
