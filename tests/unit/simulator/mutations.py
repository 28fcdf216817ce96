"""Faults of the allocator's own, put into its production code on purpose: each has to break an invariant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from simulator import driver, process
from simulator.invariants.gangs import GangTogether
from simulator.invariants.invariant import Invariant
from simulator.schedule import FaultKind
from simulator.soak import Plan
from sparkgen.runtime.allocator import shutdown
from sparkgen.runtime.allocator.decide import (
    apply_outcomes,
    ceiling,
    creations,
    decide,
    executor_states,
    gangs,
    gates,
    locality,
    losses,
    memory_recovery,
    pools,
    prune_memory,
    removals,
)
from sparkgen.runtime.allocator.driver import client_session, mailbox, protocol
from sparkgen.runtime.allocator.driver import sessions as rules
from sparkgen.runtime.allocator.observe import causes, view
from sparkgen.runtime.allocator.pods import kubernetes_backend
from sparkgen.runtime.allocator.pods import template as pod_template
from sparkgen.runtime.allocator.values.actions import ActionOutcome, Create
from sparkgen.runtime.allocator.values.backend import PodList, WatchEnded, WatchEvent
from sparkgen.runtime.allocator.values.mappings import PersistentMap
from sparkgen.runtime.allocator.values.memory import AllocatorMemory, Backoff
from sparkgen.runtime.allocator.values.observed import Cause, ExecutorState, Snapshot
from sparkgen.runtime.allocator.values.target import DriverTarget
from sparkgen.runtime.kubernetes import answers
from sparkgen.runtime.kubernetes.answers import Answer, CallFailed, Reply

Patch = Callable[[pytest.MonkeyPatch], None]


@dataclass(frozen=True, slots=True)
class Mutation:
    """One fault. `invariants`: one of them is broken."""

    name: str
    invariants: frozenset[str]
    put: Patch
    focus: tuple[FaultKind, ...]
    plan: Plan = "plain"


FOUND: list[Mutation] = []


def breaks(
    *invariants: str, focus: tuple[FaultKind, ...] = (), plan: Plan = "plain"
) -> Callable[[Patch], Patch]:
    """Enter a mutation: its name is the function's, and its docstring says what is wrong then.

    `focus`: faults without which it does not show; the schedules have more of them. `plan`: what the
    schedules are about in which it shows.
    """

    def enter(put: Patch) -> Patch:
        FOUND.append(Mutation(put.__name__, frozenset(invariants), put, focus, plan))
        return put

    return enter


@breaks("never-above-reviewed")
def the_driver_says_how_many_there_may_be(patch: pytest.MonkeyPatch) -> None:
    """The reviewed maximum is not looked at."""
    patch.setattr(ceiling, "maximum", lambda _: 10**6)


@breaks(
    "no-id-twice",
    focus=(
        FaultKind.CRASH,
        FaultKind.TERM,
    ),
)
def ids_are_used_again_after_a_restart(patch: pytest.MonkeyPatch) -> None:
    """The high-water mark on the volume is not read."""
    patch.setattr(process, "remembered", lambda *_: AllocatorMemory())


@breaks(
    "no-id-twice",
    focus=(
        FaultKind.CRASH,
        FaultKind.TERM,
        FaultKind.CREATE_LOST,
    ),
)
def ids_are_noted_too_late(patch: pytest.MonkeyPatch) -> None:
    """The high-water mark is written one round behind what is created."""

    def note(self: process.SimulatedSession, next_id: int, session: str, first_id: int) -> None:
        last = self.process.last
        earlier = last.decision.memory.next_id if last is not None else 1
        real(self, earlier, session, first_id)

    real = process.SimulatedSession.note
    patch.setattr(process.SimulatedSession, "note", note)


@breaks("registered-stays")
def registered_executors_are_excess(patch: pytest.MonkeyPatch) -> None:
    """What is more than wanted is deleted, whether or not Spark counts on it."""

    def first_to_go(situation: Any) -> Iterator[int]:
        yield from reversed(situation.ids(ExecutorState.REGISTERED))

    patch.setattr(removals, "_first_to_go", first_to_go)


@breaks("registered-stays", focus=(FaultKind.CHANGE_OF_MIND,))
def the_refusal_is_not_waited_for(patch: pytest.MonkeyPatch) -> None:
    """An executor that may register is deleted before the driver has said that it refuses it."""

    def reason(seen: Any, draft: Any) -> str:
        return "more than Spark wants" if seen.id in draft.memory.refusing else str(real(seen, draft))

    real, leaving = removals._reason_to_remove, executor_states._leaving
    patch.setattr(removals, "_reason_to_remove", reason)
    patch.setattr(
        executor_states, "_leaving", lambda target, memory: leaving(target, memory) | memory.refusing
    )


@breaks("registered-stays", focus=(FaultKind.TERM, FaultKind.DRIVER_HANGS))
def a_driver_that_takes_no_connection_has_ended(patch: pytest.MonkeyPatch) -> None:
    """The pod's own status is not asked before the executors are swept (this was so)."""
    patch.setattr(shutdown, "driver_runs_on", lambda answers, _pod, _time: answers())


