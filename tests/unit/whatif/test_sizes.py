"""What tasks take on executors of another size."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sparkgen.whatif.sizes import Sized, may_spill, sized
from sparkgen.whatif.workload import Workload
from tests.unit.whatif.workloads import fixed, of_jobs, stage

WORK = of_jobs([(0.0, [stage(0, [10.0], cpu=0.4, gc=0.1)])])


def seconds(work: Workload) -> float:
    """What its only task takes."""
    return work.stages[0].tasks[0][0]


def of(found: Sized | None) -> tuple[float, float, float]:
    """Least, by the law, and most."""
    assert found is not None
    return tuple(seconds(work) for work in (found.least, found.work, found.most))  # type: ignore[return-value]


def test_an_executor_as_large_as_it_was_changes_nothing() -> None:
    """Two cores for each task are one slot, as one core is."""
    assert sized(WORK, fixed(2), fixed(8)) is None
    assert sized(WORK, fixed(2), fixed(2, cores=2, task_cpus=2)) is None


def test_half_the_heap_doubles_garbage_collection() -> None:
    """Nobody knows whether it is not changed at all, or is four times as long."""
    assert of(sized(WORK, fixed(2, memory=2048), fixed(2, memory=1024))) == pytest.approx((10, 11, 13))
    assert of(sized(WORK, fixed(2, memory=1024), fixed(2, memory=2048))) == pytest.approx((9.25, 9.5, 10))


def test_more_slots_with_as_much_heap_each_may_take_the_processor_longer() -> None:
    """A tenth of its time for each doubling; fewer slots may be as much faster."""
    four = fixed(2, cores=4, memory=4096)
    assert of(sized(WORK, fixed(2, memory=1024), four)) == pytest.approx((10, 10, 10.8))
    assert of(sized(WORK, four, fixed(2, memory=1024))) == pytest.approx((9.2, 10, 10))


def test_the_range_stays_within_reason() -> None:
    """A thousandth of the heap is not a million times the collections."""
    least, usual, most = of(sized(WORK, fixed(2, memory=1 << 20), fixed(2, memory=1 << 10)))
    assert (least, usual, most) == pytest.approx((10, 17, 17))


def test_tasks_that_had_more_memory_than_they_would_have_may_spill() -> None:
    """Spark gives them 60 % of the heap that is left after 300 MiB, shared by the slots."""
    small = replace(fixed(2, cores=2), memory=1300)
    assert may_spill(300 << 20, small) == ()
    (said,) = may_spill(301 << 20, small)
    assert said.text == "tasks had up to 301 MiB for execution and would have 300: they may spill or fail"
