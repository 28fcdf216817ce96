"""Laws of the memory that executors get after others were killed for lack of it."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from sparkgen.runtime.allocator.decide.decide import decide
from sparkgen.runtime.allocator.values.memory import AllocatorMemory
from sparkgen.runtime.allocator.values.observed import Cause, Loss, ObservedExecutor, PodPhase, Snapshot
from sparkgen.runtime.allocator.values.settings import AllocationSettings, MemoryRecovery
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget
from tests import scale

KILLED = Loss(Cause.OOM, "killed: out of memory", by_application=True, exit_code=137)
RECOVERY = st.builds(MemoryRecovery, step=st.integers(1, 500), maximum=st.integers(0, 2000))
PODS = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 2500), st.booleans()), min_size=1, max_size=8
).map(
    lambda rows: [
        ObservedExecutor(
            id_,
            profile,
            f"exec-{id_}",
            f"uid-{id_}",
            PodPhase.FAILED if killed else PodPhase.RUNNING,
            0.0,
            loss=KILLED if killed else None,
            added_memory=added,
        )
        for id_, (profile, added, killed) in enumerate(rows, 1)
    ]
)


def added(recovery: MemoryRecovery, *rounds: list[ObservedExecutor]) -> dict[int, int]:
    """What the next executors get, by profile, after these pods were seen in this order."""
    memory, tuning = AllocatorMemory(session="s", next_id=100), AllocationSettings(memory_recovery=recovery)
    target = DriverTarget(DriverPhase.RUNNING, "s", dynamic=True)
    for now, pods in enumerate(rounds):
        snapshot = Snapshot(True, {seen.id: seen for seen in pods}, 0.0)
        memory = decide(snapshot, target, memory, tuning, float(now)).memory
    return dict(memory.added_memory)


@settings(max_examples=scale.count("tests/property/test_memory_recovery.py", 100, 20), deadline=None)
@given(RECOVERY, PODS, st.data())
def test_it_does_not_matter_how_often_or_when_a_pod_is_seen(
    recovery: MemoryRecovery, pods: list[ObservedExecutor], data: st.DataObject
) -> None:
    """Each pod says by itself what is needed: all at once, one by one and twice are the same."""
    shuffled = data.draw(st.permutations(pods))
    assert added(recovery, pods) == added(recovery, *([seen] for seen in shuffled), pods)


@settings(max_examples=scale.count("tests/property/test_memory_recovery.py", 100, 20), deadline=None)
@given(RECOVERY, PODS)
def test_never_above_the_maximum_and_not_without_a_kill(
    recovery: MemoryRecovery, pods: list[ObservedExecutor]
) -> None:
    """What executors have is what the next ones get, as long as none is killed."""
    alive = [replace(seen, loss=None, phase=PodPhase.RUNNING) for seen in pods]
    most = {seen.profile: max(o.added_memory for o in pods if o.profile == seen.profile) for seen in pods}
    capped = {profile: min(size, recovery.maximum) for profile, size in most.items()}
    assert added(recovery, alive) == {profile: size for profile, size in capped.items() if size}
    for profile, size in added(recovery, pods).items():
        assert size <= min(recovery.maximum, most[profile] + recovery.step)


@settings(max_examples=scale.count("tests/property/test_memory_recovery.py", 100, 20), deadline=None)
@given(RECOVERY, st.integers(0, 3000))
def test_the_need_is_met_after_as_many_kills_as_steps(recovery: MemoryRecovery, need: int) -> None:
    """Or the maximum is reached, where it is less than the need."""
    has, kills = 0, 0
    while has < min(need, recovery.maximum):
        killed = ObservedExecutor(
            kills + 1, 0, "exec", f"uid-{kills}", PodPhase.FAILED, 0.0, loss=KILLED, added_memory=has
        )
        has = added(recovery, [killed])[0]
        kills += 1
    assert kills == -(-min(need, recovery.maximum) // recovery.step)
