"""Decisions, one situation each: what is done, what is not, and the reason that is given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from sparkgen.codes import Code, Hindrance
from sparkgen.contract import BAD_ARTIFACT
from sparkgen.runtime.allocator.decide.apply_outcomes import apply_outcomes
from sparkgen.runtime.allocator.decide.decide import decide
from sparkgen.runtime.allocator.decide.executor_states import without_former_pods
from sparkgen.runtime.allocator.values.actions import Action, ActionOutcome, Create, Delete
from sparkgen.runtime.allocator.values.decision import AllocationDecision
from sparkgen.runtime.allocator.values.memory import (
    AllocatorMemory,
    Backoff,
    CreateRequest,
    DeleteRequest,
    Rate,
)
from sparkgen.runtime.allocator.values.observed import (
    Cause,
    ListFailure,
    Loss,
    ObservedExecutor,
    PodPhase,
    Snapshot,
    Waiting,
)
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import LONGEST_DELIVERY, DriverPhase, DriverTarget, Profile
from sparkgen.runtime.kubernetes.answers import Answer

QUOTA = Hindrance(Code.QUOTA_EXCEEDED, "exceeded quota", "pods=1")
NOW = 10_000.0
DYNAMIC = AllocationSettings(dynamic=True)
OOM = Loss(Cause.OOM, "executor 1 was killed: out of memory", by_application=True, exit_code=137)


def pod(
    id_: int, phase: PodPhase = PodPhase.RUNNING, since: float = NOW - 30, **rest: Any
) -> ObservedExecutor:
    """An executor's pod; `rest` is more of it."""
    values = {"profile": 0, "name": f"run-exec-{id_}", "uid": f"uid-{id_}", **rest}
    return ObservedExecutor(id=id_, phase=phase, since=since, **values)


def seen(pods: Iterable[ObservedExecutor] = (), **rest: Any) -> Snapshot:
    """A complete snapshot of these pods."""
    values = {"complete": True, "listed_at": NOW - 60, **rest}
    return Snapshot(executors={executor.id: executor for executor in pods}, **values)


def wants(count: int, **rest: Any) -> DriverTarget:
    """A driver that runs and wants so many executors."""
    values = {"executors": {0: count}, "profiles": {0: Profile()}, "dynamic": True, "session": "s", **rest}
    sets = {name: frozenset(value) if isinstance(value, set) else value for name, value in values.items()}
    return DriverTarget(DriverPhase.RUNNING, **sets)


def remembers(**values: Any) -> AllocatorMemory:
    """A memory of this session."""
    return AllocatorMemory(**{"session": "s", "next_id": 10, **values})


def decided(
    snapshot: Snapshot,
    target: DriverTarget,
    memory: AllocatorMemory | None = None,
    settings: AllocationSettings = DYNAMIC,
) -> AllocationDecision:
    """The decision now."""
    return decide(snapshot, target, memory or remembers(), settings, NOW)


def ids(actions: Iterable[Action], kind: type[Action]) -> list[int]:
    """The executors that actions of a kind are about."""
    return [action.id for action in actions if isinstance(action, kind)]


def test_missing_executors_are_created_with_new_ids() -> None:
    """As many as the rate allows, and the reason says what is there and what is done."""
    decision = decided(seen([pod(1)]), wants(3, registered={1}))
    assert ids(decision.actions, Create) == [10, 11]
    assert decision.reason == "1 of 3 executors (1 registered); creating 10-11"


def test_a_pod_with_the_highest_number_uses_up_no_ids() -> None:
    """Whoever may create pods can name one like an executor: new ids follow the old ones."""
    forged = pod(2**31 - 1)
    made = decided(seen([forged]), wants(2, registered=set()), remembers(next_id=3))
    assert ids(made.actions, Create) == [3]  # the pod counts until it is deleted
    highest = decided(seen([pod(10**9)]), wants(2), remembers(next_id=3)).memory.next_id
    assert 10**9 < highest <= 10**9 + 3


def test_before_the_driver_speaks_the_first_executors_are_created_but_not_started() -> None:
    """Their pods and images are fetched while the driver's JVM starts; they wait for the word."""
    decision = decided(
        seen(), DriverTarget(), AllocatorMemory(), AllocationSettings(dynamic=True, minimum=1, initial=2)
    )
    assert ids(decision.actions, Create) == [1, 2]
    assert decision.start == frozenset()
    later = decided(seen([pod(1), pod(2)]), wants(2), decision.memory)
    assert later.start == {1, 2}


def test_after_a_restart_the_driver_is_waited_for() -> None:
    """It has spoken before, so it has a target of its own by now: nothing comes or goes until it says it."""
    settings = AllocationSettings(dynamic=True, initial=1)
    pods = [pod(1, PodPhase.PENDING), pod(2, PodPhase.PENDING)]
    assert decided(seen(pods), DriverTarget(), remembers(), settings).actions == ()
    assert decided(seen(), DriverTarget(), remembers(), settings).actions == ()


def test_nothing_is_created_before_the_first_list() -> None:
    """After a restart there may be executors that nobody has looked for yet."""
    assert decided(Snapshot(), wants(3)).actions == ()


def test_static_allocation_follows_the_tuning() -> None:
    """Spark never asks again for executors: the number is the tuning's, as it is now."""
    decision = decided(seen(), wants(2, dynamic=False), settings=AllocationSettings(instances=4))
    assert len(ids(decision.actions, Create)) == 4


def test_the_maximum_holds_for_all_profiles_together() -> None:
    """Spark asks for as many of each: they share what was reviewed."""
    target = wants(0, executors={0: 5, 1: 5}, profiles={0: Profile(), 1: Profile(cores=2)})
    decision = decided(seen(), target, remembers(rate=Rate(16)), replace(DYNAMIC, maximum=3))
    created = [(action.profile, action.shape) for action in decision.actions if isinstance(action, Create)]
    assert sorted(created, key=lambda entry: entry[0]) == [(0, None)] * 2 + [(1, Profile(cores=2))]
    assert (
        "the driver wants 10 executors in total, but spec.dynamicAllocation.maxExecutors is 3"
        in decision.reason
    )


