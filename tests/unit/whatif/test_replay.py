"""Replays of workloads whose answers can be worked out by hand, and the laws that hold for all of them."""

from __future__ import annotations

import gc
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.whatif.cluster import Cluster, Pods
from sparkgen.whatif.replay import ReplayStopped, replay
from sparkgen.whatif.workload import Workload
from tests.unit.whatif.workloads import DELAY, chain, dynamic, fixed, of_jobs, stage

SECONDS = st.integers(1, 50).map(lambda tenths: tenths / 10)
WORKLOADS = st.lists(st.lists(SECONDS, min_size=1, max_size=12), min_size=1, max_size=4).map(
    lambda stages: chain(*stages)
)
SETTINGS = st.one_of(
    st.builds(fixed, st.integers(1, 8), st.integers(1, 3)),
    st.builds(dynamic, st.integers(1, 8), cores=st.integers(1, 3), service=st.booleans()),
)


def test_tasks_fill_the_slots_in_waves() -> None:
    """Four tasks of 3 s on two slots take two waves."""
    outcome = replay(chain([3.0] * 4), fixed(2))
    assert outcome.wall == pytest.approx(DELAY + 6.0, abs=0.01)
    assert outcome.executor_seconds == pytest.approx(12.0, abs=0.02)
    assert outcome.task_seconds == pytest.approx(12.0)
    assert outcome.idle == pytest.approx(0.0, abs=0.01)


def test_thousands_of_executors_for_a_few_tasks_are_no_stuck_replay() -> None:
    """Each takes some events to start, whether or not it ever runs a task."""
    assert replay(chain([1.0]), fixed(3500)).most == 3500


def test_cores_are_slots() -> None:
    """One executor of four cores is as good as four of one, and is paid for once."""
    assert replay(chain([3.0] * 4), fixed(1, cores=4)).wall == pytest.approx(DELAY + 3.0, abs=0.01)
    two = replace(fixed(1, cores=4), task_cpus=2)
    assert replay(chain([3.0] * 4), two).wall == pytest.approx(DELAY + 6.0, abs=0.01)


def test_a_stage_waits_for_its_parents_and_a_job_for_the_driver() -> None:
    """The longest task of each stage and the driver's gaps are what no executor shortens."""
    work = of_jobs([(1.0, [stage(0, [1.0, 5.0]), stage(1, [2.0], [0])]), (4.0, [stage(2, [1.0], job=1)])])
    outcome = replay(work, fixed(10))
    assert outcome.wall == pytest.approx(DELAY + 1 + 5 + 2 + 4 + 1, abs=0.1)
    assert work.critical_path == pytest.approx(13.0)


def test_pools_share_executors_where_the_scheduler_is_fair() -> None:
    """Without pools, and in a pool, the first job goes first."""
    long, short = stage(0, [1.0] * 20), stage(1, [1.0], job=1)

    def ends(fair: bool, *pools: str) -> float:
        made = of_jobs([(0.0, [long]), (0.5, [short])])
        jobs = [replace(job, after=(), pool=pool) for job, pool in zip(made.jobs, pools, strict=True)]
        outcome = replay(replace(made, jobs=tuple(jobs)), fixed(2, fair=fair))
        return next(span.ended for span in outcome.stages if span.id == 1)

    assert ends(True, "nightly", "people") == pytest.approx(DELAY + 2.0, abs=0.01)
    assert ends(True, "", "") == ends(True, "people", "people") == pytest.approx(DELAY + 11.0, abs=0.01)
    assert ends(False, "nightly", "people") == pytest.approx(DELAY + 11.0, abs=0.01)


def test_no_job_begins_and_nothing_is_asked_for_before_the_drivers_context_is_up() -> None:
    """Spark starts its dynamic allocation with it; first executors may be there before."""
    late = replace(chain([3.0] * 2), context=10.0)
    asked = 10.0 + 1.0  # the backlog's time-out
    assert replay(late, dynamic(1)).wall == pytest.approx(asked + DELAY + 6.0, abs=0.2)
    assert replay(late, fixed(2)).wall == pytest.approx(10.0 + 3.0, abs=0.01)
    nobody = replace(late, first_delays=(60.0,))
    assert replay(nobody, fixed(1, longest_wait=5.0)).stages[0].began == pytest.approx(15.0)


def test_a_failed_attempt_takes_its_time_again() -> None:
    """And its task is tried at the end of those that wait."""
    failing = replace(stage(0, [1.0]), tasks=((2.0, 1.0), (1.0,)))
    assert replay(of_jobs([(0.0, [failing])]), fixed(1)).wall == pytest.approx(DELAY + 4.0, abs=0.01)


def test_the_first_task_of_each_slot_is_cold() -> None:
    """One executor warms up once, however many tasks follow."""
    outcome = replay(chain([1.0] * 3, [1.0] * 3, warm_up=0.5), fixed(1))
    assert outcome.task_seconds == pytest.approx(6.5)


def test_the_target_grows_as_sparks_does() -> None:
    """Asked for after 1 s, then every second twice as many: 1, 3, 7, 15; each registers after its delay."""
    outcome = replay(chain([30.0] * 15), dynamic())
    grown = [(round(time - DELAY), count) for time, count in outcome.executors if 0 < time < 20]
    assert {1: 1, 2: 3, 3: 7, 4: 15}.items() <= dict(grown).items()
    assert outcome.most == 15


