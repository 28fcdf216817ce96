"""`sparkgen apply`: prints problems of documents, findings of the preflight, objects and the next step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sparkgen.cli import listing, output
from sparkgen.cli.option_table import Option, command
from sparkgen.cli.options import (
    CA_FILE,
    CHANGES,
    LOCK,
    OBJECTS_OUTPUT,
    PLACE,
    QUIET,
    SOURCES,
    TARGET,
    TIMEOUT,
)
from sparkgen.cli.problems import Stdin, show, valid_documents
from sparkgen.cli.request import Request, WaitingOptions
from sparkgen.cluster import ClusterError, connect
from sparkgen.errors import Severity, SparkgenError
from sparkgen.live.state import is_suspended
from sparkgen.live.values import served_as
from sparkgen.preflight import Finding, Unknown, Wanted, needs
from sparkgen.preflight.gather import own_job
from sparkgen.semantics.local_entries import concerned
from sparkgen.usecases.apply import Outcome, Task, Way, apply_all, findings, look, wanted
from sparkgen.usecases.bring_runtime import bring_all
from sparkgen.usecases.collisions import claim, shared_objects
from sparkgen.usecases.validate import agree

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster
    from sparkgen.document import Document

HELP = """Apply documents to the cluster of the current context: check, render, preflight, server-side apply.

The preflight looks for everything that would fail: Kubernetes version, namespace, permissions, quota, Pod
Security, admission policies, missing Secrets and images. It changes nothing, and reports all problems at
once. If the preflight finds an error, nothing is applied.

If the run already exists in the cluster, it is not started again. The command does not change earlier runs,
objects that belong to another application, or objects that sparkgen did not create.

If local files have changed since the last push, the command pushes them first, and updates the lock file.

Exit codes: 0 applied, 1 errors in a document or in the preflight, 2 wrong usage or refused by the cluster.
With --wait, the exit code is that of `sparkgen wait`.
"""
EXAMPLES = """\b
Examples:
  sparkgen apply app.yaml -n analytics
  sparkgen apply app.yaml --wait                # wait for the run to end; exit with its exit code
  sparkgen apply app.yaml --dry-run             # preflight, and what would be created or changed
  sparkgen apply apps/ -f prod.yaml --context prod -n prod
  sparkgen apply app.yaml --set spec.run.id=again