@pytest.mark.parametrize(
    ("settings", "target", "most", "words"),
    [
        (
            AllocationSettings(dynamic=True, maximum=2),
            wants(100_000),
            2,
            "spec.dynamicAllocation.maxExecutors is 2",
        ),
        (
            AllocationSettings(dynamic=True, maximum=2),
            wants(0, executors=dict.fromkeys(range(1000), 9), profiles=dict.fromkeys(range(1000), Profile())),
            2,
            "the driver wants 9000 executors in total",
        ),
        (AllocationSettings(dynamic=True, maximum=2), wants(9, dynamic=False), 2, "maxExecutors is 2"),
        (AllocationSettings(instances=2), wants(100_000), 2, "spec.executor.instances is 2"),
        (
            AllocationSettings(instances=2),
            wants(9, dynamic=False, executors={0: 9, 1: 9}),
            2,
            "2 of 2 executors",
        ),
        (
            AllocationSettings(dynamic=True),
            wants(100_000),
            1000,
            "spec.dynamicAllocation.maxExecutors is not set, so the maximum is 1000",
        ),
        (AllocationSettings(dynamic=True, initial=1200), wants(100_000), 1200, "the maximum is 1200"),
    ],
    ids=["one profile", "many profiles", "static", "dynamic", "static profiles", "none", "initial"],
)
def test_whatever_the_driver_says_the_reviewed_maximum_holds(
    settings: AllocationSettings, target: DriverTarget, most: int, words: str
) -> None:
    """User code can read the token, and say what it likes. The reason names the field that holds it."""
    # No pod is ever shown here, so the gate of pods without a node would hold before the maximum does.
    settings = replace(settings, max_unschedulable=100_000)
    snapshot, memory, made = seen(), remembers(rate=Rate(16)), 0
    for _ in range(200):
        decision = decided(snapshot, target, memory, settings)
        memory = replace(decision.memory, rate=Rate(16))
        outcomes = [ActionOutcome(action, Answer.DONE, uid=f"uid-{action.id}") for action in decision.actions]
        memory = apply_outcomes(memory, outcomes, NOW)
        made += len(ids(decision.actions, Create))
        if not decision.actions:
            break
    assert made == most
    assert words in decision.reason


@pytest.mark.parametrize("name", ["draining", "kills", "lost", "refused"])
def test_what_leaves_counts_until_it_has_ended(name: str) -> None:
    """Who says again and again that executors leave gets no more of them than were reviewed."""
    pods = [pod(1), pod(2)]
    target = wants(2, **{name: {1, 2}})
    decision = decided(seen(pods), target, remembers(), replace(DYNAMIC, maximum=2))
    assert ids(decision.actions, Create) == []
    assert (
        "waiting for 2 departing executors to end: spec.dynamicAllocation.maxExecutors is 2"
        in decision.reason
    )
    one_ended = [pod(1), pod(2, PodPhase.FAILED, loss=OOM)]
    assert ids(
        decided(seen(one_ended), target, remembers(), replace(DYNAMIC, maximum=2)).actions, Create
    ) == [10]


def test_registered_executors_of_one_profile_stay_when_another_wants_some() -> None:
    """What was reviewed is used up: nobody is thrown out, and the reason says what would help."""
    target = wants(0, executors={0: 2, 1: 2}, profiles={0: Profile(), 1: Profile()}, registered={1, 2})
    decision = decided(seen([pod(1), pod(2)]), target, remembers(), replace(DYNAMIC, maximum=2))
    assert decision.actions == ()
    assert (
        "the driver wants 4 executors in total, but spec.dynamicAllocation.maxExecutors is 2"
        in decision.reason
    )


def test_no_batch_begins_in_which_nothing_can_be_created() -> None:
    """A profile lacks an executor, another one has the last place: there is nothing to do until one ends."""
    settings = AllocationSettings(dynamic=True, maximum=1, batch_size=5, batch_delay=1.0)
    both = {0: 1, 1: 1}
    target = wants(0, executors=both, profiles=dict.fromkeys(both, Profile()), registered={1})
    pods = [pod(1, profile=1)]
    decision = decided(seen(pods), target, remembers(next_id=2), settings)
    assert (decision.actions, decision.memory.batch_at, decision.wake_at) == ((), None, None)


def test_batches_are_made_as_asked() -> None:
    """With a batch of 5 each second: five, none in the same second, five in the next."""
    settings = replace(DYNAMIC, batch_size=5, batch_delay=1.0)
    memory = remembers(rate=Rate(16))
    made = []
    for now in (NOW, NOW + 0.5, NOW + 1.0):
        decision = decide(seen(), wants(12), memory, settings, now)
        made.append(len(decision.actions))
        memory = apply_outcomes(
            decision.memory, [ActionOutcome(a, Answer.DONE) for a in decision.actions], now
        )
    assert made == [5, 0, 5]


def test_the_pending_gate_holds_back_and_shares() -> None:
    """Six may be pending; a profile whose pods cannot be scheduled has its share of them, and no more."""
    waiting = Waiting("Unschedulable", "0/3 nodes are available")
    pods = [pod(id_, PodPhase.PENDING, waiting=waiting) for id_ in (1, 2, 3)]
    target = wants(0, executors={0: 9, 1: 9}, profiles={0: Profile(), 1: Profile()})
    decision = decided(seen(pods), target, remembers(rate=Rate(16)), replace(DYNAMIC, max_pending=6))
    assert [action.profile for action in decision.actions if isinstance(action, Create)] == [1, 1, 1]
    assert "3 pending, Unschedulable: 0/3 nodes are available" in decision.reason


NO_ROOM = Waiting("Unschedulable", "0/3 nodes are available")


def waits(
    first: int, last: int, profile: int = 0, waiting: Waiting | None = NO_ROOM
) -> list[ObservedExecutor]:
    """Executors whose pods have no node; with `waiting` of None nobody has looked for one yet."""
    found = range(first, last + 1)
    return [pod(id_, PodPhase.PENDING, profile=profile, waiting=waiting) for id_ in found]


@pytest.mark.parametrize("waiting", [NO_ROOM, None])
def test_a_full_cluster_does_not_get_the_whole_target(waiting: Waiting | None) -> None:
    """A hundred pods without a node are enough, whether or not the scheduler has judged them yet."""
    memory, settings = remembers(rate=Rate(16), next_id=1000), DYNAMIC
    almost = decided(seen(waits(1, 95, waiting=waiting)), wants(1000), memory)
    assert len(ids(almost.actions, Create)) == 5
    again = decided(seen(waits(1, 95, waiting=waiting)), wants(1000), almost.memory)
    assert again.actions == (), "those that no view shows count, too"
    closed = decided(seen(waits(1, 100, waiting=waiting)), wants(1000), memory)
    assert closed.actions == ()
    assert closed.reason.endswith(
        "; 100 have no node, and no more are created until one gets a node "
        "(spec.allocation.maxUnschedulablePods is 100)"
    )
    more = decided(
        seen(waits(1, 100, waiting=waiting)), wants(1000), memory, replace(settings, max_unschedulable=103)
    )
    assert len(ids(more.actions, Create)) == 3


GATED = Waiting("SchedulingGated", "waits for a gate")


def test_a_queue_gets_no_more_than_the_bound() -> None:
    """What a queue holds back has no node either, and counts: the whole target would be there otherwise."""
    memory = remembers(rate=Rate(16), next_id=1000)
    closed = decided(seen(waits(1, 60, waiting=GATED) + waits(61, 100)), wants(1000), memory)
    assert closed.actions == ()
    assert "100 have no node (60 in the queue), and no more are created" in closed.reason
    admitted = [replace(one, node="n1", waiting=None) for one in waits(1, 5)]
    more = decided(seen(admitted + waits(6, 100, waiting=GATED)), wants(1000), memory)
    assert ids(more.actions, Create) == [1000, 1001, 1002, 1003, 1004]


