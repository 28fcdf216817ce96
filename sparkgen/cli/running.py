"""What `run` does in a cluster: one more run of an application that is there. Knows no command line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sparkgen.cli import output
from sparkgen.cluster import ClusterError, Place, connect
from sparkgen.cluster.marks import REQUEST_ARGUMENTS, REQUEST_ID, REQUESTED
from sparkgen.errors import SparkgenError
from sparkgen.live.find import one
from sparkgen.live.state import life_of
from sparkgen.live.values import Application, annotation_of, label_of, name_of
from sparkgen.objects import Object
from sparkgen.preflight import needs
from sparkgen.usecases import object_names, requested_run
from sparkgen.usecases.requested_run import RequestedRun

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked for. `id`: "" for a run of its own; `fresh_id`: what to take then.

    `form`: of ObjectForm; `timeout`: as in `30m`.
    """

    place: Place
    name: str
    arguments: tuple[str, ...] | None
    id: str
    fresh_id: str
    form: str = "text"
    wait: bool = False
    timeout: str = ""
    quiet: bool = False


def run(wish: Wish) -> int:
    """Start a run and print its name; with `wait`, its exit code."""
    cluster = connect(wish.place)
    application = one(cluster, wish.name)
    asked = RequestedRun(application.name, wish.arguments, wish.id or wish.fresh_id)
    live = cluster.get("batch/v1", "Job", asked.run)
    if live is not None:
        _same(live, asked)
    source = _source(application)
    _not_expired(cluster, application)
    if live is None:
        job = _made(cluster, source, asked)
        live = cluster.create(job)
        what = _begun(live)
    else:
        what = "is there already"
    if _unfinished(cluster, live):
        live = _completed(cluster, source, live)
        what = _begun(live)
    _print(live, wish)
    return _end(cluster, wish, application, live, what)


def _source(application: Application) -> Mapping[str, Any]:
    """What the new run is made of: the CronJob, or the Job of the newest run that a document describes."""
    if application.schedule is not None:
        return application.schedule
    jobs = [run.workload for run in application.runs if run.kind == "Job"]
    if not jobs:
        raise SparkgenError(
            f"{application.name} runs for ever (a Deployment): there is no other run of it. Change its "
            "arguments in the document, and apply it"
        )
    rendered = [job for job in jobs if not label_of(job, REQUESTED)]
    return (rendered or jobs)[0]


def _not_expired(cluster: Cluster, application: Application) -> None:
    tuning = cluster.get("v1", "ConfigMap", f"{application.name}-tuning", application.namespace)
    text = needs.expires_at([tuning]) if tuning else ""
    if text and datetime.fromisoformat(text) <= datetime.now(UTC):
        raise SparkgenError(
            f"runs of {application.name} may start until {text} only: set spec.run.expiresAt to a later date "
            "and apply the document"
        )


def _made(cluster: Cluster, source: Mapping[str, Any], asked: RequestedRun) -> Object:
    if source["kind"] == "CronJob":
        return requested_run.from_cron_job(source, asked)
    missing = [name for name in requested_run.files_of(source) if not cluster.has("v1", "ConfigMap", name)]
    if missing:
        raise SparkgenError(
            f"the files of {requested_run.run_of(source)} are there no more ({', '.join(missing)}): "
            "apply the document first"
        )
    return requested_run.from_job(source, asked)


def _begun(job: Mapping[str, Any]) -> str:
    queue = requested_run.queue_of(job)
    return f"waits in the queue {queue}" if queue else "started"


def _unfinished(cluster: Cluster, job: Mapping[str, Any]) -> bool:
    """Whether a run still waits for its files: made just now, or by a call that broke off.

    One in a queue may be let go by Kueue before its files are there: its pod waits for them.
    """
    if job["metadata"].get("ownerReferences"):
        return False
    if requested_run.queue_of(job):
        return not all(cluster.has("v1", "ConfigMap", name) for name in requested_run.files_of(job))
    return bool(job["spec"].get("suspend")) and not (job.get("status") or {}).get("startTime")


def _completed(cluster: Cluster, source: Mapping[str, Any], job: Mapping[str, Any]) -> Object:
    """Give the Job its files, and let it go; one in a queue is let go by Kueue, when there is room."""
    old = requested_run.run_of(source)
    for name in requested_run.files_of(source):
        config_map = cluster.get("v1", "ConfigMap", name)
        if config_map is None:
            raise SparkgenError(f"the ConfigMap {name} is there no more: apply the document first")
        copy = requested_run.copied(config_map, old, job)
        try:
            cluster.create(copy)
        except ClusterError as error:
            if error.status != 409:
                raise
            _made_before(cluster, copy)
    if requested_run.queue_of(job):
        return dict(job)
    return cluster.patch(job, {"spec": {"suspend": False}})


def _made_before(cluster: Cluster, copy: Mapping[str, Any]) -> None:
    """SparkgenError unless a call before this one made the ConfigMap, so that the run owns it."""
    name = name_of(copy)
    there = cluster.get("v1", "ConfigMap", name)
    owner = copy["metadata"]["ownerReferences"][0]["uid"]
    if there is None or owner not in {one["uid"] for one in there["metadata"].get("ownerReferences") or ()}:
        raise SparkgenError(
            f"the ConfigMap {name} exists and does not belong to this run: delete it, or choose another --id"
        )


def _same(job: Mapping[str, Any], asked: RequestedRun) -> None:
    """SparkgenError when the run of this id is another one."""
    if annotation_of(job, REQUEST_ID) != asked.id:
        raise SparkgenError(
            f"{name_of(job)} is there and has another id: choose another --id than {asked.id}"
        )
    before = annotation_of(job, REQUEST_ARGUMENTS)
    now = "" if asked.arguments is None else json.dumps(list(asked.arguments), ensure_ascii=False)
    if before != now:
        shown = before or "those of the document"
        raise SparkgenError(
            f"--id {asked.id} is the run {name_of(job)}, whose arguments are {shown}: "
            "another run needs another --id"
        )


def _print(job: Mapping[str, Any], wish: Wish) -> None:
    if wish.form == "text":
        output.write(f"{name_of(job)}\n")
    elif wish.form == "name":
        output.write(f"{object_names.full_name(job)}\n")
    else:
        output.data(object_names.objects_text([job], wish.form))


def _end(cluster: Cluster, wish: Wish, application: Application, job: Mapping[str, Any], what: str) -> int:
    others = [
        run.name
        for run in application.runs
        if run.name != name_of(job) and life_of(run).state.value == "Running"
    ]
    if others and what == "started" and not wish.quiet:
        output.note(f"{', '.join(others)} runs at the same time")
    if wish.wait:
        from sparkgen.cli import waiting  # noqa: PLC0415 - only with --wait

        asked = waiting.Wish(application.name, name_of(job), wish.timeout, quiet=wish.quiet)
        return waiting.wait(cluster, asked, wish.place, application.namespace)
    if not wish.quiet:
        here = object_names.options(wish.place, application.namespace)
        output.note(f"{what}; next: sparkgen wait {application.name} --run {name_of(job)}{here}")
    return 0
