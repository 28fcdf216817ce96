"""Starts another run of an application: a Job made from its CronJob, or from its newest run's Job."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from sparkgen import contract
from sparkgen.cluster import ClusterError
from sparkgen.cluster.annotations import REQUEST_ARGUMENTS, REQUEST_ID, REQUESTED
from sparkgen.errors import Conflict, NotFound, SparkgenError
from sparkgen.live.find import one
from sparkgen.live.state import State, life_of
from sparkgen.live.values import Application, annotation_of, label_of, name_of, served_as
from sparkgen.objects import Object
from sparkgen.preflight import needs
from sparkgen.usecases import requested_run
from sparkgen.usecases.requested_run import RequestedRun

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster


@dataclass(frozen=True, slots=True)
class StartedRun:
    """A requested run: its Job as the server has it.

    `begun`: whether this call created or resumed it; `beside`: names of the runs that run at the same time.
    """

    application: Application
    job: Object
    begun: bool
    beside: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the run, and of its Job."""
        return name_of(self.job)

    @property
    def queue(self) -> str:
        """The queue of Kueue in which the run waits; "" if there is none."""
        return requested_run.queue_of(self.job)


def start(
    cluster: Cluster, name: str, arguments: tuple[str, ...] | None, id_: str, now: datetime
) -> StartedRun:
    """Start a run of an application; with an id of an earlier call, complete that call's run.

    `arguments`: of the program; None for those of the document. SparkgenError if it is not possible, with the
    reason; Conflict if the ID belongs to another request; ClusterError if the cluster refuses.
    """
    try:
        "".join(arguments or ()).encode()
    except UnicodeEncodeError:  # bytes of the command line that are not UTF-8
        raise SparkgenError("an argument of the run is not UTF-8; write it in UTF-8") from None
    application = one(cluster, name)
    asked = RequestedRun(application.name, arguments, id_)
    live = cluster.get("batch/v1", "Job", asked.run)
    if live is not None:
        _same(live, asked)
    source = _source(application)
    begun = live is None
    if live is None:
        _not_expired(cluster, application, now)
        live, begun = _created(cluster, _made(cluster, source, asked), asked)
    if _unfinished(cluster, live):
        live, begun = _completed(cluster, source, live), True
    beside = [
        run.name
        for run in application.runs
        if run.name != name_of(live) and life_of(run).state is State.RUNNING
    ]
    return StartedRun(application, live, begun, tuple(beside))


def _created(cluster: Cluster, job: Object, asked: RequestedRun) -> tuple[Object, bool]:
    """Create the Job of a request; or read it, if another call of the same request has created it meanwhile.

    Returns the Job, and whether this call created it.
    """
    try:
        return cluster.create(job), True
    except ClusterError as error:
        live = cluster.get("batch/v1", "Job", asked.run) if error.status == HTTPStatus.CONFLICT else None
        if live is None:
            raise
    _same(live, asked)
    return live, False


def _source(application: Application) -> Mapping[str, Any]:
    """Returns the source of the new run: the CronJob, or the Job of the newest run of a document."""
    if application.schedule is not None:
        return application.schedule
    all_jobs = [run.workload for run in application.runs if run.kind == "Job"]
    jobs = [job for job in all_jobs if not contract.is_session(job)]
    if all_jobs and not jobs:
        raise SparkgenError(f"{application.name} has sessions, but no run yet; apply the document first")
    if what := next((served_as(run.workload) for run in application.runs), ""):
        raise SparkgenError(
            f"{application.name} is a {what}, which has no runs; next: sparkgen connect {application.name} "
            f"-n {application.namespace} (with --start, if it is stopped)"
        )
    if not jobs:
        raise SparkgenError(
            f"{application.name} is a Deployment, which runs forever and has no other runs; to change its "
            "arguments, change the document and apply it"
        )
    rendered = [job for job in jobs if not label_of(job, REQUESTED)]
    return (rendered or jobs)[0]