def test_who_waits_in_a_queue_waits_as_long_as_it_takes() -> None:
    """No timeout and no failure: another pod would begin at the end of the queue."""
    settings = replace(DYNAMIC, pending_timeout=60, executor_timeout=60)
    waiting = [pod(1, PodPhase.PENDING, since=NOW - 86400, waiting=GATED)]
    decision = decided(seen(waiting), wants(1), settings=settings)
    assert decision.actions == ()
    assert decision.memory.failures == ()
    assert "1 pending, waiting to be admitted by the queue: waits for a gate" in decision.reason
    assert decision.wake_at is None


def test_who_waits_in_a_queue_is_the_first_to_go() -> None:
    """The newest of them; before one that the scheduler has admitted, and one that was only asked for."""
    pods = [pod(1, PodPhase.PENDING, waiting=GATED), pod(2, PodPhase.PENDING, waiting=GATED)]
    pods += [pod(3, PodPhase.PENDING, node="n1"), pod(4)]
    asked = remembers(requests={5: CreateRequest(0, NOW, accepted=NOW)})
    for wanted, gone in ((4, [2]), (3, [2, 1]), (2, [2, 1, 5])):
        assert ids(decided(seen(pods), wants(wanted), asked).actions, Delete) == gone


def test_what_a_queue_takes_back_is_asked_for_again() -> None:
    """No failure, no pause: the next one waits at the end of the queue."""
    lost = Loss(Cause.EVICTED, "executor 1 was taken back by its queue")
    ended = pod(1, PodPhase.FAILED, loss=lost)
    decision = decided(seen([ended, pod(2)]), wants(2, registered={1, 2}))
    assert ids(decision.actions, Create) == [10]
    assert (decision.memory.failures, decision.gone) == ((), {1: lost})


def test_pods_that_have_a_node_do_not_wait_for_one() -> None:
    """Pulling an image is no reason to hold back others; nor does one that is on its way out count."""
    pulling = Waiting("ContainerCreating", "")
    placed = [pod(id_, PodPhase.PENDING, waiting=pulling, node="n1") for id_ in range(1, 101)]
    leaving = [replace(one, deleting=True) for one in waits(101, 200)]
    memory = remembers(rate=Rate(16), next_id=1000)
    decision = decided(seen(placed + leaving), wants(1000, kills=set(range(101, 201))), memory)
    assert len(ids(decision.actions, Create)) == 16 - len(ids(decision.actions, Delete))
    assert "no node" not in decision.reason
    once_unschedulable = [replace(one, waiting=NO_ROOM) for one in placed]
    assert len(ids(decided(seen(once_unschedulable), wants(1000), memory).actions, Create)) == 16


@pytest.mark.parametrize("word", ["registered", "draining", "lost", "kills", "refused"])
@pytest.mark.parametrize("bound", [{"max_unschedulable": 100}, {"max_pending": 100}])
def test_what_the_driver_calls_a_pod_gives_it_no_node(word: str, bound: dict[str, Any]) -> None:
    """Its word is that of user code, which could call pods registered, or leaving, to have more of them."""
    lie = {word: set(range(1, 201))}
    settings, memory = replace(DYNAMIC, **bound), remembers(rate=Rate(16), next_id=1000)
    assert ids(decided(seen(waits(1, 200)), wants(1000, **lie), memory, settings).actions, Create) == []
    requests = {id_: CreateRequest(0, NOW - 1) for id_ in range(1, 201)}
    assert (
        ids(
            decided(seen([]), wants(1000, **lie), replace(memory, requests=requests), settings).actions,
            Create,
        )
        == []
    )


def test_a_profile_that_nobody_can_place_does_not_keep_the_others_from_coming() -> None:
    """It came first and has all the places; a later one gets its share all the same, and at least one pod."""
    target = wants(0, executors={0: 200, 1: 200}, profiles={0: Profile(), 1: Profile()})
    memory = remembers(rate=Rate(16), next_id=1000)
    first = decided(seen(waits(1, 100)), target, memory)
    assert [action.profile for action in first.actions if isinstance(action, Create)] == [1] * 16
    share = decided(seen(waits(1, 100) + waits(101, 150, 1)), target, memory)
    assert share.actions == ()
    assert "150 have no node, and no more of profile 0, 1 are created until one gets a node" in share.reason
    one = replace(DYNAMIC, max_unschedulable=1)
    least = decided(seen(waits(1, 1)), target, memory, one)
    assert [action.profile for action in least.actions if isinstance(action, Create)] == [1]
    running = [pod(id_, profile=1) for id_ in range(101, 151)]
    later = decided(seen(waits(1, 100) + running), target, memory)
    assert [action.profile for action in later.actions if isinstance(action, Create)] == [1] * 16
    alone = decided(seen(waits(1, 50) + running), replace(target, executors={0: 200, 1: 50}), memory)
    assert [action.profile for action in alone.actions if isinstance(action, Create)] == [0] * 16


@pytest.mark.parametrize(
    "bound", [{"max_unschedulable": 2}, {"max_pending": 2}, {"maximum": 2}, {"wait_for_registration": True}]
)
def test_no_batch_begins_for_nothing(bound: dict[str, Any]) -> None:
    """Otherwise the loop makes a round per `batchDelay` for as long as the gate is closed (this was so)."""
    settings = replace(DYNAMIC, batch_size=2, **bound)
    memory = remembers(rate=Rate(16), batch_at=NOW - 5.0)
    target = wants(0, executors={0: 2, 1: 4}, profiles={0: Profile(), 1: Profile()}, registered={1, 2})
    pods = [pod(1), pod(2)] if "maximum" in bound else [*waits(1, 2), *waits(3, 4, 1)]
    decision = decided(seen(pods), target, memory, settings)
    assert ids(decision.actions, Create) == []
    assert decision.memory.batch_at == NOW - 5.0
    assert decision.wake_at is None or decision.wake_at > NOW + settings.batch_delay


def test_a_lower_number_deletes_nothing() -> None:
    """What waits keeps its place; none is added."""
    decision = decided(seen(waits(1, 50)), wants(60), settings=replace(DYNAMIC, max_unschedulable=10))
    assert decision.actions == ()


def classic(**rest: Any) -> AllocationSettings:
    """Spark's classic rule."""
    return replace(DYNAMIC, wait_for_registration=True, **rest)


def test_the_next_batch_waits_until_all_of_the_last_one_have_registered() -> None:
    """Pending or running, they are not registered; what has ended is waited for no more."""
    settings, memory = classic(batch_size=3, batch_delay=0.0), remembers(rate=Rate(2))
    first = decided(seen(), wants(9), memory, settings)
    assert ids(first.actions, Create) == [10, 11]
    memory = replace(
        apply_outcomes(first.memory, [ActionOutcome(a, Answer.DONE) for a in first.actions], NOW),
        rate=Rate(16),
    )
    pods = [pod(10, PodPhase.PENDING), pod(11, PodPhase.PENDING)]
    second = decided(seen(pods), wants(9), memory, settings)
    assert ids(second.actions, Create) == [12], "the rest of the batch"
    memory = apply_outcomes(second.memory, [ActionOutcome(a, Answer.DONE) for a in second.actions], NOW)
    three = [pod(10), pod(11, PodPhase.PENDING), pod(12)]
    waiting = decided(seen(three), wants(9, registered={10, 12}), memory, settings)
    assert waiting.actions == ()
    assert waiting.reason.endswith(
        "; the next batch starts when 1 more has registered (spec.allocation.waitForRegistration)"
    )
    lost = decided(seen([pod(10), pod(12)]), wants(9, registered={10, 12}), waiting.memory, settings)
    assert ids(lost.actions, Create) == [13, 14, 15]