@breaks(
    "never-above",
    "nobody-alive-is-dead",
    focus=(
        FaultKind.CREATE_ERROR,
        FaultKind.WATCH_SLOW,
    ),
)
def a_creation_without_an_answer_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    """After a time-out or an error the executor is taken for one that was never asked for."""

    def created(
        memory: AllocatorMemory, action: Create, outcome: ActionOutcome, now: float, jitter: float
    ) -> AllocatorMemory:
        memory = real(memory, action, outcome, now, jitter)
        if outcome.answer not in (Answer.UNKNOWN, Answer.BUSY):
            return memory
        return replace(memory, requests={i: r for i, r in memory.requests.items() if i != action.id})

    real = apply_outcomes._created
    patch.setattr(apply_outcomes, "_created", created)


@breaks("bounded-unschedulable", focus=(FaultKind.FULL,))
def a_full_cluster_gets_the_whole_target(patch: pytest.MonkeyPatch) -> None:
    """Nothing bounds pods without a node (this was so where nobody set maxPendingPods)."""
    patch.setattr(gates, "_nodes", lambda _, missing: missing)


@breaks("bounded-unschedulable", focus=(FaultKind.FULL,))
def pods_that_nobody_has_judged_do_not_count(patch: pytest.MonkeyPatch) -> None:
    """Only those count that the scheduler has called unschedulable already."""

    def without_node(situation: executor_states.Situation) -> Counter[int]:
        pending = situation.observed(ExecutorState.PENDING)
        return Counter(seen.profile for seen in pending if seen.waiting and not seen.node)

    patch.setattr(gates, "without_node", without_node)


@breaks("bounded-unschedulable", focus=(FaultKind.FULL, FaultKind.LIES))
def the_driver_says_which_pods_wait(patch: pytest.MonkeyPatch) -> None:
    """A pod that the driver calls registered, or leaving, does not count (this was so)."""

    def without_node(situation: executor_states.Situation) -> Counter[int]:
        pending = situation.observed(ExecutorState.PENDING)
        return situation.counts[ExecutorState.REQUESTED] + Counter(
            one.profile for one in pending if not one.node
        )

    patch.setattr(gates, "without_node", without_node)


QUEUES = (FaultKind.QUEUE, FaultKind.QUEUE_HOLDS)


@breaks("bounded-unschedulable", focus=QUEUES)
def who_waits_in_a_queue_does_not_count(patch: pytest.MonkeyPatch) -> None:
    """A queue gets the whole target (this was so)."""

    def without_node(situation: Any) -> Counter[int]:
        queued = [seen for seen in situation.snapshot.executors.values() if seen.queued and not seen.deleting]
        return real(situation) - Counter(seen.profile for seen in queued)

    real = gates.without_node
    patch.setattr(gates, "without_node", without_node)


@breaks("keeps-its-place", focus=(FaultKind.QUEUE, FaultKind.REGISTER_SLOW, FaultKind.CHANGE_OF_MIND))
def who_was_let_go_is_the_first_to_go(patch: pytest.MonkeyPatch) -> None:
    """What is too many is the newest, whether or not its queue has let it go (this was so)."""

    def first_to_go(situation: Any) -> Iterator[int]:
        for state in (ExecutorState.REQUESTED, ExecutorState.PENDING, ExecutorState.RUNNING):
            yield from reversed(situation.ids(state))

    patch.setattr(removals, "_first_to_go", first_to_go)


@breaks("keeps-its-place", focus=QUEUES)
def who_waits_in_a_queue_is_given_up(patch: pytest.MonkeyPatch) -> None:
    """What waits in a queue for long counts as pending for too long (this was so, with a pendingTimeout)."""

    def reason(seen: Any, draft: Any) -> str:
        late = seen.queued and draft.situation.now > seen.since + 5.0
        return "pending for too long" if late else str(real(seen, draft))

    real = removals._reason_to_remove
    patch.setattr(removals, "_reason_to_remove", reason)