def _not_expired(cluster: Cluster, application: Application, now: datetime) -> None:
    tuning = cluster.get("v1", "ConfigMap", f"{application.name}-tuning", application.namespace)
    text = needs.expires_at([tuning]) if tuning else ""
    if text and datetime.fromisoformat(text) <= now:
        raise SparkgenError(
            f"runs of {application.name} expired at {text}; set spec.run.expiresAt to a later date and "
            "apply the document"
        )


def _made(cluster: Cluster, source: Mapping[str, Any], asked: RequestedRun) -> Object:
    if source["kind"] == "CronJob":
        return requested_run.from_cron_job(source, asked)
    missing = [name for name in requested_run.files_of(source) if not cluster.has("v1", "ConfigMap", name)]
    if missing:
        raise NotFound(
            f"the ConfigMaps of {requested_run.run_of(source)} no longer exist ({', '.join(missing)}); "
            "apply the document first"
        )
    return requested_run.from_job(source, asked)


def _unfinished(cluster: Cluster, job: Mapping[str, Any]) -> bool:
    """Whether a run still waits for its files: it is new, or the call that created it was interrupted.

    Kueue may start a run of a queue before its files exist: its pod waits for them.
    """
    if job["metadata"].get("ownerReferences"):
        return False
    if requested_run.queue_of(job):
        return not all(cluster.has("v1", "ConfigMap", name) for name in requested_run.files_of(job))
    return bool(job["spec"].get("suspend")) and not (job.get("status") or {}).get("startTime")


def _completed(cluster: Cluster, source: Mapping[str, Any], job: Mapping[str, Any]) -> Object:
    """Create the Job's files, and resume it; Kueue resumes a Job in a queue, when there is room."""
    old = requested_run.run_of(source)
    for name in requested_run.files_of(source):
        config_map = cluster.get("v1", "ConfigMap", name)
        if config_map is None:
            raise NotFound(f"the ConfigMap {name} no longer exists; apply the document first")
        _create(cluster, requested_run.copied(config_map, old, job))
    if requested_run.grouped(source):
        group = cluster.get(contract.POD_GROUPS_OF_VOLCANO, "PodGroup", old)
        if group is None:
            raise NotFound(f"the PodGroup {old} no longer exists; apply the document first")
        _create(cluster, requested_run.copied_group(group, job))
    if requested_run.queue_of(job):
        return dict(job)
    return cluster.patch(job, {"spec": {"suspend": False}})


def _create(cluster: Cluster, copy: Object) -> None:
    """Create an object of the run, unless an earlier call created it."""
    try:
        cluster.create(copy)
    except ClusterError as error:
        if error.status != 409:
            raise
        _made_before(cluster, copy)


def _made_before(cluster: Cluster, copy: Mapping[str, Any]) -> None:
    """Raises Conflict unless an earlier call created the object, so that the run owns it."""
    name, kind = name_of(copy), copy["kind"]
    live = cluster.get(copy["apiVersion"], kind, name)
    owner = copy["metadata"]["ownerReferences"][0]["uid"]
    if live is None or owner not in {one["uid"] for one in live["metadata"].get("ownerReferences") or ()}:
        raise Conflict(
            f"the {kind} {name} exists already and does not belong to this run; delete it, or choose "
            "another --id"
        )


def _same(job: Mapping[str, Any], asked: RequestedRun) -> None:
    """Raises Conflict if the Job of this name belongs to another request ID, or has other arguments."""
    if annotation_of(job, REQUEST_ID) != asked.id:
        raise Conflict(f"{name_of(job)} exists already with another ID; choose an --id other than {asked.id}")
    before = annotation_of(job, REQUEST_ARGUMENTS)
    now = "" if asked.arguments is None else json.dumps(list(asked.arguments), ensure_ascii=False)
    if before != now:
        shown = before or "those of the document"
        raise Conflict(
            f"--id {asked.id} belongs to the run {name_of(job)}, whose arguments are {shown}; "
            "for another run, use another --id"
        )