def test_without_a_batch_size_the_batch_is_all_that_is_missing_now() -> None:
    """What Spark wants later comes when all of these have registered; so it is after a restart."""
    first = decided(seen(), wants(6), remembers(rate=Rate(4)), classic())
    assert ids(first.actions, Create) == [10, 11, 12, 13]
    memory = replace(
        apply_outcomes(first.memory, [ActionOutcome(a, Answer.DONE) for a in first.actions], NOW),
        rate=Rate(16),
    )
    pods = [pod(id_) for id_ in (10, 11, 12, 13)]
    more = decided(seen(pods), wants(12, registered={10}), memory, classic())
    assert ids(more.actions, Create) == [14, 15]
    restarted = decided(
        seen(pods), wants(12, registered={10}), remembers(next_id=14, rate=Rate(16)), classic()
    )
    assert restarted.actions == ()


def test_no_batch_begins_before_the_first_list() -> None:
    """A restarted allocator does not know yet who has to be waited for."""
    settings = classic(batch_size=1)
    blind = decided(Snapshot(), wants(3, registered={1}), remembers(next_id=3), settings)
    listed = decided(seen([pod(1), pod(2)]), wants(3, registered={1}), blind.memory, settings)
    assert listed.actions == ()


def test_profiles_wait_for_their_own_executors_only() -> None:
    """One whose pods cannot be scheduled does not keep the others from coming."""
    target = wants(0, executors={0: 4, 1: 4}, profiles={0: Profile(), 1: Profile()})
    decision = decided(seen(waits(1, 2)), target, remembers(rate=Rate(16)), classic(batch_size=3))
    assert [action.profile for action in decision.actions if isinstance(action, Create)] == [1, 1, 1]


def test_excess_goes_newest_first_and_a_registered_one_never() -> None:
    """Requested before pending, pending before running; what Spark counts on stays until Spark says so."""
    pods = [pod(1), pod(2), pod(3, PodPhase.PENDING), pod(4, PodPhase.PENDING)]
    memory = remembers(requests={5: CreateRequest(0, NOW - 1, NOW - 0.5)})
    assert ids(decided(seen(pods), wants(4, registered={1, 2}), memory).actions, Delete) == [5]
    assert ids(decided(seen(pods), wants(3, registered={1, 2}), memory).actions, Delete) == [5, 4]
    assert ids(decided(seen(pods), wants(0, registered={1, 2}), memory).actions, Delete) == [5, 4, 3]


def test_one_that_may_register_any_moment_is_refused_first() -> None:
    """It runs and was told to start: it is deleted when the driver has said that it refuses it."""
    snapshot = seen([pod(1), pod(2)], started=frozenset({1, 2}))
    first = decided(snapshot, wants(1, registered={1}))
    assert (first.actions, first.refuse) == ((), {2})
    too_late = decided(snapshot, wants(1, registered={1, 2}), first.memory)
    assert (too_late.actions, too_late.refuse) == ((), frozenset())
    confirmed = decided(snapshot, wants(1, registered={1}, refused={2}), first.memory)
    assert ids(confirmed.actions, Delete) == [2]


def test_a_refusal_that_was_asked_for_is_not_taken_back() -> None:
    """The driver may have heard it: an executor that it turns away then is no failure of the application."""
    snapshot = seen([pod(1), pod(2)], started=frozenset({1, 2}))
    first = decided(snapshot, wants(1, registered={1}))
    more = decided(snapshot, wants(2, registered={1}), first.memory)
    assert (more.actions, more.refuse) == ((), {2})
    refusal = Loss(Cause.EXITED, "exit 1", by_application=True, exit_code=1)
    turned_away = seen([pod(1), pod(2, PodPhase.FAILED, loss=refusal)])
    ended = decided(turned_away, wants(2, registered={1}), more.memory)
    assert (ended.memory.failures, ended.memory.bad_starts) == ((), Backoff())
    assert ids(ended.actions, Create) == [10]


def test_what_spark_removed_is_deleted_and_told_when_it_is_gone() -> None:
    """Once, gracefully; the driver hears of it when no list shows the pod any more."""
    first = decided(seen([pod(1)]), wants(0, kills={1}))
    assert [(a.uid, a.forced) for a in first.actions if isinstance(a, Delete)] == [("uid-1", False)]
    assert first.gone == {}
    done = apply_outcomes(first.memory, [ActionOutcome(a, Answer.DONE) for a in first.actions], NOW)
    assert decided(seen([pod(1, deleting=True)]), wants(0, kills={1}), done).actions == ()
    assert decided(seen(), wants(0, kills={1}), done).gone[1].cause is Cause.KILLED


def test_a_deletion_without_effect_is_forced() -> None:
    """Long after the pod's own grace its node does not answer: the pod is removed from the API server."""
    memory = remembers(removals={1: DeleteRequest(NOW - 100, open=False)})
    decision = decided(seen([pod(1, deleting=True)]), wants(0, kills={1}), memory)
    assert [(a.id, a.forced) for a in decision.actions if isinstance(a, Delete)] == [(1, True)]


def test_a_deletion_is_forced_only_after_the_server_took_it() -> None:
    """One that was lost, and is sent again, has its whole grace from then on."""
    shown, wanted = seen([pod(1)], listed_at=NOW - 1), wants(0, kills={1})
    memory = remembers(removals={1: DeleteRequest(NOW - 100, open=False, retry_at=NOW)})
    again = decided(shown, wanted, memory)
    assert [(a.id, a.forced) for a in again.actions if isinstance(a, Delete)] == [(1, False)]
    taken = apply_outcomes(again.memory, [ActionOutcome(again.actions[0], Answer.DONE)], NOW)
    assert decided(shown, wanted, taken).actions == ()
    later = decide(shown, wanted, taken, DYNAMIC, NOW + 61)
    assert [(a.id, a.forced) for a in later.actions if isinstance(a, Delete)] == [(1, True)]


def test_a_deletion_is_not_repeated_for_a_list_that_is_older() -> None:
    """A list that was asked for before the server took it shows the pod as it was."""
    memory = remembers(removals={1: DeleteRequest(NOW - 40, open=False, accepted=NOW - 2)})
    wanted = wants(0, kills={1})
    assert decided(seen([pod(1)], listed_at=NOW - 5), wanted, memory).actions == ()
    assert ids(decided(seen([pod(1)], listed_at=NOW - 1), wanted, memory).actions, Delete) == [1]


