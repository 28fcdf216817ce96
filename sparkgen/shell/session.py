"""Starts a session in a cluster, and ends it."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sparkgen import contract
from sparkgen.cluster import ClusterError
from sparkgen.codes import Code
from sparkgen.errors import SparkgenError
from sparkgen.live.explain import fares
from sparkgen.live.facts import gather
from sparkgen.live.find import choose, one, reread
from sparkgen.live.state import ENDED, State
from sparkgen.live.values import Run, label_of, name_of
from sparkgen.objects import Object
from sparkgen.preflight.ownership import owner_of
from sparkgen.shell import session_objects
from sparkgen.shell.allocator_client import AllocatorClient
from sparkgen.shell.driver_address import DriverAddress, listens_here
from sparkgen.shell.ended_session import refuse_everything
from sparkgen.shell.heartbeat import Heartbeat
from sparkgen.shell.session_objects import SessionObjects
from sparkgen.usecases.ending import end_in_time
from sparkgen.usecases.forwarding import Forwarding
from sparkgen.usecases.requested_run import queue_of
from sparkgen.usecases.wait import TimeLimit, until_ready

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster

LOOK_SECONDS = 0.2
END_SECONDS = 15.0
"""Seconds for which the command tries to delete its session. A session also ends by itself."""


def make_basis(cluster: Cluster, objects: SessionObjects) -> None:
    """Create the missing objects of the application, as `sparkgen apply` does: a later apply may change them.

    Existing objects are not changed. Raises SparkgenError if one of them belongs to another application.
    """
    for item in objects.basis:
        try:
            if _is_missing(cluster, item):
                _make_missing(cluster, item)
        except ClusterError as error:
            if error.status not in (403, 409):
                raise
            _check_there(cluster, item, error)


def _is_missing(cluster: Cluster, item: Object) -> bool:
    """Whether an object is missing, or cannot be read. Raises SparkgenError if it has another owner."""
    try:
        existing = _live(cluster, item)
    except ClusterError as error:
        if error.status != 403:
            raise
        return True
    if existing is not None:
        _check_owner(existing, item)
    return existing is None


def _make_missing(cluster: Cluster, item: Object) -> None:
    """Create an object by server-side apply, if permitted: a later apply can then remove fields of it."""
    try:
        cluster.apply(item)
    except ClusterError as error:
        if error.status != 403:
            raise
        cluster.create(item)  # without the right to patch


def make(cluster: Cluster, objects: SessionObjects) -> Object:
    """Create the session's Job, suspended. Returns it as the server has it. Deletes abandoned sessions."""
    created = cluster.create(objects.job)
    application = label_of(created, contract.LABEL_APPLICATION)
    selector = f"{contract.LABEL_APPLICATION}={application},{contract.LABEL_COMPONENT}={contract.SESSION}"
    with contextlib.suppress(ClusterError):  # the next session tries again
        jobs = cluster.list("batch/v1", "Job", created["metadata"]["namespace"], selector)
        for job in session_objects.abandoned(jobs, created):
            end(cluster, job)
    return created


def complete(
    cluster: Cluster, objects: SessionObjects, job: Object, host: str, say: Callable[[str], None]
) -> None:
    """Create the Job's files, and resume it; Kueue resumes a Job in a queue.

    `host`: the driver's address. `say`: called if the user may not create the NetworkPolicy.
    """
    for item in session_objects.config_maps(objects, job):
        cluster.create(item)
    if objects.policy:
        policy = session_objects.network_policy(job, host)
        try:
            cluster.create(policy)
        except ClusterError as error:
            if error.status != 403:
                raise
            say(
                f"{error.said}; the application's NetworkPolicy therefore blocks this machine, and "
                "the driver "
                "cannot fetch large results"
            )
    if not queue_of(job):
        cluster.patch(job, {"spec": {"suspend": False}})


def await_allocator(cluster: Cluster, job: Object, limit: TimeLimit, say: Callable[[str], None]) -> Run:
    """Returns the run when its allocator answers. Raises SparkgenError if it will not, or not in time."""
    application = one(cluster, label_of(job, contract.LABEL_APPLICATION), job["metadata"]["namespace"])
    run = choose(application, name_of(job))
    return until_ready(cluster, run, run.name, (*ENDED, State.DELETING), limit, say)


def await_stop(client: AllocatorClient, driver: DriverAddress, seconds: float) -> None:
    """Wait until the driver has stopped, at most `seconds`: it would report an earlier end as an error."""
    until = time.monotonic() + seconds
    try:
        while client.say_alive() and listens_here(driver.port) and time.monotonic() < until:
            time.sleep(LOOK_SECONDS)
    except SparkgenError:
        pass  # the session is over


def end(cluster: Cluster, job: Object) -> None:
    """Delete the session's Job. The allocator deletes the executors; Kubernetes deletes the rest."""
    cluster.delete(job, after_owned=True)


def report_end(
    cluster: Cluster,
    forwarding: Forwarding,
    heartbeat: Heartbeat,
    over: threading.Event,
    say: Callable[[str], None],
) -> None:
    """If the session ends before the program does, print that, and tell the driver, until `over` is set."""
    if not forwarding.until_the_end():
        return
    heartbeat.stop()
    ended = f"the session {forwarding.run.name} has ended{_why(cluster, forwarding.run)}"
    say(f"{ended}; Spark stops in your program")
    # Otherwise, the driver tolerates the lost connection to its allocator for a minute and a half.
    reason = f"[{Code.SESSION_ENDED}] {ended}"
    with (
        contextlib.suppress(OSError),  # the command has ended, and closed the port
        contextlib.closing(refuse_everything(forwarding.hand_over(), reason)),
    ):
        over.wait()


def _why(cluster: Cluster, run: Run) -> str:
    try:
        return f" ({fares(gather(cluster, reread(cluster, run)), datetime.now(UTC))})"
    except SparkgenError:
        return ""


def end_session(cluster: Cluster, job: Object, say: Callable[[str], None]) -> None:
    """Delete the session; if that fails, print that it ends by itself."""
    message = f"the session {job['metadata']['name']} could not be deleted; it ends by itself within a minute"
    try:
        end_in_time(END_SECONDS, lambda: end(cluster, job))
    except SparkgenError as error:
        say(f"{message}: {error}")


def _live(cluster: Cluster, item: Object) -> Object | None:
    metadata = item["metadata"]
    return cluster.get(item["apiVersion"], item["kind"], metadata["name"], metadata["namespace"])


def _check_there(cluster: Cluster, item: Object, refusal: ClusterError) -> None:
    """Raises SparkgenError unless an object that could not be created exists, without another owner."""
    try:
        existing = _live(cluster, item)
    except ClusterError as error:
        if error.status != 403:
            raise
        return  # the session's pod will report what is missing
    if existing is None:
        raise SparkgenError(
            f"{refusal}; or ask someone with this permission to apply the document: sessions use its objects"
        ) from refusal
    _check_owner(existing, item)


def _check_owner(live: Object, item: Object) -> None:
    if owner_of(live) not in ("", owner_of(item)):
        raise SparkgenError(
            f"{item['kind']} {item['metadata']['name']} exists already and belongs to the {owner_of(live)}; "
            "choose another name or another namespace"
        )
