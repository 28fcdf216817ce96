"""More memory for the next executors after one was killed for lack of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sparkgen.codes import Code
from sparkgen.runtime.allocator.decide.decide import decide
from sparkgen.runtime.allocator.decide.losses import PERMANENT_ROUNDS
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.report import log_lines, notices
from sparkgen.runtime.allocator.report.status import StatusFacts, status_body
from sparkgen.runtime.allocator.values.actions import Create
from sparkgen.runtime.allocator.values.decision import AllocationDecision
from sparkgen.runtime.allocator.values.memory import AllocatorMemory
from sparkgen.runtime.allocator.values.observed import Cause, Loss, ObservedExecutor, PodPhase, Snapshot
from sparkgen.runtime.allocator.values.settings import AllocationSettings, MemoryRecovery
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget, Profile

NOW = 10_000.0
SETTINGS = AllocationSettings(dynamic=True, memory_recovery=MemoryRecovery(step=512, maximum=1200))
WORDS = "killed: out of memory (limit 1408Mi: raise spark.executor.memoryOverhead)"


def pod(id_: int, added: int = 0, profile: int = 0, *, killed: bool = False) -> ObservedExecutor:
    """An executor's pod, which runs or was killed for lack of memory."""
    loss = Loss(Cause.OOM, f"executor {id_} was {WORDS}", by_application=True, exit_code=137)
    phase = PodPhase.FAILED if killed else PodPhase.RUNNING
    made = ObservedExecutor(
        id_, profile, f"run-exec-{id_}", f"uid-{id_}", phase, NOW - 30, added_memory=added
    )
    return replace(made, loss=loss) if killed else made


def snapshot(*pods: ObservedExecutor, **rest: Any) -> Snapshot:
    """A complete snapshot of these pods."""
    return Snapshot(True, {seen.id: seen for seen in pods}, NOW - 60, **rest)


def target(*registered: int, wanted: int = 2, **rest: Any) -> DriverTarget:
    """A driver that wants so many executors, and has registered these."""
    values = {"executors": {0: wanted}, "profiles": {0: Profile(overhead=384)}, "heard_at": NOW, **rest}
    return DriverTarget(DriverPhase.RUNNING, "s", dynamic=True, registered=frozenset(registered), **values)


def decided(
    seen: Snapshot,
    wants: DriverTarget,
    memory: AllocatorMemory | None = None,
    settings: AllocationSettings = SETTINGS,
) -> AllocationDecision:
    """The decision now."""
    return decide(seen, wants, memory or AllocatorMemory(session="s", next_id=10), settings, NOW)


def sizes(decision: AllocationDecision) -> list[int]:
    """MiB in addition of the executors that a decision creates."""
    return [action.added_memory for action in decision.actions if isinstance(action, Create)]


def test_the_next_executor_gets_a_step_more() -> None:
    """The killed one is replaced by a larger one, and the loss says so."""
    decision = decided(snapshot(pod(1, killed=True)), target(1, wanted=1))
    assert sizes(decision) == [512]
    assert decision.gone[1] == Loss(
        Cause.OOM,
        f"executor 1 was {WORDS}; the next executors get at least 512 MiB more than their profile",
        by_application=False,
        exit_code=137,
    )


def test_without_the_setting_nothing_is_new() -> None:
    """Executors keep their size, and each kill is the application's fault."""
    off = replace(SETTINGS, memory_recovery=None)
    decision = decided(snapshot(pod(1, killed=True)), target(1, wanted=1), settings=off)
    assert sizes(decision) == [0]
    assert decision.gone[1].by_application
    assert decision.memory.failures == (NOW,)


def test_ten_that_are_killed_together_make_one_step() -> None:
    """They all had the same memory: nobody knows yet whether one step is enough."""
    pods = [pod(id_, killed=True) for id_ in range(1, 11)]
    decision = decided(snapshot(*pods), target(*range(1, 11), wanted=2))
    assert sizes(decision) == [512, 512]
    again = decided(snapshot(*pods), target(*range(1, 11), wanted=2), decision.memory)
    assert again.memory.added_memory == {0: 512}


def test_steps_end_at_the_maximum() -> None:
    """The last step is a part of one; from then on, a kill counts as ever."""
    third = decided(snapshot(pod(3, 1024, killed=True)), target(3, wanted=1))
    assert sizes(third) == [1200]
    assert not third.gone[3].by_application
    assert third.memory.failures == ()
    last = decided(snapshot(pod(4, 1200, killed=True)), target(4, wanted=1))
    assert sizes(last) == [1200]
    assert last.gone[4].by_application
    assert last.gone[4].message == (
        f"executor 4 was {WORDS}; executors have 1200 MiB more than their profile, the most that "
        "spec.allocation.memoryOverheadRecovery allows"
    )
    assert last.memory.failures == (NOW,)