def test_a_loss_that_the_driver_names_late_is_counted_once() -> None:
    """Its pod is gone, and was counted, before the state came that says that it had registered."""
    ended = pod(1, PodPhase.FAILED, loss=OOM)
    first = decided(seen([ended]), wants(1))
    gone = seen(vanished={1: ended})
    second = decided(gone, wants(1), first.memory)
    third = decided(gone, wants(1, lost={1}), second.memory)
    assert len(third.memory.failures) == 1
    assert third.gone == {1: OOM}


def test_executors_that_end_with_their_driver_do_not_end_the_application() -> None:
    """They fail by the dozen when its JVM is gone: it has to be alive for a failure to count."""
    memory = remembers(failures=(NOW - 20,) * 20)
    assert decided(seen(), wants(1, heard_at=NOW - 21), memory).failure is None
    assert decided(seen(), wants(1, heard_at=NOW - 11), memory).failure is None, (
        "it may have been said before"
    )
    assert decided(seen(), wants(1, heard_at=NOW - 20 + LONGEST_DELIVERY), memory).failure is not None


def test_executors_of_an_earlier_driver_are_nobodys_failure() -> None:
    """Also for an allocator that restarts and finds them: it knows from the volume whose they were."""
    ended = [pod(id_, PodPhase.FAILED, loss=OOM) for id_ in range(1, 20)]
    decision = decided(seen(ended), DriverTarget(), remembers(first_id=20, next_id=20))
    assert (decision.memory.failures, decision.memory.bad_starts.level) == ((), 0)


def test_executors_that_end_at_once_without_an_error_follow_each_other_slowly() -> None:
    """It is no failure of theirs, and the next one waits, unless one of them has registered."""
    normal = Loss(Cause.EXITED, "exited with code 0, unexpectedly", exit_code=0)
    ended = seen([pod(1, PodPhase.SUCCEEDED, loss=normal)])
    first = decided(ended, wants(1))
    assert (ids(first.actions, Create), first.memory.failures) == ([], ())
    assert first.memory.bad_starts.level == 1
    assert ids(decide(ended, wants(1), first.memory, DYNAMIC, NOW + 60).actions, Create)
    known = decided(ended, wants(1), remembers(known=frozenset({1})))
    assert (len(ids(known.actions, Create)), known.memory.bad_starts.level) == (1, 0)


def test_what_ends_with_a_driver_that_has_stopped_was_not_deleted_by_somebody() -> None:
    """Its executors end by themselves then, and nobody is to look for who did it."""
    stopped = replace(wants(1, registered={1}), phase=DriverPhase.STOPPED)
    assert decided(seen([pod(1, PodPhase.SUCCEEDED)]), stopped).gone[1].cause is Cause.KILLED


def test_a_loss_is_told_with_its_cause_and_replaced() -> None:
    """The pod is kept until the driver has been told; then it is deleted; its cause survives it."""
    ended = pod(1, PodPhase.FAILED, loss=OOM)
    first = decided(seen([ended]), wants(1, lost={1}))
    assert first.gone == {1: OOM}
    assert ids(first.actions, Create) == [10]
    assert ids(first.actions, Delete) == []
    assert first.memory.failures == (NOW,)
    told = decided(seen([ended, pod(10)]), wants(1, registered={10}), first.memory)
    assert ids(told.actions, Delete) == [1]
    assert told.memory.failures == (NOW,), "counted once"
    gone = decided(seen([pod(10)]), wants(1, lost={1}, registered={10}), first.memory)
    assert gone.gone == {1: OOM}


def test_a_pod_that_somebody_deleted_is_told_as_such() -> None:
    """Not the application's fault; where the last event had a cause, that is told."""
    assert decided(seen(), wants(1, registered={1})).gone[1].cause is Cause.DELETED
    preempted = Loss(Cause.PREEMPTED, "executor 1 was preempted")
    snapshot = seen(vanished={1: pod(1, loss=preempted)})
    assert decided(snapshot, wants(1, registered={1})).gone == {1: preempted}


def test_from_an_incomplete_snapshot_nothing_is_concluded() -> None:
    """The watch broke: an executor that is not shown may well be there."""
    snapshot = replace(seen(), complete=False)
    decision = decided(snapshot, wants(1, registered={1}))
    assert (decision.gone, decision.actions) == ({}, ())


def test_an_executor_that_spark_lost_is_replaced_and_in_the_end_deleted() -> None:
    """Its connection broke, and its pod seems well: another one comes at once, it goes after a while."""
    first = decided(seen([pod(1)]), wants(1, lost={1}))
    assert ids(first.actions, Create) == [10]
    assert first.gone == {}
    memory = replace(first.memory, lost_at={1: NOW - 21})
    assert ids(decided(seen([pod(1), pod(10)]), wants(1), memory).actions, Delete) == [1]


def test_refusals_pause_longer_and_longer_and_one_creation_tries_again() -> None:
    """All refusals of a round count once; the reason tells how long and why."""
    first = decided(seen(), wants(4))
    outcomes = [ActionOutcome(action, Answer.REFUSED, QUOTA) for action in first.actions]
    memory = apply_outcomes(first.memory, outcomes, NOW, 1.0)
    assert (memory.refusals.level, memory.refusals.until) == (1, NOW + 1.0)
    paused = decided(seen(), wants(4), memory)
    assert paused.actions == ()
    assert paused.reason == "0 of 4 executors; refused, retrying in 1 s: exceeded quota: pods=1"
    assert paused.hindrances == (QUOTA,)
    assert paused.wake_at == NOW + 1.0
    again = decide(seen(), wants(4), memory, DYNAMIC, NOW + 1.0)
    assert len(again.actions) == 1


def test_what_no_time_will_mend_ends_the_application_when_nothing_runs() -> None:
    """Invalid three times in a row: it stops with the server's words; with an executor at work it goes on."""
    memory = remembers(
        refusals=Backoff(3, NOW - 1, Hindrance(Code.INVALID, "cannot", "spec.containers: Required value"), 3)
    )
    decision = decided(seen(), wants(2), memory)
    assert decision.failure is not None
    assert decision.failure.code == Code.INVALID
    assert decision.failure.detail == "spec.containers: Required value"
    assert decision.hindrances == (decision.failure,)
    assert decision.actions == ()
    working = decided(seen([pod(1)]), wants(2, registered={1}), memory)
    assert working.failure is None


def test_a_cluster_that_never_shows_its_executors_ends_the_application_when_nothing_runs() -> None:
    """A list that is refused for good three times in a row; not sooner, and not while executors work."""
    for permanent, fails in ((2, False), (3, True)):
        blind = Snapshot(
            list_failure=ListFailure(
                Hindrance(Code.FORBIDDEN, "cannot list executors", "User pi cannot list pods"), permanent
            )
        )
        decision = decided(blind, wants(2))
        assert "the executors are unknown: cannot list executors" in decision.reason or fails
        assert (decision.failure is not None) is fails
        assert [hindrance.code for hindrance in decision.hindrances] == [Code.FORBIDDEN]
        assert decision.hindrances[0].detail == "User pi cannot list pods"
        assert decision.actions == ()
        assert decided(blind, wants(2, registered={1})).failure is None