def test_the_maximum_bounds_it() -> None:
    """And so does what the tasks need."""
    assert replay(chain([30.0] * 15), dynamic(4)).most == 4
    assert replay(chain([30.0] * 15), dynamic(cores=4)).most == 4
    assert replay(chain([30.0] * 15), dynamic(ratio=0.5)).most == 8


def test_idle_executors_go_after_their_time_out() -> None:
    """In a gap of the driver, and no sooner."""
    work = of_jobs([(0.0, [stage(0, [5.0] * 4)]), (60.0, [stage(1, [1.0], job=1)])])
    long = replay(work, dynamic(service=True, idle_timeout=10.0))
    assert 0 in [count for time, count in long.executors if 20 < time < 60]
    kept = replay(work, dynamic(service=True, idle_timeout=600.0))
    assert long.executor_seconds < kept.executor_seconds / 2


def test_shuffle_output_holds_executors_without_a_service() -> None:
    """Until its own time-out: nobody knows whether it will be read."""
    stages = [stage(0, [5.0] * 4, shuffle=True), stage(1, [5.0], [0])]
    work = of_jobs([(0.0, stages), (60.0, [stage(2, [1.0], job=1)])])
    tracked = replay(work, dynamic(idle_timeout=10.0))
    timed = replay(work, dynamic(idle_timeout=10.0, tracking_timeout=15.0))
    served = replay(work, dynamic(idle_timeout=10.0, service=True))
    assert tracked.executor_seconds > 2 * timed.executor_seconds
    assert served.executor_seconds <= timed.executor_seconds


def test_an_executor_that_is_lost_takes_its_output_along() -> None:
    """Without a service the map task is done again; with one it is not."""
    work = chain([4.0, 4.0], [10.0, 10.0], shuffle=True)
    lost = Cluster(lose_at=(DELAY + 6.0,))
    alone = replay(work, fixed(2), lost)
    served = replay(work, fixed(2, shuffle_service=True), lost)
    assert alone.lost == served.lost == 1
    assert alone.task_seconds == pytest.approx(served.task_seconds + 4.0)
    assert alone.wall > served.wall > replay(work, fixed(2)).wall


def test_a_full_cluster_gives_what_fits() -> None:
    """More executors wait, and the driver no longer than it has to for them."""
    outcome = replay(chain([10.0] * 8), fixed(8, longest_wait=5.0), Cluster(capacity=2))
    assert outcome.most == 2
    assert outcome.wall == pytest.approx(5.0 + 40.0, abs=0.1)


def test_new_nodes_take_their_time() -> None:
    """Those that are there serve at once."""
    outcome = replay(chain([10.0] * 100), fixed(4, registered_ratio=0.0), Cluster(ready=2, scale_up=60.0))
    assert [count for time, count in outcome.executors if time < 60] == [0, 1, 2] or outcome.executors[1][
        1
    ] == 2
    assert outcome.most == 4


def test_a_replay_leaves_nothing_behind() -> None:
    """A question replays a log dozens of times: each one's memory is free when it ends."""
    gc.collect()
    gc.disable()
    try:
        replay(chain([1.0] * 4), dynamic(2))
        with pytest.raises(ReplayStopped):
            replay(chain([1.0]), fixed(1), Cluster(capacity=0))
        assert not [one for one in gc.get_objects() if isinstance(one, Pods)]
    finally:
        gc.enable()


def test_a_replay_that_cannot_end_says_so() -> None:
    """No executor fits."""
    with pytest.raises(ReplayStopped, match="the replay is stuck"):
        replay(chain([1.0]), fixed(1), Cluster(capacity=0))


@given(WORKLOADS, SETTINGS)
def test_the_time_of_tasks_is_conserved(work: Workload, settings: object) -> None:
    """Executors are many or few, fixed or dynamic: nothing is done twice, and nothing left out."""
    outcome = replay(work, settings)  # type: ignore[arg-type]
    assert outcome.task_seconds == pytest.approx(work.task_seconds)


@given(WORKLOADS, SETTINGS)
def test_a_replay_gives_the_same_again(work: Workload, settings: object) -> None:
    """Chance comes from the seed alone."""
    assert replay(work, settings) == replay(work, settings)  # type: ignore[arg-type]


@given(WORKLOADS, st.integers(1, 8))
def test_more_executors_are_never_slower(work: Workload, count: int) -> None:
    """Where each task takes as long as ever. Nothing is quicker than the critical path."""
    fewer, more = replay(work, fixed(count)), replay(work, fixed(count + 1))
    assert more.wall <= fewer.wall + 0.05
    assert more.wall >= work.critical_path - 1e-6


@given(WORKLOADS, SETTINGS)
def test_no_executor_does_more_than_its_slots_allow(work: Workload, settings: object) -> None:
    """Work never takes less than its time over all slots that there were."""
    outcome = replay(work, settings)  # type: ignore[arg-type]
    assert outcome.task_seconds <= outcome.executor_seconds * outcome.slots + 1e-6