def test_kills_before_the_maximum_do_not_end_the_application() -> None:
    """Thirty executors of the first size may be killed, although one failure is allowed."""
    settings = replace(SETTINGS, max_failures=1)
    first = [pod(id_, killed=True) for id_ in range(1, 31)]
    assert decided(snapshot(*first), target(*range(1, 31)), settings=settings).failure is None
    last = [pod(id_, 1200, killed=True) for id_ in range(1, 3)]
    heard = target(1, 2, heard_at=NOW + 60)
    failure = decided(snapshot(*last), heard, settings=settings).failure
    assert failure is not None
    assert failure.code == Code.OUT_OF_MEMORY


def test_a_restarted_allocator_reads_the_size_from_the_pods() -> None:
    """From one that runs, or from one that was killed; each profile has its own."""
    restarted = AllocatorMemory(session="s", next_id=10)
    pods = snapshot(pod(1, 512), pod(2, 512, killed=True), pod(3, 0, 1))
    both = target(1, 2, 3, wanted=2, executors={0: 2, 1: 2}, profiles={0: Profile(), 1: Profile()})
    orders = [one for one in decided(pods, both, restarted).actions if isinstance(one, Create)]
    assert sorted((one.profile, one.added_memory) for one in orders) == [(0, 1024), (1, 0)]


def test_what_has_vanished_counts_too() -> None:
    """Somebody may have deleted the killed pod before the allocator made a decision."""
    gone = snapshot(vanished={1: pod(1, killed=True)})
    assert sizes(decided(gone, target(1, wanted=1))) == [512]


def test_pods_of_an_earlier_driver_do_not_count() -> None:
    """Its profiles may be others."""
    memory = AllocatorMemory(session="s", next_id=10, first_id=5)
    assert decided(snapshot(pod(1, 512, killed=True)), target(), memory).memory.added_memory == {}


def test_a_lower_maximum_holds_at_once() -> None:
    """The tuning changes while the application runs."""
    lower = replace(SETTINGS, memory_recovery=MemoryRecovery(512, 300))
    assert sizes(decided(snapshot(pod(1, 512)), target(1, wanted=2), settings=lower)) == [300]


def test_executors_that_are_killed_before_they_register_are_paused_for() -> None:
    """Otherwise, they would follow each other as fast as the API server creates them."""
    decision = decided(snapshot(pod(1, killed=True)), target(wanted=1))
    assert decision.memory.bad_starts.level == 1
    assert decision.memory.bad_starts.permanent < PERMANENT_ROUNDS
    assert sizes(decision) == []
    assert decision.memory.added_memory == {0: 512}


def test_nothing_is_remembered_after_the_driver() -> None:
    """All executors end then."""
    stopped = replace(target(), phase=DriverPhase.STOPPED)
    assert decided(snapshot(pod(1, 512)), stopped).memory.added_memory == {}


@pytest.mark.parametrize(
    ("profile", "known", "step"),
    [
        (0, {0: Profile(overhead=384)}, "commit this: spec.executor.memoryOverhead: 896m"),
        (0, {}, "commit this: spec.executor.memoryOverhead: 512 MiB more than now"),
        (2, {2: Profile(overhead=1000)}, "set memoryOverhead to 1512m in the program's resource profile 2"),
    ],
)
def test_the_change_to_commit_is_told(profile: int, known: dict[int, Profile], step: str) -> None:
    """By the log, an Event and the status; the Event once, because its text stays the same."""
    seen = snapshot(pod(1, profile=profile, killed=True))
    wants = target(1, executors={profile: 1}, profiles=known)
    decision = decided(seen, wants)
    whose = f"executors of resource profile {profile}" if profile else "executors"
    text = f"{whose} were killed for lack of memory, so new ones get 512 MiB more; {step}"
    made = Round(NOW, seen, wants, SETTINGS, decision)
    events = {one.reason: one for one in notices.notices(None, made)}
    assert events["ExecutorMemoryRaised"].warning
    assert str(events["ExecutorMemoryRaised"].hindrance) == text
    assert text in [line.text for line in log_lines.lines(None, made, [])][-1]
    body = status_body(StatusFacts({}, NOW, made, {}, {}, 0, 1))
    assert body["addedMemoryMiB"] == {str(profile): 512}
    assert {"code": "MemoryRaised", "message": text} in body["hindrances"]