def test_an_image_that_cannot_be_pulled_is_tried_thrice_and_then_ends_the_application() -> None:
    """No more of the same meanwhile; each is deleted after a while, and counted."""
    waiting = Waiting("ImagePullBackOff", "no such image", permanent=True)
    young = pod(1, PodPhase.PENDING, NOW - 10, waiting=waiting)
    assert decided(seen([young]), wants(3)).actions == ()
    old = replace(young, since=NOW - 60)
    decision = decided(seen([old]), wants(3))
    assert ids(decision.actions, Delete) == [1]
    assert (decision.memory.bad_starts.permanent, len(decision.memory.failures)) == (1, 1)
    assert decision.memory.bad_starts.reason == Hindrance(
        Code.IMAGE_PULL_BACK_OFF, "executor 1: ImagePullBackOff", "no such image"
    )
    memory = remembers(bad_starts=replace(decision.memory.bad_starts, permanent=3))
    failure = decided(seen(), wants(3), memory).failure
    assert failure is not None
    assert failure.code == Code.IMAGE_PULL_BACK_OFF
    assert str(failure).endswith("executor 1: ImagePullBackOff: no such image")


def test_files_that_cannot_be_had_end_the_application_after_three_rounds() -> None:
    """Not while an executor works: that one has its files, and others count as failures."""
    lost = Loss(Cause.FAILED_START, "executor 5 did not start", True, BAD_ARTIFACT)
    ended = pod(5, PodPhase.FAILED, loss=lost)
    memory = remembers(bad_starts=Backoff(2, NOW - 1, lost.hindrance, permanent=2), failures=(NOW - 5,))
    decision = decided(seen([ended]), wants(2), memory)
    assert decision.failure is not None
    assert decision.failure.code == Code.BAD_ARTIFACT
    assert "waiting will not help" in str(decision.failure)
    working = decided(seen([ended, pod(1)]), wants(2, registered={1}), memory)
    assert (working.failure, len(working.memory.failures)) == (None, 2)


def test_the_image_is_the_reason_though_more_executors_failed_for_it_than_may() -> None:
    """Two executors of three rounds are six failures, and four may: what is told is the image."""
    waiting = Waiting("ImagePullBackOff", "no such image", permanent=True)
    pods = [pod(id_, PodPhase.PENDING, NOW - 60, waiting=waiting) for id_ in (5, 6)]
    bad_starts = Backoff(2, NOW - 1, waiting.hindering("executor 4: "), permanent=2)
    memory = remembers(bad_starts=bad_starts, failures=(NOW - 90, NOW - 90, NOW - 45, NOW - 45))
    decision = decided(seen(pods), wants(2), memory, replace(DYNAMIC, maximum=2))
    assert len(decision.memory.failures) == 6
    assert "waiting will not help" in str(decision.failure)
    assert "ImagePullBackOff: no such image" in str(decision.failure)


def test_too_many_bad_starts_say_why_the_last_one_was_bad() -> None:
    """No executor has ever run, so that no loss says why: the start does."""
    bad_starts = Backoff(1, NOW + 1, NO_ROOM.hindering("executor 9: "))
    memory = remembers(bad_starts=bad_starts, failures=(NOW - 5.0,) * 7)
    decision = decided(seen(), wants(3), memory, replace(DYNAMIC, maximum=3))
    assert "7 executors failed within 3600 s, and the limit is 6 (" in str(decision.failure)
    assert str(decision.failure).endswith(
        "the last failure: executor 9: Unschedulable: 0/3 nodes are available"
    )
    assert decision.failure is not None
    assert decision.failure.code == Code.UNSCHEDULABLE


@pytest.mark.parametrize(
    ("loss", "code"),
    [
        (Loss(Cause.OOM, "killed", True, 137), Code.OUT_OF_MEMORY),
        (Loss(Cause.EXITED, "exited", True, 52), Code.HEAP_FULL),
        (Loss(Cause.EXITED, "exited", True, 1), Code.MAX_EXECUTOR_FAILURES),
    ],
)
def test_too_many_losses_have_the_code_of_the_last_one_where_that_says_what_to_do(
    loss: Loss, code: Code
) -> None:
    """Memory can be raised; an exit code alone says no more than that there were too many."""
    ended = pod(4, PodPhase.FAILED, loss=loss)
    memory = remembers(failures=(NOW - 5.0,) * 7)
    decision = decided(seen([ended]), wants(3, registered={4}), memory, replace(DYNAMIC, maximum=3))
    assert decision.failure is not None
    assert decision.failure.code == code


@pytest.mark.parametrize(("failures", "stops"), [(6, False), (7, True)])
def test_too_many_failures_end_the_application(failures: int, stops: bool) -> None:
    """More than max(3, 2 x executors) within the interval, as Spark counts them; older ones do not count."""
    old = NOW - 4_000.0
    memory = remembers(failures=(old, *[NOW - 5.0] * failures))
    decision = decided(seen([pod(1)]), wants(3, registered={1}), memory, replace(DYNAMIC, maximum=3))
    assert (decision.failure is not None) is stops
    if stops:
        assert "7 executors failed within 3600 s, and the limit is 6 (" in str(decision.failure)


def test_a_pod_is_pending_for_ever_unless_somebody_sets_a_limit() -> None:
    """A full cluster is nobody's failure."""
    pending = pod(1, PodPhase.PENDING, NOW - 5_000)
    assert decided(seen([pending]), wants(1)).actions == ()
    limited = decided(seen([pending]), wants(1), settings=replace(DYNAMIC, pending_timeout=600.0))
    assert ids(limited.actions, Delete) == [1]


def test_an_executor_that_runs_and_never_registers_is_refused_and_replaced() -> None:
    """A hanging JVM must not stand in the way forever; it may register at any moment: refused first."""
    overdue, memory = seen([pod(1, since=NOW - 700)]), remembers(speaking_since=NOW - 700)
    first = decided(overdue, wants(1), memory)
    assert (first.refuse, first.actions) == ({1}, ())
    second = decided(overdue, wants(1, refused={1}), first.memory)
    assert ids(second.actions, Delete) == [1]
    assert ids(second.actions, Create) == [10]
    late = decided(overdue, wants(1, registered={1}), first.memory)
    assert (late.refuse, late.actions) == (frozenset(), ())


def test_time_to_register_begins_when_there_is_a_driver_to_register_at() -> None:
    """A JVM that downloads for long does not cost the executors that wait for it."""
    waited = seen([pod(1, since=NOW - 700)])
    assert decided(waited, wants(1), remembers(speaking_since=NOW - 10)).refuse == frozenset()
    heard = decided(waited, wants(1), remembers())
    assert heard.memory.speaking_since == NOW
    away = decided(waited, wants(1, away=True), heard.memory)
    assert away.memory.speaking_since is None


