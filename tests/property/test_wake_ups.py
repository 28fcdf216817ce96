"""A decision says when it may be another one: until then, time alone changes nothing."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from sparkgen.runtime.allocator.decide.decide import decide
from sparkgen.runtime.allocator.values.decision import AllocationDecision
from sparkgen.runtime.allocator.values.memory import AllocatorMemory, CreateRequest, DeleteRequest
from sparkgen.runtime.allocator.values.observed import Snapshot
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget, Profile
from tests import scale
from tests.property.allocator_world import World
from tests.property.test_allocator import TUNING, WANTED, turns

STAGES = 8
"""How often the time comes that a decision names, while nothing else happens."""
LATER = 2_000.0
"""Seconds that a world stands still: longer than any time that the allocator waits."""


def published(decision: AllocationDecision) -> tuple[object, ...]:
    """What others see of a decision; its reason counts seconds down."""
    return (
        decision.actions,
        decision.gone,
        decision.refuse,
        decision.start,
        decision.failure,
        decision.counts,
        decision.held,
    )


@settings(max_examples=scale.count("tests/property/test_wake_ups.py", 150, 25), deadline=None)
@given(TUNING, st.lists(WANTED, min_size=1, max_size=3), st.integers(0, 2**32), st.booleans())
def test_nothing_changes_before_the_time_that_a_decision_names(
    tuning: AllocationSettings, wanted: list[dict[int, int]], seed: int, restarts: bool
) -> None:
    """Whatever is on its way then: the loop may sleep until `wake_at`, or until something happens."""
    choose = random.Random(seed)  # noqa: S311 - a schedule, no secret
    tuning = replace(tuning, pending_timeout=choose.choice((None, 60.0)), executor_timeout=90.0)
    world = World(tuning, choose, faults=0.3)
    turns(world, wanted, restarts=restarts)
    if choose.random() < 0.5:
        world.list()
    still = world.allocate()
    view = replace(world.view, started=frozenset(world.started))
    now = world.now
    for _ in range(STAGES):
        for _ in range(20):  # until all is asked for that may be
            still = decide(view, world.target, still.memory, tuning, now)
        assert still.actions == ()
        until = now + LATER if still.wake_at is None else still.wake_at
        for share in (0.3, 0.99):
            later = now + (until - now) * share
            assert published(decide(view, world.target, still.memory, tuning, later)) == published(still)
        now = until


def test_an_executor_that_is_forgotten_makes_room_at_once() -> None:
    """One that was deleted, and never shown, counts for two minutes: then there is room below the maximum."""
    settings = AllocationSettings(dynamic=True, maximum=1)
    target = DriverTarget(
        DriverPhase.RUNNING, session="s", dynamic=True, executors={0: 1}, profiles={0: Profile()}
    )
    memory = AllocatorMemory(
        next_id=2,
        session="s",
        requests={1: CreateRequest(0, 895.0, 900.0)},
        removals={1: DeleteRequest(999.0, open=False, accepted=1000.0)},
    )
    view, now = Snapshot(True, {}, 890.0), 1001.0
    for _ in range(10):
        decision = decide(view, target, memory, settings, now)
        if decision.actions:
            break
        assert decision.wake_at is not None, "nobody would look again"
        memory, now = decision.memory, decision.wake_at
    assert (len(decision.actions), now) == (1, 1120.0)
