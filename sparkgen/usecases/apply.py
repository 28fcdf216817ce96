"""Applies documents: renders, reads the existing objects, finds what would go wrong, and applies.

The objects of an application are applied in their order, several applications at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, Future, wait
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sparkgen import model, resources, thread_map
from sparkgen.cluster import ClusterError
from sparkgen.cluster.annotations import apply_over, is_stale
from sparkgen.cluster.channel import CONNECTIONS
from sparkgen.errors import Severity
from sparkgen.killing import KILLED
from sparkgen.live.values import annotation_of
from sparkgen.objects import Object
from sparkgen.preflight import (
    ClusterFacts,
    Finding,
    Live,
    Unknown,
    Wanted,
    gather,
    judge,
    look_around,
    ownership,
    read_live,
)
from sparkgen.preflight.judge import in_order
from sparkgen.usecases.runtime import config_map_of, with_runtime

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster
    from sparkgen.document import Document


STALE_TRIES = 5
"""How often the apply of a Job is tried that changes meanwhile: its controller writes its status, too."""
GRACE = 2.0
"""Seconds for which Ctrl-C waits for the requests that are under way, so that their results are reported."""


@dataclass(frozen=True, slots=True)
class Applied:
    """An object as the server has it now, and the apply's result, such as created, configured, unchanged."""

    item: Object
    result: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one application. `error`: what ended it early; `begun`: False if it was not started."""

    done: tuple[Applied, ...] = ()
    error: ClusterError | None = None
    begun: bool = True


@dataclass(frozen=True, slots=True)
class Task:
    """An application to apply, its existing objects, and the preflight's facts; None without a preflight."""

    wanted: Wanted
    live: Live
    facts: ClusterFacts | None


@dataclass(frozen=True, slots=True)
class Way:
    """How objects are applied: see Cluster.apply."""

    dry_run: bool = False
    force: bool = False


def apply_all(
    cluster: Cluster, tasks: Sequence[Task], way: Way, tell: Callable[[Outcome], None]
) -> list[Outcome]:
    """Apply all applications; `tell` is called for each result, in their order, as soon as it is known.

    After a failure, no further application is started, and those under way are completed. After Ctrl-C, no
    further object is applied.
    """
    begin_none, leave = threading.Event(), threading.Event()
    done: list[list[Applied]] = [[] for _ in tasks]

    def one(number: int) -> Outcome:
        error = _apply(cluster, tasks[number], way, leave, done[number])
        if error is not None:
            begin_none.set()
        return Outcome(tuple(done[number]), error)

    futures = thread_map.start(one, range(len(tasks)), CONNECTIONS, begin_none)
    outcomes: list[Outcome] = []
    try:
        for future in futures:
            outcomes.append(_outcome(future))
            tell(outcomes[-1])
    except KeyboardInterrupt:
        begin_none.set()
        leave.set()
        wait(futures, GRACE)
        for some in done[len(outcomes) :]:
            tell(Outcome(tuple(some)))
        raise
    finally:
        begin_none.set()
    return outcomes


def _outcome(future: Future[Outcome]) -> Outcome:
    try:
        return future.result()
    except CancelledError:
        return Outcome(begun=False)


def _apply(
    cluster: Cluster, task: Task, way: Way, leave: threading.Event, done: list[Applied]
) -> ClusterError | None:
    """Apply the objects in their order: those that a driver needs come before it. Stops at a refusal.

    Each object is added to `done` at once: after Ctrl-C, the caller reads it without waiting for the rest.
    """
    for item in task.wanted.objects:
        if leave.is_set():
            break
        try:
            done.append(_apply_one(cluster, item, task.live, way))
        except ClusterError as error:
            return error
    return None