def test_a_request_that_is_never_seen_is_refused_first_if_it_was_started() -> None:
    """A silent watch does not show it, and it may register all the same."""
    memory = remembers(requests={1: CreateRequest(0, NOW - 800, NOW - 700)})
    assert ids(decided(seen(listed_at=NOW - 900), wants(1), memory).actions, Delete) == [1]
    started = decided(seen(listed_at=NOW - 900, started=frozenset({1})), wants(1), memory)
    assert (started.refuse, started.actions) == ({1}, ())
    refused = decided(
        seen(listed_at=NOW - 900, started=frozenset({1})), wants(1, refused={1}), started.memory
    )
    assert ids(refused.actions, Delete) == [1]
    done = apply_outcomes(refused.memory, [ActionOutcome(a, Answer.DONE) for a in refused.actions], NOW)
    over = decide(seen(listed_at=NOW - 900), wants(1, refused={1}), done, DYNAMIC, NOW + 121)
    assert (over.refuse, over.memory.removals, set(over.memory.requests)) == (frozenset(), {}, {10})


def test_one_that_was_refused_stays_so_until_it_is_deleted() -> None:
    """Or the driver would be asked in turns, while no deletion can be sent, or no view shows it."""
    pods, wanted = seen([pod(1), pod(2)]), wants(1, registered={1}, refused={2})
    slow = remembers(refusing=frozenset({2}), rate=Rate(resume_at=NOW + 5))
    held = decided(pods, wanted, slow)
    assert (held.refuse, held.actions) == ({2}, ())
    unseen = remembers(refusing=frozenset({2}), requests={2: CreateRequest(0, NOW - 2, NOW - 1)})
    blind = decided(seen([pod(1)], started=frozenset({2})), wanted, unseen)
    assert (blind.refuse, ids(blind.actions, Delete)) == ({2}, [2])


def test_an_answer_that_was_lost_is_asked_for_again_under_the_same_name() -> None:
    """The creation may have been done: the same id, so that the second one can only be a conflict."""
    first = decided(seen(), wants(1))
    memory = apply_outcomes(first.memory, [ActionOutcome(first.actions[0], Answer.UNKNOWN)], NOW)
    later = decide(seen(), wants(1), memory, DYNAMIC, NOW + 2)
    assert later.actions == (replace(first.actions[0], again=True),)  # type: ignore[type-var]


def test_a_refusal_does_not_say_that_an_earlier_try_was_in_vain() -> None:
    """The first creation was answered badly, and the second is denied: the pod may be there all the same."""
    memory = remembers(requests={2: CreateRequest(0, NOW - 9, tries=2)}, next_id=3)
    refused = apply_outcomes(memory, [ActionOutcome(Create(2, 0, again=True), Answer.REFUSED, QUOTA)], NOW)
    decision = decided(seen([pod(1)]), wants(2, registered={1}), refused)
    assert decision.actions == (), "two are wanted, and two may be there"
    later = decide(seen([pod(1)]), wants(2, registered={1}), refused, DYNAMIC, NOW + 2)
    assert [(action.id, action.again) for action in later.actions if isinstance(action, Create)] == [
        (2, True)
    ]


def former(**request: Any) -> tuple[AllocatorMemory, Snapshot]:
    """Executor 1 was asked for twice, and the pod that the first creation made has ended since."""
    memory = remembers(requests={1: CreateRequest(0, NOW - 9, tries=2, **request)})
    return memory, seen([pod(1, PodPhase.FAILED, loss=OOM)], vanished={1: pod(1, PodPhase.FAILED, loss=OOM)})


def test_the_end_of_a_former_pod_of_that_name_is_not_the_executors() -> None:
    """Its creation was sent again and has made another pod: a watch that is late still shows the first."""
    made, snapshot = former(accepted=NOW - 5, uid="uid-of-the-second")
    of_both = without_former_pods(snapshot, made)
    assert (dict(of_both.executors), dict(of_both.vanished)) == ({}, {})
    decision = decided(of_both, wants(1, registered={1}), made)
    assert (dict(decision.gone), decision.actions) == ({}, ())


def test_while_a_second_creation_is_not_answered_an_end_may_be_that_of_either() -> None:
    """Nothing is concluded; neither when the answer was lost once more."""
    for request in ({}, {"retry_at": NOW + 1}):
        memory, snapshot = former(**request)
        assert not without_former_pods(snapshot, memory).executors
    alive = seen([pod(1)])
    assert without_former_pods(alive, memory) is alive


def test_the_executors_own_end_is_seen() -> None:
    """The pod that the server's yes was about, or one that was asked for once."""
    own, snapshot = former(accepted=NOW - 5, uid="uid-1")
    assert without_former_pods(snapshot, own) is snapshot
    once = remembers(requests={1: CreateRequest(0, NOW - 9)})
    assert without_former_pods(snapshot, once) is snapshot


def test_what_was_asked_for_by_an_earlier_driver_is_not_asked_for_again() -> None:
    """It would be made to be deleted. It may have been made in spite of the bad answer: so it is deleted."""
    for answer in (Answer.UNKNOWN, Answer.BUSY):
        memory = remembers(requests={2: CreateRequest(0, NOW - 9)}, first_id=3, next_id=3, session="s")
        memory = apply_outcomes(memory, [ActionOutcome(Create(2, 0), answer)], NOW - 2)
        decision = decided(seen(), wants(0), memory)
        assert decision.actions == (Delete(2, why="left by an earlier driver"),)


def test_after_an_outage_nobody_waits_for_the_end_of_a_long_pause() -> None:
    """A list that was asked for since the last try shows that the server is back."""
    request = CreateRequest(0, NOW - 300, tries=8, retry_at=NOW + 100, failed_at=NOW - 10)
    memory = remembers(requests={1: request}, next_id=2)
    assert decided(seen(listed_at=NOW - 11), wants(1), memory).actions == ()
    assert decided(seen(listed_at=NOW - 9, complete=False), wants(1), memory).actions == ()
    assert ids(decided(seen(listed_at=NOW - 9), wants(1), memory).actions, Create) == [1]


def test_a_time_that_the_server_names_counts_in_a_pause_too() -> None:
    """A lost answer has begun a pause of a second, and then comes a 429 with more."""
    lost = ActionOutcome(Create(1, 0), Answer.UNKNOWN)
    busy = ActionOutcome(Delete(2), Answer.BUSY, retry_after=5.0)
    memory = apply_outcomes(remembers(rate=Rate(8)), [lost, busy, replace(busy, retry_after=None)], NOW)
    assert memory.rate == Rate(4, NOW + 5.0)


def test_another_driver_in_the_same_pod_gets_new_executors() -> None:
    """The executors of the one before cannot serve it: they go, and as many come."""
    decision = decided(seen([pod(1)]), wants(1, session="t"), remembers(next_id=2))
    assert ids(decision.actions, Delete) == [1]
    assert ids(decision.actions, Create) == [2]


def test_when_the_driver_has_stopped_everything_goes() -> None:
    """Registered or not, running or pending; nothing is created, and no end counts as a failure."""
    stopped = replace(wants(5, registered={1}), phase=DriverPhase.STOPPED)
    pods = [pod(1), pod(2, PodPhase.PENDING), pod(3, PodPhase.FAILED, loss=OOM)]
    decision = decided(seen(pods), stopped)
    assert ids(decision.actions, Delete) == [1, 2, 3]
    assert ids(decision.actions, Create) == []
    assert decision.memory.failures == ()


