"""Applications and runs in a cluster, for programs: the same functions as the commands, values in and out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sparkgen.api.errors import NotApplied, PreflightFailed, finding_of
from sparkgen.cluster import ALL_NAMESPACES, Cluster, Place
from sparkgen.cluster import connect as connect_to
from sparkgen.document import Document
from sparkgen.errors import NotFound, Severity
from sparkgen.live.facts import Event, Shared, events_of
from sparkgen.live.find import choose, find, one
from sparkgen.live.following import lines
from sparkgen.live.reason import Reason
from sparkgen.live.rows import RunStatus, current, every, rows
from sparkgen.live.state import Life
from sparkgen.live.values import Application, Run
from sparkgen.objects import Object
from sparkgen.usecases import delete as deletion
from sparkgen.usecases import kill as killing
from sparkgen.usecases.apply import Applied, Way, apply_all, findings, look, wanted
from sparkgen.usecases.bring_runtime import bring_all
from sparkgen.usecases.collisions import claim, shared_objects
from sparkgen.usecases.logs import WantedLog, source_of
from sparkgen.usecases.requested_run import RequestedRun
from sparkgen.usecases.run import StartedRun, start
from sparkgen.usecases.validate import agree
from sparkgen.usecases.wait import Ended, Waiting, follow, why

Tell = Callable[[Run, Life], None]
"""Called with a run and its state."""


def tell_nobody(run: Run, life: Life) -> None:
    """Do nothing."""


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run has ended.

    `run`: its name; `exit_code`: that of the driver's program, 0 for a run that succeeded, 1 for a failure
    without one; `message`: the same in words; `reason`: the cause of a failure as in `status`, None if it is
    not known; `log`: the lines of the driver's log that explain a failure most.
    """

    run: str
    exit_code: int
    message: str
    reason: Reason | None = None
    log: tuple[str, ...] = ()

    @property
    def succeeded(self) -> bool:
        """Whether the program has ended with exit code 0."""
        return self.exit_code == 0


@dataclass(frozen=True, slots=True)
class Listing:
    """Runs, and a sentence for each thing that you may not see, or that could not be read."""

    runs: tuple[RunStatus, ...]
    unseen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Deleted:
    """The objects that were deleted. `unseen`: why others may be left, a sentence for each kind.

    `controllers`: those that will create the objects again, such as `Argo CD (analytics)`.
    """

    objects: tuple[Object, ...]
    unseen: tuple[str, ...] = ()
    controllers: tuple[str, ...] = ()


def connect(namespace: str = "", context: str = "", kubeconfig: str = "") -> Connection:
    """Returns a connection to a cluster, chosen as kubectl does; in a pod without a kubeconfig, to its own.

    "" leaves the choice to the kubeconfig. Nothing is sent before the first request. ClusterError if there is
    no such cluster, or the extra `sparkgen[cluster]` is not installed.
    """
    return Connection(connect_to(Place(kubeconfig, context, namespace)), namespace)