def _apply_one(cluster: Cluster, item: Any, before: Live, way: Way) -> Applied:
    for left in reversed(range(STALE_TRIES)):
        live = _live(cluster, item, before)
        if isinstance(live, Mapping) and annotation_of(live, KILLED):
            words = "unchanged (killed; to run it again, change spec.run.id or use sparkgen run)"
            return Applied(dict(live), words)
        try:
            return _apply_to(cluster, _held_to(live, item), live, way)
        except ClusterError as error:
            if not left or not is_stale(error):
                raise
    raise AssertionError  # the last try returns or raises


def _held_to(live: Mapping[str, Any] | Unknown | None, item: Any) -> Any:
    """Returns a Job with the `resourceVersion` that was read: it may be killed before the apply."""
    if item["kind"] != "Job" or not isinstance(live, Mapping):
        return item
    version = live["metadata"].get("resourceVersion", "")
    return {**item, "metadata": {**item["metadata"], "resourceVersion": version}}


def _apply_to(cluster: Cluster, item: Any, live: Mapping[str, Any] | Unknown | None, way: Way) -> Applied:
    laid = apply_over(cluster, item, dry_run=way.dry_run, force=way.force)
    if laid.created:
        return Applied(laid.item, "created")
    if isinstance(live, Unknown):
        return Applied(laid.item, "applied")
    return Applied(laid.item, "unchanged" if live is not None and _alike(live, laid.item) else "configured")


def _live(cluster: Cluster, item: Any, before: Live) -> Mapping[str, Any] | Unknown | None:
    """Returns the object as it was read before the apply. A Job is read again, as it may have been killed."""
    metadata = item["metadata"]
    known = before[item["kind"], metadata["name"]]
    if item["kind"] != "Job" or not isinstance(known, Mapping):
        return known
    try:
        return cluster.get(item["apiVersion"], item["kind"], metadata["name"], metadata.get("namespace", ""))
    except ClusterError as error:
        if error.status != 403:
            raise
        return Unknown(str(error))


def _alike(live: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """Whether two states of an object differ at most in the server's own metadata, such as managedFields."""
    version = live["metadata"].get("resourceVersion")
    if version and version == new["metadata"].get("resourceVersion"):
        return True
    return _content(live) == _content(new)


def _content(item: Mapping[str, Any]) -> Object:
    own = ("managedFields", "resourceVersion", "generation", "creationTimestamp", "uid")
    metadata = {key: value for key, value in item["metadata"].items() if key not in own}
    return {**{key: value for key, value in item.items() if key not in ("status",)}, "metadata": metadata}


def wanted(document: Document, namespace: str) -> Wanted:
    """Returns what a valid document describes; `namespace`: for a document that names none."""
    given, document = document, with_runtime(document)
    described = model.describe(document.value, namespace)
    objects = tuple(resources.render(described))
    runtime, pinned = config_map_of(described, named=document is given)
    return Wanted(described.name, described.namespace, objects, document.value, runtime, pinned)


def look(
    cluster: Cluster, all_wanted: Sequence[Wanted], now: datetime, *, preflight: bool, force: bool
) -> list[Task]:
    """Returns each application with facts from the cluster: without a preflight, its existing objects."""
    shared = look_around(cluster, all_wanted) if preflight else {}

    def one(wanted: Wanted) -> Task:
        if not preflight:
            return Task(wanted, read_live(cluster, wanted), None)
        facts = gather(cluster, wanted, shared[wanted.namespace], now, force=force)
        return Task(wanted, facts.live, facts)

    return thread_map.results(one, all_wanted, CONNECTIONS)


def findings(task: Task, *, take: bool) -> tuple[list[Finding], bool]:
    """Returns what would go wrong, the worst first, and whether an object has another owner.

    `take`: objects without an owner are taken over. Objects of other owners are not touched without a
    preflight, either; they are then the only findings.
    """
    owned = ownership(task.wanted, task.live, take=take)
    others = [finding for finding in owned if finding.severity is Severity.ERROR]
    if task.facts is None:
        return others, bool(others)
    return in_order([*owned, *judge(task.wanted, task.facts)]), bool(others)