def test_a_decommissioned_executor_is_left_to_end_by_itself() -> None:
    """It moves its blocks: it is not deleted, and does not count towards the target."""
    decision = decided(seen([pod(1)]), wants(1, draining={1}))
    assert ids(decision.actions, Delete) == []
    assert ids(decision.actions, Create) == [10]


def test_another_driver_begins_without_the_failures_of_the_one_before() -> None:
    """A Deployment's driver restarts in its pod: what ended the last one must not end this one."""
    memory = remembers(
        failure=Hindrance(Code.MAX_EXECUTOR_FAILURES, "too many failures"),
        failures=(NOW,) * 9,
        bad_starts=Backoff(3, NOW + 60, QUOTA, 3),
    )
    decision = decided(seen(), wants(1, session="t"), memory)
    assert decision.failure is None
    assert decision.memory.failures == ()
    assert ids(decision.actions, Create) == [10]


def test_while_the_driver_is_away_nothing_comes_goes_starts_or_counts() -> None:
    """Its JVM is dead or hangs: executors that end with it are not the application's failures."""
    ended = pod(1, PodPhase.FAILED, loss=Loss(Cause.EXITED, "exit code 1", by_application=True, exit_code=1))
    target = wants(3, registered={1}, away=True)
    decision = decided(seen([ended, pod(2)]), target)
    assert (decision.actions, decision.start, decision.memory.failures) == ((), frozenset(), ())
    assert decision.gone[1].cause is Cause.EXITED


def test_a_registered_executor_that_no_list_shows_is_kept() -> None:
    """The list and the watch fail for long, while creations work: what Spark counts on stays."""
    memory = remembers(requests={5: CreateRequest(0, NOW - 1_000, NOW - 900)})
    blind = replace(seen(), complete=False, listed_at=NOW - 2_000)
    assert decided(blind, wants(1, registered={5}), memory).actions == ()
    assert decided(blind, wants(1), memory).actions == ()
    assert ids(decided(seen(listed_at=NOW - 2_000), wants(1), memory).actions, Delete) == [5]
    late = remembers(requests={5: CreateRequest(0, NOW - 1_000, NOW - 1)})
    assert decided(seen(listed_at=NOW - 2_000), wants(1), late).actions == ()


def test_a_static_driver_keeps_its_number_when_the_tuning_turns_dynamic() -> None:
    """The tuning belongs to the application, and may be of a newer commit than the run."""
    pods = [pod(1), pod(2)]
    target = wants(2, dynamic=False, registered={1, 2})
    assert decided(seen(pods), target, settings=replace(DYNAMIC, instances=1)).actions == ()


def test_what_was_not_made_for_sure_is_not_asked_for_again_when_it_is_too_many() -> None:
    """After an outage the server is not troubled with what nobody wants any more."""
    memory = remembers(
        requests={
            5: CreateRequest(0, NOW - 60, retry_at=NOW - 1),
            6: CreateRequest(0, NOW - 60, retry_at=NOW),
        }
    )
    decision = decided(seen(), wants(1), memory)
    assert [(action.id, action.again) for action in decision.actions if isinstance(action, Create)] == [
        (5, True)
    ]
    assert set(decision.memory.requests) == {5}


def test_a_pod_that_is_leaving_blocks_nothing() -> None:
    """It waited for an image that will not come, and is being deleted."""
    waiting = Waiting("ImagePullBackOff", "no such image", permanent=True)
    leaving = pod(1, PodPhase.PENDING, waiting=waiting, deleting=True)
    assert ids(decided(seen([leaving]), wants(1)).actions, Create) == [10]


def test_one_bad_node_is_not_the_applications_failure_while_others_work() -> None:
    """An executor that cannot start there is given up and replaced, and not counted."""
    waiting = Waiting("CreateContainerError", "no space left", permanent=True)
    stuck = pod(2, PodPhase.PENDING, NOW - 60, waiting=waiting)
    decision = decided(seen([pod(1), stuck]), wants(2, registered={1}))
    assert ids(decision.actions, Delete) == [2]
    assert decision.memory.failures == ()


def test_what_had_ended_when_it_was_seen_first_is_no_failure() -> None:
    """An allocator that restarted does not know whether it was asked to: its driver may have refused it."""
    ended = [pod(id_, PodPhase.FAILED, loss=OOM, found_ended=True) for id_ in range(1, 9)]
    decision = decided(seen(ended), wants(1))
    assert (decision.memory.failures, decision.failure, set(decision.memory.losses)) == (
        (),
        None,
        set(range(1, 9)),
    )


def test_one_that_was_refused_and_ends_is_no_failure() -> None:
    """Its registration was refused, so its process exits with 1: as it should."""
    loss = Loss(Cause.EXITED, "exit code 1", by_application=True, exit_code=1)
    ended = pod(2, PodPhase.FAILED, loss=loss)
    decision = decided(seen([pod(1), ended]), wants(1, registered={1}, refused={2}))
    assert decision.memory.failures == ()
    assert decision.memory.losses[2].cause is Cause.KILLED


HELD = replace(DYNAMIC, hold=True)


@pytest.mark.parametrize("settings", [HELD, AllocationSettings(instances=3, hold=True)])
def test_while_held_nothing_is_created_and_what_has_not_registered_goes(settings: AllocationSettings) -> None:
    """Whether Spark or the document says how many, and whatever the minimum is; Spark ends what it has."""
    decision = decided(seen([pod(1), pod(2, PodPhase.PENDING)]), wants(3, registered={1}), settings=settings)
    assert ids(decision.actions, Create) == []
    assert ids(decision.actions, Delete) == [2]
    assert [hindrance.code for hindrance in decision.hindrances] == [Code.HELD]
    assert "removing 2: more than Spark wants; the application is held" in decision.reason


def test_an_application_that_starts_held_gets_no_executors() -> None:
    """Not even the minimum, which is created before the driver reports."""
    settings = AllocationSettings(dynamic=True, minimum=2, initial=2, hold=True)
    assert decided(seen(), DriverTarget(), AllocatorMemory(), settings).actions == ()


def test_after_a_hold_the_target_counts_again() -> None:
    """Executors that are still leaving do not count."""
    leaving = wants(2, draining={1})
    held = decided(seen([pod(1)]), leaving, settings=HELD)
    assert held.actions == ()
    assert ids(decided(seen([pod(1)]), leaving, held.memory).actions, Create) == [10, 11]


def test_a_gang_that_is_held_is_removed_and_comes_back_whole() -> None:
    """Members that wait for a node leave at once; after the hold, the gang is created again."""
    gang = AllocationSettings(instances=2, gang=2)
    waits = [pod(id_, PodPhase.PENDING, gang=True) for id_ in (1, 2)]
    held = decided(seen(waits), wants(2), settings=replace(gang, hold=True))
    assert sorted(ids(held.actions, Delete)) == [1, 2]
    resumed = decided(seen(), wants(2), settings=gang)
    assert [action.gang for action in resumed.actions if isinstance(action, Create)] == [True, True]