class Connection:
    """A connection to one namespace of a cluster; several threads may use it at the same time.

    Each method is one bounded piece of work, starts no thread that outlives it, and may be repeated.
    `application` may also be the name of a run; `run` chooses one, "" the latest.
    ClusterError if the cluster refuses a request, or does not answer; NotFound if there is no such thing.
    """

    def __init__(
        self, cluster: Cluster, named: str = "", clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._cluster, self._named, self._clock = cluster, named, clock

    @property
    def namespace(self) -> str:
        """The namespace of applications whose document names none."""
        return self._cluster.namespace

    def apply(
        self,
        documents: Sequence[Document],
        *,
        dry_run: bool = False,
        skip_preflight: bool = False,
        force_conflicts: bool = False,
        take_ownership: bool = False,
    ) -> tuple[Applied, ...]:
        """Apply valid documents, as `sparkgen apply` does; returns the objects as the server has them then.

        The ConfigMap with the runtime comes first, as it was sent: it has half a megabyte.
        Local files must have been pushed. PreflightFailed, before anything is changed, if something would go
        wrong; NotApplied if the cluster refuses an object.
        """
        agree(documents, self._named)
        all_wanted = [wanted(document, self.namespace) for document in documents]
        pairs = zip(documents, all_wanted, strict=True)
        if clashes := shared_objects(claim(document, one.objects) for document, one in pairs):
            raise PreflightFailed([*map(finding_of, clashes)])
        tasks = look(
            self._cluster, all_wanted, self._clock(), preflight=not skip_preflight, force=force_conflicts
        )
        found = [finding for task in tasks for finding in findings(task, take=take_ownership)[0]]
        if any(finding.severity is Severity.ERROR for finding in found):
            raise PreflightFailed(found)
        needed = [(one.namespace, one.runtime, one.pinned) for one in all_wanted]
        done = [Applied(item, result) for item, result in bring_all(self._cluster, needed, dry_run=dry_run)]
        outcomes = apply_all(self._cluster, tasks, Way(dry_run, force_conflicts), lambda _: None)
        done += [applied for outcome in outcomes for applied in outcome.done]
        errors = [outcome.error for outcome in outcomes if outcome.error is not None]
        if errors:
            raise NotApplied(errors, done)
        return tuple(done)

    def run(self, application: str, *, request_id: str, arguments: Sequence[str] | None = None) -> StartedRun:
        """Start a run; or return the one that the same `request_id` has started, and complete what it lacks.

        So a program that may have died in the middle calls it again with the same ID, and there is one run.
        `arguments`: of the program; None for those of the document. Conflict if the ID was used with other
        arguments. SparkgenError if the application has no runs, or its runs have expired.
        """
        given = None if arguments is None else tuple(arguments)
        return start(self._cluster, application, given, request_id, self._clock())

    def requested(self, application: str, request_id: str) -> RunStatus | None:
        """Returns the run that an ID has started; None if there is none in the cluster, or none any more."""
        name = RequestedRun(application, None, request_id).run
        try:
            found = find(self._cluster, [name])
        except NotFound:
            return None
        return next(iter(rows(self._cluster, found.applications, every, self._clock())), None)

    def wait(
        self,
        application: str,
        run: str = "",
        *,
        seconds: float | None = None,
        tell: Tell = tell_nobody,
    ) -> RunEnd:
        """Wait until a run has ended; returns how. TimeoutError after `seconds`; the run goes on then.

        `tell`: called with each state of the run. The wait outlives errors that pass by themselves.
        """
        chosen = self._chosen(application, run)
        return self.end_of(chosen, follow(self._cluster, chosen, seconds, tell, lambda _: None), seconds)

    def status(self, *applications: str, namespaces: Sequence[str] = (), everywhere: bool = False) -> Listing:
        """Returns the latest run of each application, and all runs that have not ended; none named: of all.

        `everywhere`: in all namespaces that you may see.
        """
        return self._listing(applications, [ALL_NAMESPACES] if everywhere else namespaces, current)

    def history(self, *applications: str) -> Listing:
        """Returns all runs of the applications that are still in the cluster, the latest first."""
        return self._listing(applications, (), every)

    def logs(
        self,
        application: str,
        run: str = "",
        *,
        executor: str = "",
        allocator: bool = False,
        tail: int | None = None,
        since: int | None = None,
        follow: bool = False,
    ) -> Iterator[str]:
        """Yields the lines of a log: the driver's, an executor's by its ID, or the allocator's.

        `tail`: only so many lines; `since`: only those of so many seconds; `follow`: until the log ends.
        NotFound if there is no log, or none yet; with `follow`, it waits for one.
        """
        chosen = self._chosen(application, run)
        source = source_of(self._cluster, chosen, WantedLog(executor, allocator), lambda _: None, wait=follow)
        return lines(
            self._cluster.follow(
                source.pod, source.container, chosen.namespace, tail=tail, since=since, follow=follow
            )
        )

    def events(self, application: str, run: str = "") -> tuple[Event, ...]:
        """Returns the Events about a run's Job and driver, the oldest first; none if they may not be read."""
        return events_of(self._chosen(application, run), Shared(self._cluster))

    def kill(self, application: str, run: str = "") -> str | None:
        """Stop a run, and keep its Job; returns the run's name, None if none is running.

        Conflict if several are running, and none is chosen.
        """
        chosen = killing.run_to_kill(one(self._cluster, application), run)
        if chosen is None:
            return None
        killing.kill(self._cluster, chosen, self._clock())
        return chosen.name

    def delete(self, application: str) -> Deleted:
        """Delete the objects of an application, with its runs."""
        to_delete = deletion.objects_of(self._cluster, application)
        gone: list[Object] = []
        deletion.delete(self._cluster, to_delete.objects, gone.extend)
        return Deleted(tuple(gone), to_delete.unseen, to_delete.controllers)

    def waiting(self, application: str, run: str, seconds: float | None, tell: Tell) -> Waiting:
        """Returns a wait that its caller makes look after look, as AsyncConnection does."""
        return Waiting(self._cluster, self._chosen(application, run), seconds, tell, lambda _: None)

    def end_of(self, run: Run, ended: Ended | None, seconds: float | None) -> RunEnd:
        """Returns how a wait has ended, with the cause; TimeoutError for None, after so many seconds."""
        if ended is None:
            raise TimeoutError(f"{run.name} has not ended after {seconds} seconds; it goes on")
        reason, log = why(self._cluster, ended, self._clock()) if ended.code else (None, [])
        return RunEnd(run.name, ended.code, ended.text, reason, tuple(log))

    def _chosen(self, application: str, run: str) -> Run:
        return choose(one(self._cluster, application), run)

    def _listing(
        self,
        applications: Sequence[str],
        namespaces: Sequence[str],
        chosen: Callable[[Application], list[Run]],
    ) -> Listing:
        found = find(self._cluster, applications, namespaces)
        unseen = list(found.unseen)
        shown = rows(self._cluster, found.applications, chosen, self._clock(), unseen.append)
        return Listing(tuple(shown), tuple(unseen))
