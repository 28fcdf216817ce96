"""Spark's policy of dynamic allocation, step by step."""

from __future__ import annotations

import math

import pytest

from sparkgen.whatif.configuration import DynamicAllocation, configuration
from sparkgen.whatif.policy import AllocationPolicy


def policy(most: int = 100, slots: int = 1, **settings: float) -> AllocationPolicy:
    """A policy of these settings that has seen a stage."""
    made = AllocationPolicy(DynamicAllocation(**settings), slots, most)  # type: ignore[arg-type]
    made.stage_submitted(0.0)
    return made


def test_the_first_executors_are_asked_for_after_the_backlog_timeout() -> None:
    """Then as often as the sustained one says, twice as many each time."""
    watched = policy(backlog_timeout=1.0, sustained_timeout=2.0)
    targets = []
    for tenth in range(81):
        watched.look(tenth / 10, 1000)
        targets.append(watched.target)
    assert [targets[at] for at in (9, 10, 29, 30, 50, 70)] == [0, 1, 1, 3, 7, 15]


def test_the_target_falls_at_once_to_what_is_needed() -> None:
    """But not below the minimum, and growing restarts."""
    watched = policy(minimum=2)
    watched.target = 50
    watched.look(0.1, 10)
    assert watched.target == 10
    watched.look(0.2, 0)
    assert watched.target == 2


def test_nothing_changes_before_a_stage_or_a_time_out() -> None:
    """An application that begins with executors keeps them until then."""
    watched = AllocationPolicy(DynamicAllocation(initial=5), 1, 100)
    watched.look(30.0, 0)
    assert watched.target == 5
    watched.executor_added(1, 30.0)
    assert watched.look(90.0, 0) == [1]
    assert watched.target == 0


def test_nobody_goes_below_the_minimum_or_the_target() -> None:
    """Spark sorts their ids as texts: 10 goes before 2."""
    watched = policy(minimum=1)
    for id_ in (1, 2, 10):
        watched.executor_added(id_, 0.0)
    assert watched.look(60.0, 0) == [1, 10]
    assert watched.look(61.0, 0) == []


def test_an_executor_that_runs_a_task_does_not_go() -> None:
    """It is idle from its last task on."""
    watched = policy()
    watched.executor_added(1, 0.0)
    watched.task_started(1)
    assert watched.look(70.0, 1) == []
    watched.task_ended(1, 70.0, None, cached=False)
    assert watched.look(129.9, 0) == []
    assert watched.look(130.0, 0) == [1]


def test_cached_blocks_hold_an_executor_for_their_own_time_out() -> None:
    """For ever, unless it is set."""
    for timeout, gone in ((math.inf, []), (90.0, [1])):
        watched = policy(cached_timeout=timeout)
        watched.executor_added(1, 0.0)
        watched.task_started(1)
        watched.task_ended(1, 1.0, None, cached=True)
        assert watched.look(91.0, 0) == gone


def test_shuffle_output_of_a_running_job_holds_whatever_the_time_out() -> None:
    """When no job needs it, its own time-out counts."""
    watched = policy(tracking_timeout=70.0)
    watched.executor_added(1, 0.0)
    watched.task_started(1)
    watched.task_ended(1, 1.0, 7, cached=False)
    assert watched.look(100.0, 0) == []
    watched.shuffles_active([])
    assert watched.look(100.1, 0) == [1]


def test_the_longest_time_out_counts() -> None:
    """A short one for shuffle output or cached blocks lets nobody go before the idle time-out."""
    for shuffle, settings in ((7, {"tracking_timeout": 5.0}), (None, {"cached_timeout": 5.0})):
        watched = policy(**settings)
        watched.executor_added(1, 0.0)
        watched.task_started(1)
        watched.task_ended(1, 1.0, shuffle, cached=shuffle is None)
        watched.shuffles_active([])
        assert watched.look(60.9, 0) == []
        assert watched.look(61.0, 0) == [1]


def test_a_timer_that_ran_out_without_growth_counts_for_the_next_stage() -> None:
    """Nothing more was needed at 2 s; what a new stage needs is asked for at the next look."""
    watched = policy()
    for time, tasks in ((1.0, 2), (2.0, 2), (3.0, 2)):
        watched.look(time, tasks)
    assert watched.target == 2
    watched.stage_submitted(3.2)
    watched.look(3.2, 10)
    assert watched.target == 3


def test_properties_mean_what_spark_means_by_them() -> None:
    """Defaults follow other properties."""
    found = configuration(
        {
            "spark.dynamicAllocation.enabled": "true",
            "spark.dynamicAllocation.schedulerBacklogTimeout": "3s",
            "spark.dynamicAllocation.executorIdleTimeout": "2m",
            "spark.dynamicAllocation.shuffleTracking.timeout": "5000",
            "spark.executor.instances": "4",
            "spark.dynamicAllocation.minExecutors": "1",
            "spark.executor.memory": "2g",
            "spark.executor.cores": "4",
            "spark.task.cpus": "2",
        }
    )
    assert found.dynamic is not None
    assert (found.dynamic.initial, found.dynamic.minimum) == (4, 1)
    assert (found.dynamic.backlog_timeout, found.dynamic.sustained_timeout) == (3.0, 3.0)
    assert (found.dynamic.idle_timeout, found.dynamic.tracking_timeout) == (120.0, 5.0)
    assert (found.slots, found.memory, found.overhead) == (2, 2048, 384)


def test_a_check_costs_nothing_for_executors_that_have_not_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A short log may have thousands of executors, and hours of checks each tenth of a second."""
    judged = []
    deadline = AllocationPolicy._deadline
    monkeypatch.setattr(
        AllocationPolicy, "_deadline", lambda self, one: judged.append(one) or deadline(self, one)
    )
    one = policy(minimum=1000)
    for id_ in range(1000):
        one.executor_added(id_, 0.0)
    for tick in range(1000):
        assert one.look(tick / 10, 0) == []
        one.next_look(tick / 10)
    assert len(judged) == 1000
