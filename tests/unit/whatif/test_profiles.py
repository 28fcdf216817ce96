"""Resource profiles and resources of tasks, such as GPUs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sparkgen.whatif.candidates import from_sets
from sparkgen.whatif.configuration import BadSetting, configuration, tasks_at_once
from sparkgen.whatif.outcome import recorded
from sparkgen.whatif.price_file import prices_of
from sparkgen.whatif.prices import core_hours, cost
from sparkgen.whatif.recorded import understood
from sparkgen.whatif.remark import RemarkCode
from sparkgen.whatif.replay import replay
from sparkgen.whatif.study import Question, study
from tests.unit.eventlog import event_log as made
from tests.unit.whatif.test_recorded import doubt, read

GPU = {"spark.executor.resource.gpu.amount": "1", "spark.task.resource.gpu.amount": "1"}


def on_gpus(**properties: str) -> list[dict[str, Any]]:
    """Eight tasks of 10 s, one after the other, on an executor of four cores and one GPU."""
    events = [
        *made.start(**{"spark.executor.instances": "1", "spark.executor.cores": "4", **GPU, **properties})
    ]
    events += [made.executor("1", 10.0, cores=4), made.job_start(0, 12.0, [0])]
    rows = [("1", 12.0 + 10 * index, 22.0 + 10 * index) for index in range(8)]
    return [*events, *made.stage_run(0, rows, 12.0, 92.0), made.job_end(0, 92.0), made.end(93.0)]


def test_resources_of_tasks_bound_the_slots(tmp_path: Path) -> None:
    """Four cores and one GPU run one task at a time."""
    known = understood(read(tmp_path, on_gpus()))
    assert known.settings.slots == 1
    assert replay(known.work, known.settings).wall == pytest.approx(93.0, abs=0.1)


def test_a_resource_that_no_executor_promises_bounds_nothing_of_a_log(tmp_path: Path) -> None:
    """Its tasks ran, whatever gave it to them."""
    events = on_gpus()
    del events[1]["Spark Properties"]["spark.executor.resource.gpu.amount"]
    assert understood(read(tmp_path, events)).settings.slots == 4


def test_a_resource_can_be_asked_about(tmp_path: Path) -> None:
    """Two GPUs run two tasks at a time."""
    recording = read(tmp_path, on_gpus())
    (candidate,) = from_sets(["spec.sparkConf.spark\\.executor\\.resource\\.gpu\\.amount=2"])
    (run,) = study(recording, Question([candidate])).runs
    assert run.outcome is not None
    assert run.outcome.wall == pytest.approx(53.0, abs=0.1)


@pytest.mark.parametrize(
    ("executor", "task", "most"),
    [
        ({"gpu": 1}, {"gpu": 1}, 1),
        ({"gpu": 2}, {"gpu": 0.25}, 8),
        ({"gpu": 1}, {"gpu": 0.3}, 3),
        ({"gpu": 2}, {"gpu": 0.6}, 2),
        ({"gpu": 5}, {"gpu": 2}, 2),
        ({"gpu": 8, "fpga": 1}, {"gpu": 1, "fpga": 0.5}, 2),
        ({"gpu": 1}, {"gpu": 2}, 0),
        ({}, {"gpu": 1}, 0),
        ({"gpu": 1}, {}, None),
    ],
)
def test_tasks_share_resources_by_sparks_rule(
    executor: dict[str, float], task: dict[str, float], most: int | None
) -> None:
    """A part of an address is shared by as many as fit on it; a whole number is taken whole."""
    assert tasks_at_once(executor, task) == most


def test_an_executor_that_can_run_no_task_is_refused() -> None:
    """As Spark does."""
    with pytest.raises(BadSetting, match=r"each task needs gpu \(2\)"):
        configuration({**GPU, "spark.task.resource.gpu.amount": "2"})


def two_profiles() -> list[dict[str, Any]]:
    """Dynamic allocation: four tasks of 10 s of the default profile, then four of 20 s of another one."""
    dynamic = {"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.executorIdleTimeout": "5s"}
    events = [*made.start("4.0.1", **dynamic, **{"spark.executor.cores": "2", "spark.executor.memory": "1g"})]
    events += [made.profile(1, {"cores": 4, "memory": 4096}, {"cpus": 2}), made.job_start(0, 10.0, [0])]
    events += [
        made.executor("1", 16.0, cores=2, requested=11.0),
        made.executor("2", 17.0, cores=2, requested=12.0),
    ]
    events += made.stage_run(0, [("1", 16.0, 26.0)] * 2 + [("2", 17.0, 27.0)] * 2, 10.0, 27.0)
    events += [made.job_end(0, 27.0), made.removed("1", 31.0, "Executor killed by driver.")]
    events += [made.removed("2", 32.0, "Executor killed by driver."), made.job_start(1, 40.0, [1])]
    events += [made.executor("3", 46.0, cores=4, requested=41.0, profile=1)]
    events += [made.executor("4", 47.0, cores=4, requested=42.0, profile=1)]
    rows = [("3", 46.0, 66.0)] * 2 + [("4", 47.0, 67.0)] * 2
    events += made.stage_run(1, rows, 40.0, 67.0, profile=1)
    return [*events, made.job_end(1, 67.0), made.end(70.0)]


def test_stages_of_another_profile_run_on_executors_of_their_own(tmp_path: Path) -> None:
    """Each of two tasks at one time, and paid for by its size."""
    recording = read(tmp_path, two_profiles())
    known = understood(recording)
    assert (known.settings.slots, known.settings.shape(1).slots) == (2, 2)
    outcome, truth = (
        replay(known.work, known.settings),
        recorded(recording, known.settings.all_slots, known.asked),
    )
    assert outcome.wall == pytest.approx(70.0, abs=0.5)
    assert outcome.executor_seconds == pytest.approx(truth.executor_seconds, abs=4.0)
    assert outcome.most == truth.most == 2
    assert core_hours(truth, known.settings) == pytest.approx((40 * 2 + 57 * 4) / 3600)
    assert "1 resource profile beside the default one" in doubt(recording, RemarkCode.SEVERAL_PROFILES).text
    prices = prices_of(b"onDemand: {coreHour: 3600, gibHour: 0}", "p")
    assert cost(truth, known.settings, (1.0, 1.0), prices).on_demand == pytest.approx(70 + 40 * 2 + 57 * 4)
    nodes = prices_of(b"nodes: [{name: big, cores: 4, memory: 64Gi, hour: 3600}]", "p")
    whole_nodes = 70 / 4 + 21.0 + 29.0 + 28.0
    assert cost(truth, known.settings, (1.0, 1.0), nodes).on_demand == pytest.approx(whole_nodes)


@pytest.mark.parametrize("enabled", ["true", "false"])
def test_tasks_that_ran_with_less_than_they_need_replay(tmp_path: Path, enabled: str) -> None:
    """A profile whose tasks need a GPU that its executors do not request: the tasks ran, one at a time."""
    events = [*made.start(**{"spark.dynamicAllocation.enabled": enabled})]
    events += [made.profile(1, {"cores": 4}, {"gpu": 1.0}), made.executor("1", 1.0, cores=4, profile=1)]
    events += [made.job_start(0, 2.0, [0]), *made.stage_run(0, [("1", 3.0, 4.0)], 3.0, 4.0, profile=1)]
    recording = read(tmp_path, [*events, made.job_end(0, 5.0), made.end(6.0)])
    known = understood(recording)
    assert known.settings.shape(1).slots == 1
    assert replay(known.work, known.settings).task_seconds == pytest.approx(1.0)


def test_one_profile_that_is_not_the_default_replays(tmp_path: Path) -> None:
    """The executors of the default one, which nobody needs, are let go."""
    events = [one for one in two_profiles() if one.get("Job ID") != 0 and one.get("Stage ID") != 0]
    events = [one for one in events if one.get("Stage Info", {}).get("Stage ID") != 0]
    events = [one for one in events if one.get("Executor ID") not in ("1", "2")]
    known = understood(read(tmp_path, events))
    assert replay(known.work, known.settings).wall == pytest.approx(70.0, abs=0.5)


def test_with_a_fixed_number_of_executors_profiles_of_tasks_share_them(tmp_path: Path) -> None:
    """A task of a profile that needs two cores takes two of the default executor's four."""
    events = [*made.start(**{"spark.executor.instances": "1", "spark.executor.cores": "4"})]
    events += [made.profile(1, {}, {"cpus": 2}), made.executor("1", 1.0, cores=4, requested=0.5)]
    events.append(made.job_start(0, 1.0, [0, 1]))
    events += made.stage_run(0, [("1", 1.0, 11.0)] * 4, 1.0, 11.0)
    events += made.stage_run(
        1, [("1", 11.0, 21.0)] * 2 + [("1", 21.0, 31.0)] * 2, 11.0, 31.0, parents=[0], profile=1
    )
    known = understood(read(tmp_path, [*events, made.job_end(0, 31.0), made.end(31.0)]))
    assert replay(known.work, known.settings).wall == pytest.approx(31.0, abs=0.1)
