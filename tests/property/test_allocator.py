"""Laws of decisions: not above the target, no id twice, none deleted unasked, fair, bounded, converging."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from sparkgen.runtime.allocator.decide.apply_outcomes import MAX_WINDOW, apply_outcomes, next_pause
from sparkgen.runtime.allocator.decide.decide import decide
from sparkgen.runtime.allocator.decide.draft import writes_in_flight
from sparkgen.runtime.allocator.values.actions import ActionOutcome, Create, Delete
from sparkgen.runtime.allocator.values.memory import AllocatorMemory, Rate
from sparkgen.runtime.allocator.values.observed import ObservedExecutor, PodPhase, Snapshot
from sparkgen.runtime.allocator.values.settings import AllocationSettings, HostPortRange
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget, Profile
from sparkgen.runtime.kubernetes.answers import Answer
from tests import scale
from tests.property.allocator_world import World

TUNING = st.builds(
    AllocationSettings,
    dynamic=st.just(True),
    initial=st.integers(0, 5),
    maximum=st.none() | st.integers(1, 12),
    batch_size=st.none() | st.integers(1, 5),
    max_pending=st.none() | st.integers(1, 6),
    max_unschedulable=st.just(100) | st.integers(1, 6),
    wait_for_registration=st.booleans(),
    max_failures=st.just(10_000),
    host_ports=st.none() | st.integers(0, 99).map(lambda start: HostPortRange(23000, 23099, start)),
)
WANTED = st.dictionaries(st.integers(0, 2), st.integers(0, 15), max_size=3)


def turns(world: World, wanted: list[dict[int, int]], restarts: bool) -> None:
    """Let a world with faults live for a while, every part in any order."""
    steps = [world.answer_one, world.answer_one, world.watch, world.live, world.hear, world.allocate]
    world.list()
    for executors in wanted:
        world.want(executors)
        for _ in range(30):
            world.now += world.choose.random() * 2
            world.choose.choice(steps)()
            if world.choose.random() < 0.1:
                world.list()
            if world.choose.random() < 0.05:
                world.kill_one()
            if world.choose.random() < 0.03:
                world.delete_unseen()
            if restarts and world.choose.random() < 0.02:
                world.restart()


@settings(max_examples=scale.count("tests/property/test_allocator.py", 80, 13), deadline=None)
@given(TUNING, st.lists(WANTED, min_size=1, max_size=4), st.integers(0, 2**32), st.booleans())
def test_the_target_is_reached_when_faults_stop(
    tuning: AllocationSettings, wanted: list[dict[int, int]], seed: int, restarts: bool
) -> None:
    """Whatever happened before: then the executors that Spark wants are there, and all are registered.

    On the way every decision is held to the laws of `World.check`.
    """
    world = World(tuning, random.Random(seed), faults=0.3)  # noqa: S311 - a schedule, no secret
    turns(world, wanted, restarts)
    world.settle()
    kept = Counter(pod.profile for pod in world.pods.values())
    bound = tuning.maximum if tuning.maximum is not None else 1_000
    # Spark removes idle executors itself; what it has registered beyond its target stays until it does, and
    # counts towards the maximum of all profiles together.
    assert kept.total() >= bound or all(kept[profile] >= count for profile, count in wanted[-1].items())
    assert set(world.pods) == set(world.target.registered)
    assert not world.target.lost
    assert not world.target.kills
    assert world.decision is not None
    assert not world.decision.actions


@settings(max_examples=scale.count("tests/property/test_allocator.py", 60, 12), deadline=None)
@given(
    TUNING,
    st.dictionaries(st.integers(0, 2), st.integers(1, 15), min_size=1),
    st.sets(st.integers(0, 2)),
    st.integers(0, 2**32),
)
def test_a_profile_without_room_keeps_no_other_from_its_target(
    tuning: AllocationSettings, wanted: dict[int, int], full: set[int], seed: int
) -> None:
    """It has few pods meanwhile, though it came first; and all of its executors once there is room."""
    # What a user bounds together is bounded together.
    tuning = replace(tuning, maximum=None, max_pending=None)
    world = World(tuning, random.Random(seed))  # noqa: S311
    world.full = full
    world.want({profile: count for profile, count in wanted.items() if profile in full})
    world.settle()
    world.want(wanted)
    world.settle()
    there = Counter(pod.profile for pod in world.pods.values())
    most = max(1, tuning.max_unschedulable // max(1, len(full & wanted.keys())))
    if tuning.wait_for_registration and tuning.batch_size is not None:
        most = min(most, tuning.batch_size)  # the first batch never registers
    for profile, count in wanted.items():
        assert there[profile] == (min(count, most) if profile in full else count)
    assert len(world.target.registered) == sum(wanted[profile] for profile in wanted.keys() - full)
    world.full = set()
    world.settle()
    assert Counter(pod.profile for pod in world.pods.values()) == Counter(wanted)
    assert set(world.pods) == set(world.target.registered)


@settings(max_examples=scale.count("tests/property/test_allocator.py", 30, 6), deadline=None)
@given(TUNING, WANTED, st.integers(0, 2**32))
def test_nothing_is_left_after_the_driver_has_stopped(
    tuning: AllocationSettings, wanted: dict[int, int], seed: int
) -> None:
    """Every executor is removed, registered or not, whatever was on the wire."""
    world = World(tuning, random.Random(seed), faults=0.3)  # noqa: S311
    turns(world, [wanted], restarts=True)
    world.target = replace(world.target, phase=DriverPhase.STOPPED)
    world.settle()
    assert world.pods == {}


@settings(max_examples=scale.count("tests/property/test_allocator.py", 40, 6), deadline=None)
@given(TUNING, st.lists(WANTED, min_size=1, max_size=2), st.integers(0, 2**32))
def test_deciding_again_in_the_same_situation_does_nothing(
    tuning: AllocationSettings, wanted: list[dict[int, int]], seed: int
) -> None:
    """A decision is idempotent: what it asked for is remembered as asked for."""
    world = World(tuning, random.Random(seed), faults=0.3)  # noqa: S311
    turns(world, wanted, restarts=False)
    first = world.allocate()
    view = replace(world.view, started=frozenset(world.started))
    second = decide(view, world.target, first.memory, tuning, world.now)
    assert second.actions == ()
    assert second.memory == first.memory


@given(
    active=st.dictionaries(st.integers(0, 3), st.integers(0, 10), min_size=1),
    missing=st.dictionaries(st.integers(0, 3), st.integers(1, 30), min_size=1),
    window=st.integers(1, 16),
)
def test_profiles_are_served_fairly(active: dict[int, int], missing: dict[int, int], window: int) -> None:
    """None is served while another one has a smaller part of what it wants."""
    wanted = {profile: active.get(profile, 0) + count for profile, count in missing.items()}
    ids = iter(range(1, 1_000))
    pods = {
        id_: ObservedExecutor(id_, profile, f"e{id_}", f"u{id_}", PodPhase.RUNNING, 0.0)
        for profile, count in active.items()
        if profile in wanted
        for id_ in (next(ids) for _ in range(count))
    }
    target = DriverTarget(
        DriverPhase.RUNNING, "s", dynamic=True, executors=wanted, profiles={p: Profile() for p in wanted}
    )
    memory = AllocatorMemory(rate=Rate(window=window))
    decision = decide(Snapshot(True, pods, 5.0), target, memory, AllocationSettings(dynamic=True), 10.0)
    given_ = Counter(action.profile for action in decision.actions if isinstance(action, Create))
    assert given_.total() == min(window, sum(missing.values()))

    def part(profile: int, count: int) -> float:
        return (active.get(profile, 0) + count) / wanted[profile]

    for served in given_:
        for other in wanted:
            if given_[other] < missing[other]:
                assert part(served, given_[served] - 1) <= part(other, given_[other])


@given(st.lists(st.sampled_from(Answer), max_size=60), st.floats(0, 1))
def test_the_rate_stays_within_its_bounds(answers: list[Answer], jitter: float) -> None:
    """Between one write in flight and the bound, whatever the server answers; it recovers."""
    memory, action = AllocatorMemory(), Create(1, 0)
    for number, answer in enumerate(answers):
        memory = apply_outcomes(memory, [ActionOutcome(action, answer)], 100.0 + number * 10, jitter)
        assert 1 <= memory.rate.window <= MAX_WINDOW
    for _ in range(MAX_WINDOW):
        memory = apply_outcomes(memory, [ActionOutcome(Delete(1), Answer.DONE)], 10_000.0, jitter)
    assert memory.rate.window == MAX_WINDOW


@given(st.integers(1, 60), st.floats(0, 1))
def test_pauses_grow_and_end_at_two_minutes(level: int, jitter: float) -> None:
    """From half a second to two minutes, never shorter after one more failure."""
    assert 0.5 <= next_pause(level, jitter) <= 120.0
    assert next_pause(level, jitter) <= next_pause(level + 1, jitter)


def test_a_hundred_executors_are_never_asked_for_at_once() -> None:
    """With a target of 100 and no answers, no more than the window is in flight."""
    target = DriverTarget(DriverPhase.RUNNING, "s", dynamic=True, executors={0: 100}, profiles={0: Profile()})
    memory = AllocatorMemory()
    for now in range(10, 20):
        memory = decide(
            Snapshot(True, {}, 1.0), target, memory, AllocationSettings(dynamic=True), float(now)
        ).memory
        assert writes_in_flight(memory) <= memory.rate.window