def _alone(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(gangs, "waits", lambda _: False)
    patch.setattr(gangs, "stranded", lambda _: frozenset())


@breaks("gang-together", plan="gangs")
def nobody_is_a_member(patch: pytest.MonkeyPatch) -> None:
    """Executors of a gang get their nodes one by one."""
    _alone(patch)


@breaks("no-deadlock", plan="gangs")
def two_gangs_take_what_they_get(patch: pytest.MonkeyPatch) -> None:
    """The same, and two applications that have nodes for one of them each hold a part."""
    _alone(patch)
    for hook in ("placed", "after_round"):
        patch.setattr(GangTogether, hook, getattr(Invariant, hook))


@breaks("gang-together", focus=(FaultKind.DRIVER_RESTART,), plan="gangs")
def an_earlier_drivers_executors_are_of_the_gang(patch: pytest.MonkeyPatch) -> None:
    """As long as one of them has a node, those of the next driver come one by one (this was so)."""
    patch.setattr(gangs, "_own", lambda situation: situation.snapshot.executors.values())


@breaks("target-reached", "no-deadlock", focus=(FaultKind.NODE_DEAD, FaultKind.EVICTED), plan="gangs")
def members_wait_for_nobody(patch: pytest.MonkeyPatch) -> None:
    """Members stay that wait for others that nobody wants any more (this was so)."""
    patch.setattr(gangs, "stranded", lambda _: frozenset())


@breaks("target-reached", "no-deadlock", focus=(FaultKind.DELETED_BY_FORCE,), plan="gangs")
def gates_hold_a_part_of_a_gang_back(patch: pytest.MonkeyPatch) -> None:
    """The next batch waits for members that wait for it; so do profiles for their parts (this was so)."""
    patch.setattr(gates, "_of_gang", lambda _: Counter())


@breaks("target-reached", "no-deadlock", plan="gangs")
def the_group_is_never_made(patch: pytest.MonkeyPatch) -> None:
    """Members name a PodGroup that is not there."""
    made = process.gang_of
    patch.setattr(process, "gang_of", lambda pod: 0 * made(pod))


@breaks("begins-with-its-minimum", plan="gangs")
def one_is_enough_for_a_gang(patch: pytest.MonkeyPatch) -> None:
    """Spark is told to begin with whoever registers first."""
    patch.setattr(driver.batch, "gang_ratio", lambda _gang, _initial: "0.000001")


@breaks("begins-with-its-minimum", plan="gangs")
def a_gang_is_not_enough(patch: pytest.MonkeyPatch) -> None:
    """The ratio is rounded up: Spark waits for one more, which it may never want."""
    patch.setattr(driver.batch, "gang_ratio", lambda gang, initial: f"{gang / initial + 1e-6:.6f}")


@breaks("waits-for-registration", focus=(FaultKind.REGISTER_SLOW,))
def the_next_batch_does_not_wait(patch: pytest.MonkeyPatch) -> None:
    """With Spark's classic rule, executors that are on their way are not waited for."""
    patch.setattr(gates, "unregistered", lambda _: Counter())


@breaks("waits-for-registration", focus=(FaultKind.CRASH,))
def a_batch_begins_before_the_first_list(patch: pytest.MonkeyPatch) -> None:
    """A new process begins a batch while it has not seen yet who has to be waited for (this was so)."""

    def remaining(_: Any, before: Mapping[int, int], created: Counter[int]) -> Mapping[int, int]:
        return {profile: count - created[profile] for profile, count in before.items()}

    patch.setattr(gates, "remaining", remaining)


@breaks(
    "never-above",
    "nobody-alive-is-dead",
    "target-reached",
    focus=(
        FaultKind.WATCH_GONE,
        FaultKind.WATCH_ERROR,
        FaultKind.CRASH,
    ),
)
def a_stale_list_is_taken_for_the_whole(patch: pytest.MonkeyPatch) -> None:
    """Lists are read from the server's cache (resourceVersion=0), as informers do it."""

    class FromCache:
        """A transport that asks for any version."""

        def __init__(self, calls: Any) -> None:
            self._calls = calls

        def call(
            self, method: str, path: str, query: Mapping[str, str] | None = None, body: Any = None
        ) -> Reply:
            reply: Reply = self._calls.call(method, path, {**(query or {}), "resourceVersion": "0"}, body)
            return reply

    def list_(self: kubernetes_backend.KubernetesBackend) -> PodList:
        calls = self._transport
        self._transport = FromCache(calls)  # type: ignore[assignment]
        try:
            return real(self)
        finally:
            self._transport = calls

    real = kubernetes_backend.KubernetesBackend.list
    patch.setattr(kubernetes_backend.KubernetesBackend, "list", list_)


@breaks(
    "never-above",
    "no-partial-view",
    focus=(
        FaultKind.CRASH,
        FaultKind.TERM,
    ),
)
def executors_are_created_before_the_first_list(patch: pytest.MonkeyPatch) -> None:
    """A new process takes what it has not seen for what is not there."""

    def snapshot(self: view.PodView, started: frozenset[int] = frozenset()) -> Snapshot:
        found = real(self, started)
        return found if found.listed_at is not None else replace(found, listed_at=0.0)

    real = view.PodView.snapshot
    patch.setattr(view.PodView, "snapshot", snapshot)


@breaks("no-partial-view", "nobody-alive-is-dead", focus=(FaultKind.CRASH, FaultKind.LIST_SLOW))
def a_gap_is_overlooked(patch: pytest.MonkeyPatch) -> None:
    """A view with a gap, or none at all, counts as complete."""

    def snapshot(self: view.PodView, started: frozenset[int] = frozenset()) -> Snapshot:
        return replace(real(self, started), complete=True)

    real = view.PodView.snapshot
    patch.setattr(view.PodView, "snapshot", snapshot)


@breaks(
    "target-reached",
    focus=(
        FaultKind.WATCH_GONE,
        FaultKind.WATCH_CUT,
    ),
)
def the_answer_410_is_ignored(patch: pytest.MonkeyPatch) -> None:
    """A version that is forgotten is asked for again and again, and nothing is listed."""

    def refused(self: kubernetes_backend.KubernetesBackend, reply: Reply) -> CallFailed | WatchEnded:
        return CallFailed("gone", sent=False, retry_after=20.0) if reply.status == 410 else real(self, reply)

    real = kubernetes_backend.KubernetesBackend.refused_watch
    patch.setattr(kubernetes_backend.KubernetesBackend, "refused_watch", refused)
    patch.setattr("sparkgen.runtime.allocator.observe.watch_retry.PATIENCE", 1e9)


@breaks(
    "target-reached",
    "bounded-memory",
    focus=(
        FaultKind.WATCH_ERROR,
        FaultKind.DELETED_BY_FORCE,
        FaultKind.WATCH_SILENT,
    ),
)
def what_a_list_does_not_show_stays(patch: pytest.MonkeyPatch) -> None:
    """A list adds to what is known, and takes nothing away."""

    def listed(self: view.PodView, listing: PodList, asked_at: float, now: float) -> view.PodView:
        view = real(self, listing, asked_at, now)
        return replace(view, pods=PersistentMap({**self.pods, **view.pods}))

    real = view.PodView.with_list
    patch.setattr(view.PodView, "with_list", listed)


@breaks("target-reached")
def deletions_are_overlooked(patch: pytest.MonkeyPatch) -> None:
    """DELETED events change nothing."""

    def happened(self: view.PodView, event: WatchEvent, now: float) -> view.PodView:
        return replace(self, version=event.version) if event.kind == "DELETED" else real(self, event, now)

    real = view.PodView.with_event
    patch.setattr(view.PodView, "with_event", happened)


@breaks(
    "target-reached",
    "bounded-memory",
    focus=(
        FaultKind.WATCH_REPEATS,
        FaultKind.WATCH_SWAPS,
        FaultKind.DELETED,
    ),
)
def late_events_bring_back_the_dead(patch: pytest.MonkeyPatch) -> None:
    """The UIDs of pods that were deleted are not known again."""
    patch.setattr(view.PodView, "_is_gone", lambda *_: False)


@breaks("every-loss-once")
def losses_are_forgotten_at_once(patch: pytest.MonkeyPatch) -> None:
    """Each loss is counted, and told to people, round after round."""

    def forgetful(*args: Any) -> AllocatorMemory:
        return replace(real(*args), losses={})

    real = prune_memory.prune_memory
    patch.setattr(decide, "prune_memory", forgetful)


@breaks("every-loss-once")
def losses_are_forgotten_with_the_pod(patch: pytest.MonkeyPatch) -> None:
    """A loss is counted again when the driver names the executor later (this was so)."""

    def forgetful(snapshot: Snapshot, *args: Any) -> AllocatorMemory:
        memory: AllocatorMemory = real(snapshot, *args)
        gone = snapshot.vanished.keys() - snapshot.executors.keys()
        return replace(memory, losses={i: loss for i, loss in memory.losses.items() if i not in gone})

    real = prune_memory.prune_memory
    patch.setattr(decide, "prune_memory", forgetful)


@breaks("every-loss-once", "no-blame", focus=(FaultKind.NODE_DEAD,))
def the_application_is_blamed_for_its_node(patch: pytest.MonkeyPatch) -> None:
    """A machine that was started again counts as the executor's own exit (this was so)."""
    patch.setattr(causes, "NOBODY_SAW", frozenset({"ContainerStatusUnknown"}))


@breaks(
    "every-loss-once",
    focus=(
        FaultKind.EVICTED,
        FaultKind.PREEMPTED,
        FaultKind.DRAINED,
    ),
)
def evictions_count_as_exits(patch: pytest.MonkeyPatch) -> None:
    """The pod's own reason and conditions are not read."""
    patch.setattr(causes, "_disruption", lambda _: None)
    patch.setattr(causes, "POD_REASONS", {})


@breaks(
    "no-blame",
    focus=(
        FaultKind.DRIVER_RESTART,
        FaultKind.OOM,
        FaultKind.EXITED,
    ),
)
def a_dead_driver_ends_the_application(patch: pytest.MonkeyPatch) -> None:
    """Executors that fail as their driver is gone count against the application (this was so)."""

    def target(self: mailbox.DriverMailbox) -> DriverTarget:
        return replace(real(self), heard_at=float("inf"))

    real = mailbox.DriverMailbox.target
    patch.setattr(mailbox.DriverMailbox, "target", target)


@breaks("patience", focus=(FaultKind.BUSY,))
def the_time_that_the_server_names_is_ignored(patch: pytest.MonkeyPatch) -> None:
    """Retry-After of a 429 is not kept."""
    patch.setattr(answers, "retry_after", lambda _: None)


@breaks(
    "patience",
    focus=(
        FaultKind.WEBHOOK,
        FaultKind.QUOTA,
        FaultKind.NO_RIGHT,
    ),
)
def refusals_are_tried_again_at_once(patch: pytest.MonkeyPatch) -> None:
    """There is no pause after a quota or a webhook."""

    def worse(
        backoff: Backoff, reason: str, now: float, jitter: float, *, permanent: bool = False
    ) -> Backoff:
        return Backoff(backoff.level + 1, now, reason)

    patch.setattr(apply_outcomes, "next_backoff", worse)


@breaks(
    "patience",
    focus=(
        FaultKind.WEBHOOK,
        FaultKind.QUOTA,
        FaultKind.NO_RIGHT,
    ),
)
def pauses_do_not_grow(patch: pytest.MonkeyPatch) -> None:
    """Every pause after a refusal is the first one."""
    patch.setattr(apply_outcomes, "next_pause", lambda level, jitter: 0.5 + jitter / 2)


@breaks("bounded-calls")
def deletions_are_sent_in_every_round(patch: pytest.MonkeyPatch) -> None:
    """A deletion that was sent is not remembered."""
    patch.setattr(removals, "_with_removal", lambda memory, *_: memory)


@breaks("bounded-calls", focus=(FaultKind.DELETE_LOST,))
def a_deletion_is_forced_as_soon_as_it_is_sent_again(patch: pytest.MonkeyPatch) -> None:
    """Its grace is counted from the first try, which was lost (this was so)."""
    patch.setattr(removals, "FORCE_MARGIN", -100.0)


@breaks("bounded-calls")
def there_is_a_list_every_thirty_seconds(patch: pytest.MonkeyPatch) -> None:
    """As Spark's own backend does it; here by a watch that its client ends."""
    patch.setattr(kubernetes_backend, "WATCH_SECONDS", (20, 30))
    patch.setattr(
        "simulator.watch_client.WatchClient.closed",
        lambda self: self._process.now(lambda: self._ended(WatchEnded("time for a list"))),
    )


@breaks("bounded-memory")
def losses_are_never_forgotten(patch: pytest.MonkeyPatch) -> None:
    """Memory grows with every executor that ended."""

    def hoarding(
        snapshot: Snapshot, target: DriverTarget, memory: AllocatorMemory, *args: Any
    ) -> AllocatorMemory:
        after: AllocatorMemory = real(snapshot, target, memory, *args)
        return replace(after, losses={**memory.losses, **after.losses})

    real = prune_memory.prune_memory
    patch.setattr(decide, "prune_memory", hoarding)
    patch.setattr(view, "MAX_VANISHED", 0)


@breaks("no-spin")
def the_loop_never_rests(patch: pytest.MonkeyPatch) -> None:
    """Every round asks for the next one at once."""
    patch.setattr(process, "due", lambda made: made.now)


@breaks("no-spin", focus=(FaultKind.WATCH_SILENT, FaultKind.CHANGE_OF_MIND))
def a_refusal_is_taken_back_when_it_is_confirmed(patch: pytest.MonkeyPatch) -> None:
    """Driver and allocator refuse and admit it in turns, as long as no view shows it (this was so)."""

    def forgetful(*args: Any) -> AllocatorMemory:
        return replace(real(*args), refusing=frozenset())

    real = prune_memory.prune_memory
    patch.setattr(decide, "prune_memory", forgetful)
    patch.setattr(removals, "_reason_to_give_up", lambda *_: "")


@breaks("no-leak")
def the_secret_has_no_owner(patch: pytest.MonkeyPatch) -> None:
    """The owner reference is missing where the Secret is made."""

    def create_secret(self: kubernetes_backend.KubernetesBackend, secret: str) -> Any:
        calls = self._transport
        self._transport = Disowning(calls)  # type: ignore[assignment]
        try:
            return real(self, secret)
        finally:
            self._transport = calls

    class Disowning:
        """A transport that drops owner references."""

        def __init__(self, calls: Any) -> None:
            self._calls = calls

        def call(self, method: str, path: str, query: Any = None, body: Any = None) -> Reply:
            metadata = {name: value for name, value in body["metadata"].items() if name != "ownerReferences"}
            reply: Reply = self._calls.call(method, path, query, {**body, "metadata": metadata})
            return reply

    real = kubernetes_backend.KubernetesBackend.create_secret
    patch.setattr(kubernetes_backend.KubernetesBackend, "create_secret", create_secret)


@breaks("no-leak", "target-reached", "never-above")
def executors_have_no_owner(patch: pytest.MonkeyPatch) -> None:
    """The owner reference is missing in the pods; nobody asks for it either."""

    def disowned(*args: Any) -> dict[str, Any]:
        pod: dict[str, Any] = real(*args)
        metadata = {name: value for name, value in pod["metadata"].items() if name != "ownerReferences"}
        return {**pod, "metadata": metadata}

    def id_of(self: view.PodView, pod: Any) -> int | None:
        return self.attempt.executor_id(pod["metadata"]["name"])

    real = kubernetes_backend.executor_pod
    patch.setattr(kubernetes_backend, "executor_pod", disowned)
    patch.setattr(kubernetes_backend.KubernetesBackend, "_is_ours", lambda *_: True)
    patch.setattr(view.PodView, "_id_of", id_of)


@breaks("no-leak")
def the_end_deletes_nothing(patch: pytest.MonkeyPatch) -> None:
    """The allocator leaves as soon as it is told to, and says that nothing is left."""
    patch.setattr(shutdown, "sweep", lambda *_: shutdown.SweepResult(frozenset(), frozenset()))


@breaks("target-reached", focus=(FaultKind.CREATE_LOST,))
def a_lost_creation_is_never_sent_again(patch: pytest.MonkeyPatch) -> None:
    """What was not answered counts as requested forever."""
    patch.setattr(creations, "_again", lambda draft, **_: draft)


@breaks("no-takeover", focus=(FaultKind.SECOND_DRIVER,), plan="sessions")
def the_next_driver_takes_over(patch: pytest.MonkeyPatch) -> None:
    """Whoever comes last has the place, as where the driver is the only one of its pod."""
    patch.setattr(rules, "has_place", lambda *_: False)


@breaks("no-takeover", focus=(FaultKind.CRASH, FaultKind.SECOND_DRIVER), plan="sessions")
def a_restart_forgets_who_has_the_place(patch: pytest.MonkeyPatch) -> None:
    """After a restart the first one that speaks has it, though the one from before lives."""
    real = mailbox.DriverMailbox._may_speak
    patch.setattr(
        mailbox.DriverMailbox,
        "_may_speak",
        lambda self, target, given: real(self, target, replace(given, resumed="")),
    )


@breaks("nobody-holds-nothing", focus=(FaultKind.DRIVER_STILL,), plan="sessions")
def a_silent_driver_keeps_its_executors(patch: pytest.MonkeyPatch) -> None:
    """A driver that says nothing for a minute is waited for, forever."""
    real = rules.as_seen
    patch.setattr(
        rules, "as_seen", lambda target, _, now, *, resumed: real(target, now, now, resumed=resumed)
    )


@breaks("nobody-holds-nothing", plan="sessions")
def executors_come_before_a_driver(patch: pytest.MonkeyPatch) -> None:
    """As where a driver's JVM starts beside the allocator."""
    real = rules.as_seen
    patch.setattr(rules, "as_seen", lambda target, at, now, *, resumed: real(target, at, now, resumed=True))


@breaks("one-session", focus=(FaultKind.DRIVER_KILLED, FaultKind.DRIVER_STILL), plan="sessions")
def executors_go_on_with_the_next_driver(patch: pytest.MonkeyPatch) -> None:
    """Those of the one before are taken for its own."""
    patch.setattr(
        prune_memory,
        "_new_session",
        lambda target, memory: replace(memory, session=target.session or memory.session),
    )


@breaks("one-session", focus=(FaultKind.DRIVER_KILLED,), plan="sessions")
def what_was_asked_for_before_may_start(patch: pytest.MonkeyPatch) -> None:
    """An executor that the driver before has asked for comes late, and is let in (this was so)."""

    def may_start(situation: Any, memory: AllocatorMemory) -> frozenset[int]:
        found: frozenset[int] = real(situation, replace(memory, first_id=1))
        return found

    real = decide._may_start
    patch.setattr(decide, "_may_start", may_start)


@breaks("session-ends", "registered-stays", focus=(FaultKind.COMMAND_GONE,), plan="sessions")
def only_the_command_counts(patch: pytest.MonkeyPatch) -> None:
    """The session ends without its command, whatever its driver says."""

    def why_over(began: float, heard: Any, now: float, *, resumed: bool) -> str:
        return real(began, heard[:1], now, resumed=resumed)

    real = rules.why_over
    patch.setattr(rules, "why_over", why_over)


@breaks("session-ends", focus=(FaultKind.CRASH,), plan="sessions")
def a_restart_counts_as_silence(patch: pytest.MonkeyPatch) -> None:
    """Who was not heard yet by a new process was never heard."""

    def why_over(began: float, heard: Any, now: float, *, resumed: bool) -> str:
        return real(began - 60.0 if resumed else began, heard, now, resumed=resumed)

    real = rules.why_over
    patch.setattr(rules, "why_over", why_over)


@breaks("session-ends", plan="sessions")
def a_session_never_ends(patch: pytest.MonkeyPatch) -> None:
    """Nobody looks whether anybody is there."""
    patch.setattr(client_session.ClientSession, "why_over", lambda *_: "")


@breaks("session-ends", plan="sessions")
def the_driver_is_not_told_of_the_end(patch: pytest.MonkeyPatch) -> None:
    """Its executors go, and it waits for others."""
    patch.setattr(mailbox.DriverMailbox, "fail", lambda *_: None)


@breaks("target-reached", focus=(FaultKind.HINTS,))
def a_wish_is_a_demand(patch: pytest.MonkeyPatch) -> None:
    """The node that an executor had best be on is the only one that it may be on."""

    def demanding(spec: Mapping[str, Any], order: Create) -> dict[str, Any]:
        made = real(spec, order)
        if order.wishes:
            of_node = made["affinity"]["nodeAffinity"]
            best = of_node.pop("preferredDuringSchedulingIgnoredDuringExecution")[0]["preference"]
            of_node["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [best]}
        return made

    real = pod_template._with_wishes
    patch.setattr(pod_template, "_with_wishes", demanding)


@breaks("wishes-follow-hints", focus=(FaultKind.HINTS,))
def hints_that_vanished_are_followed(patch: pytest.MonkeyPatch) -> None:
    """What the driver has said once holds until it says something else."""

    def wishes(situation: Any, profile: int, count: int) -> Any:
        said = situation.target.host_tasks.get(profile) or last.get(profile, {})
        last[profile] = said
        return real(
            replace(situation, target=replace(situation.target, host_tasks={profile: said})), profile, count
        )

    last: dict[int, Mapping[str, int]] = {}
    real = locality.wishes
    patch.setattr(locality, "wishes", wishes)


@breaks("ends-without-files", plan="files", focus=(FaultKind.NO_FILES,))
def missing_files_are_nobodys_fault(patch: pytest.MonkeyPatch) -> None:
    """Executors that could not have their files count for nothing: more of them are made, for ever."""
    real = losses._is_failure
    patch.setattr(
        losses,
        "_is_failure",
        lambda id_, loss, situation: not loss.without_artifact and real(id_, loss, situation),
    )


@breaks("no-blame", plan="files", focus=(FaultKind.NO_FILES,))
def one_try_for_files_is_enough(patch: pytest.MonkeyPatch) -> None:
    """The first executor that could not have its files ends the application."""
    patch.setattr(losses, "PERMANENT_ROUNDS", 1)


@breaks("memory-grows", "target-reached", plan="memory")
def the_next_ones_are_as_small(patch: pytest.MonkeyPatch) -> None:
    """Whoever follows one that was killed has what that one had."""
    patch.setattr(memory_recovery, "_needed", lambda seen, _: seen.added_memory)


@breaks("memory-only-after-kills", plan="memory")
def each_look_at_a_kill_is_a_step(patch: pytest.MonkeyPatch) -> None:
    """A step more than what the next ones get already, and not than the killed one had."""

    def added(situation: Any) -> dict[int, int]:
        found = dict(real(situation))
        killed = [
            one for one in situation.snapshot.executors.values() if one.loss and one.loss.cause is Cause.OOM
        ]
        for one in killed:
            step = situation.settings.memory_recovery.step
            before = situation.memory.added_memory.get(one.profile, 0)
            found[one.profile] = min(before + step, situation.settings.memory_recovery.maximum)
        return found

    real = memory_recovery._added
    patch.setattr(memory_recovery, "_added", added)


@breaks("memory-only-after-kills", plan="memory", focus=(FaultKind.OOM,))
def no_maximum_of_memory(patch: pytest.MonkeyPatch) -> None:
    """The maximum of the document is not looked at."""
    real = memory_recovery._added

    def added(situation: Any) -> dict[int, int]:
        recovery = replace(situation.settings.memory_recovery, maximum=10**6)
        return real(replace(situation, settings=replace(situation.settings, memory_recovery=recovery)))

    patch.setattr(memory_recovery, "_added", added)


@breaks("memory-grows", plan="memory", focus=(FaultKind.CRASH,))
def a_restart_forgets_what_executors_have(patch: pytest.MonkeyPatch) -> None:
    """What a pod got in addition is not read from it."""
    patch.setattr(view, "_added_memory", lambda _: 0)


@breaks("no-blame", plan="memory")
def a_kill_before_the_maximum_is_a_failure(patch: pytest.MonkeyPatch) -> None:
    """The application is stopped before its executors have enough memory."""
    patch.setattr(memory_recovery, "judged", lambda loss, *_: loss)


@breaks("no-blame", "target-reached", plan="memory")
def the_limit_stays(patch: pytest.MonkeyPatch) -> None:
    """The pod says that it has more memory, and its limit is that of its profile."""
    patch.setattr(pod_template, "_with_memory", lambda container, _: container)


@breaks("none-while-held")
def a_hold_is_only_for_the_driver(patch: pytest.MonkeyPatch) -> None:
    """Executors leave, and others are created in their place."""
    real = executor_states.wanted

    def wanted(target: DriverTarget, settings: Any) -> dict[int, int]:
        return real(target, replace(settings, hold=False))

    patch.setattr(executor_states, "wanted", wanted)


@breaks("target-reached")
def the_driver_hears_of_no_hold(patch: pytest.MonkeyPatch) -> None:
    """No more executors are created, and those that have registered stay."""
    real = protocol.report_body
    patch.setattr(protocol, "report_body", lambda report, tag: real(replace(report, hold=False), tag))


@breaks("target-reached", plan="pools")
def a_pool_is_never_avoided(patch: pytest.MonkeyPatch) -> None:
    """Executors wait forever for a pool that has no room, beside one that has."""
    patch.setattr(pools, "_why_pause", lambda *_: None)


@breaks("target-reached", plan="pools")
def executors_stay_in_a_pool_without_nodes(patch: pytest.MonkeyPatch) -> None:
    """Only new ones avoid it."""
    patch.setattr(pools, "without_node", lambda _: frozenset())


@breaks("only-without-node", plan="pools")
def executors_with_a_node_leave_their_pool(patch: pytest.MonkeyPatch) -> None:
    """Whoever is pending counts as one who waits for a node."""

    def waiting(situation: Any) -> Iterator[Any]:
        return (seen for seen in situation.observed(ExecutorState.PENDING) if seen.pool)

    patch.setattr(pools, "_waiting", waiting)


@breaks("pool-in-turn", plan="pools")
def a_pause_of_a_pool_is_over_at_once(patch: pytest.MonkeyPatch) -> None:
    """The next executor tries it again."""
    real = pools._paused

    def paused(situation: Any, *rest: Any) -> Any:
        return replace(real(situation, *rest), until=situation.now)

    patch.setattr(pools, "_paused", paused)


@breaks("pool-in-turn", plan="pools")
def all_executors_try_a_pool_at_once(patch: pytest.MonkeyPatch) -> None:
    """As soon as its pause is over."""
    patch.setattr(pools.Places, "next", _next_that_tries_on)


def _next_that_tries_on(places: Any) -> str:
    situation = places.situation
    now, pauses = situation.now, situation.memory.pools
    for pool in situation.settings.pools:
        if pool.name not in pauses or pauses[pool.name].until <= now:
            return str(pool.name)
    return str(situation.settings.pools[0].name)


@breaks("pool-share", plan="pools")
def shares_are_forgotten(patch: pytest.MonkeyPatch) -> None:
    """All executors go to the first pool."""
    patch.setattr(pools, "_least", lambda *_: 0)