"""

_WORDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "not checked"}


@dataclass(frozen=True, slots=True)
class Apply(WaitingOptions, Request):
    """The documents and the options of `apply`.

    `force`: take over fields of other owners; `take`: take over objects without an owner; `output`: a form of
    objects; `no_push`: push no local files that have changed; `ca_file`: for the registry.
    """

    dry_run: bool = False
    wait: bool = False
    skip_preflight: bool = False
    force: bool = False
    take: bool = False
    output: str = "text"
    no_push: bool = False
    ca_file: str = ""


def apply(options: Apply) -> int:
    """Apply all documents; 1 if a document or the preflight has errors. A closed pipe does not stop it."""
    _agree(options)
    with output.outliving_readers():
        return _apply(options)


def _apply(options: Apply) -> int:
    documents = _documents(options)
    if not documents:
        return 1
    cluster = connect(options.place)
    all_wanted = [wanted(document, options.namespace or cluster.namespace) for document in documents]
    if _clash(documents, all_wanted, options):
        return 1
    if options.wait and len(all_wanted) != 1:
        raise SparkgenError("--wait takes one application; apply them one by one, or leave out --wait")
    now = datetime.now(UTC)
    tasks = look(cluster, all_wanted, now, preflight=not options.skip_preflight, force=options.force)
    if _stopped(tasks, options):
        return 1
    _bring_runtimes(cluster, all_wanted, options)
    outcomes = apply_all(
        cluster,
        tasks,
        Way(options.dry_run, options.force),
        lambda outcome: _tell_done(outcome, options),
    )
    _raise(outcomes, options)
    if options.output in ("json", "yaml"):
        listing.show_objects([one.item for outcome in outcomes for one in outcome.done], options.output)
    return _end(cluster, tasks, options)


def _bring_runtimes(cluster: Cluster, all_wanted: Sequence[Wanted], options: Apply) -> None:
    """Create the ConfigMaps with the runtime that the applications share, and print a line for each."""
    after = " (dry run)" if options.dry_run else ""
    needed = [(one.namespace, one.runtime, one.pinned) for one in all_wanted]
    for item, result in bring_all(cluster, needed, dry_run=options.dry_run):
        if options.output in ("text", "name"):
            listing.show_objects([item], options.output, f"{result}{after}")


def _stopped(tasks: Sequence[Task], options: Apply) -> bool:
    """Whether a finding stops the apply. Prints the findings of all applications."""
    stopped = owned = False
    for task in tasks:
        task_findings, others = findings(task, take=options.take)
        owned = owned or others
        stopped = _tell(task.wanted, task_findings, options) or stopped
    if stopped:
        output.note("nothing was applied" + ("" if owned else "; to apply anyway, add --skip-preflight"))
    return stopped


def _clash(documents: Sequence[Document], all_wanted: Sequence[Wanted], request: Request) -> bool:
    """Whether two documents render the same object in the same namespace. Prints these problems."""
    pairs = zip(documents, all_wanted, strict=True)
    clashes = shared_objects(claim(document, wanted.objects) for document, wanted in pairs)
    if clashes:
        show(clashes, request, Stdin(), on_stdout=False)
    return bool(clashes)


def _tell_done(outcome: Outcome, options: Apply) -> None:
    """Print a line for each applied object, unless the objects are printed as json or yaml at the end."""
    if options.output in ("text", "name"):
        after = " (dry run)" if options.dry_run else ""
        for applied in outcome.done:
            listing.show_objects([applied.item], options.output, f"{applied.result}{after}")


def _raise(outcomes: Sequence[Outcome], options: Apply) -> None:
    """Raise ClusterError if an application was refused; of several errors, print all but the first."""
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    if not errors:
        return
    for other in errors[1:]:
        output.say(str(other))
    left = sum(not outcome.begun for outcome in outcomes)
    skipped = f" {left} of {len(outcomes)} applications were not started." if left else ""
    if options.dry_run or not any(outcome.done for outcome in outcomes):
        raise ClusterError(f"{errors[0]}{f'.{skipped}' if skipped else ''}", errors[0].status)
    raise ClusterError(
        f"{errors[0]}.{skipped} The objects above are applied; fix the error and apply again",
        errors[0].status,
    )


def _agree(options: Apply) -> None:
    """Raise SparkgenError for options that exclude each other."""
    if options.wait and options.dry_run:
        raise SparkgenError(
            "--dry-run starts no run, so there is nothing to wait for; leave out --dry-run or --wait"
        )
    if options.timeout and not options.wait:
        raise SparkgenError("--timeout needs --wait; add it, or leave out --timeout")


def _documents(options: Apply) -> Sequence[Document]:
    """Returns the documents; none if one has errors. Prints their problems.

    If their local files have changed since the last push, pushes them.
    """
    inputs = options if options.no_push else replace(options, local_files="pushable")
    documents = valid_documents(inputs)
    if documents is None:
        return ()
    agree(documents, options.namespace)
    if options.no_push or not any(concerned(document.value) for document in documents):
        return documents
    from sparkgen.cli import push  # noqa: PLC0415 - few documents have local files

    return push.brought(documents, options, options.ca_file, dry_run=options.dry_run)


def _tell(wanted: Wanted, findings: Iterable[Finding], request: Request) -> bool:
    """Print the findings. Returns whether one of them stops the apply."""
    shown = [finding for finding in findings if not request.quiet or finding.severity is Severity.ERROR]
    if shown:
        output.note(f"preflight of {wanted.name} in {wanted.namespace}:")
    for finding in shown:
        output.note(f"  {_WORDS[finding.severity]}: {finding.message}")
        if finding.next_step:
            output.note(f"    next: {finding.next_step}")
    return any(finding.severity is Severity.ERROR for finding in shown)


def _end(cluster: Cluster, tasks: Sequence[Task], options: Apply) -> int:
    """Print the next step; or wait, and return the run's exit code."""
    if options.dry_run:
        return 0
    if not options.quiet and options.output == "text" and not options.wait:
        for task in tasks:
            output.note(_next_step(task, options.here(task.wanted.namespace)))
    if not options.wait:
        return 0
    from sparkgen.cli import wait  # noqa: PLC0415 - only with --wait

    wanted = tasks[0].wanted
    return wait.wait(cluster, options, wanted.name, own_job(wanted), wanted.namespace)


def _next_step(task: Task, here: str) -> str:
    wanted, facts = task.wanted, task.facts
    workload = next((item for item in wanted.objects if needs.driver(item) is not None), None)
    if workload is None:
        return f"next: kubectl get pods{here}"
    if workload["kind"] == "CronJob":
        schedule = workload["spec"]["schedule"]
        return f'scheduled at "{schedule}"; next: sparkgen run {wanted.name}{here}   # to run it now'
    if served_as(workload):
        connect = f"sparkgen connect {wanted.name}{here}"
        if is_suspended(workload):
            return f"{wanted.name} is suspended; next: {connect} --start"
        return f"next: {connect}   # waits until it is ready"
    job = own_job(wanted)
    if workload["spec"].get("suspend"):
        return f"{job} is suspended; next: sparkgen run {wanted.name}{here}   # you can add arguments"
    known = facts.live.get((workload["kind"], workload["metadata"]["name"])) if facts else None
    if job and facts is not None and not needs.starts(wanted, facts) and not isinstance(known, Unknown):
        return (
            f"{job} exists already and is not started again; "
            f"next: sparkgen status {wanted.name}{here}; for another run: sparkgen run {wanted.name}{here}"
        )
    follow = f"sparkgen status {wanted.name}{here}"
    return f"next: {follow}; sparkgen wait {wanted.name}{here}" if job else f"next: {follow}"


COMMAND = command(
    Apply,
    apply,
    SOURCES,
    *CHANGES,
    LOCK,
    Option(
        "no_push",
        "--no-push",
        "Fail if local files have changed since the last push, instead of pushing them.",
    ),
    CA_FILE,
    *PLACE,
    TARGET,
    Option("dry_run", "--dry-run", "Change nothing; print what would be created or changed."),
    Option("wait", "--wait", "Wait for the run to end, and exit with its exit code."),
    TIMEOUT,
    Option("skip_preflight", "--skip-preflight", "Do not check the cluster first."),
    Option("force", "--force-conflicts", "Take over fields that another tool or user applied."),
    Option("take", "--take-ownership", "Take over existing objects that sparkgen did not create."),
    OBJECTS_OUTPUT,
    QUIET,
)
