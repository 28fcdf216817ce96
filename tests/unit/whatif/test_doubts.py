"""Each doubt is told under its code, with a way to a better log; and none of it without a reason."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from sparkgen.eventlog import read_recording
from sparkgen.whatif.doubts import CAUSES
from sparkgen.whatif.recorded import understood
from sparkgen.whatif.remark import Remark, RemarkCode
from sparkgen.whatif.replay import replay
from sparkgen.whatif.study import Question, Study, study
from tests.unit.eventlog import event_log as made
from tests.unit.whatif.test_losses import died
from tests.unit.whatif.test_recorded import read


def studied(folder: Path, events: list[dict[str, Any]]) -> Study:
    """The study of these events."""
    (folder / "log").write_bytes(made.text(events))
    return study(read_recording(str(folder / "log")), Question())


def said(folder: Path, events: list[dict[str, Any]]) -> dict[RemarkCode, Remark]:
    """What a report says, by code."""
    return {remark.code: remark for remark in studied(folder, events).doubts}


def wide(size: int = 6, **properties: str) -> list[dict[str, Any]]:
    """So many tasks of 10 s on two executors of two cores."""
    events = [*made.start(**{"spark.executor.instances": "2", "spark.executor.cores": "2", **properties})]
    events += [made.executor(id_, 1.0, cores=2, requested=0.5) for id_ in "12"]
    events.append(made.job_start(0, 2.0, [0]))
    waves = [(2.0 + 10.0 * (index // 4), "12"[index % 2]) for index in range(size)]
    ended = waves[-1][0] + 10.0
    events += made.stage_run(0, [(id_, began, began + 10.0) for began, id_ in waves], 2.0, ended)
    return [*events, made.job_end(0, ended), made.end(ended + 1.0)]


def test_a_plain_run_leaves_no_doubt(tmp_path: Path) -> None:
    """Its replay is exact, too."""
    found = studied(tmp_path, wide())
    assert found.doubts == ()
    assert (found.wall_error, found.executor_error) == (
        pytest.approx(0, abs=0.01),
        pytest.approx(0, abs=0.01),
    )


def test_ends_of_tasks_that_are_missing_are_told_and_made_up_for(tmp_path: Path) -> None:
    """With the median of their stage; Spark drops events when it has too many."""
    events = [one for one in wide(20) if one.get("Task Info", {}).get("Index") not in (3, 4, 9, 15, 17, 18)]
    remark = said(tmp_path, events)[RemarkCode.TASKS_MISSING]
    assert remark.text.startswith("the ends of 6 of 20 tasks are missing")
    assert "listenerbus" in remark.better
    known = understood(read(tmp_path, events))
    assert replay(known.work, known.settings).wall == pytest.approx(53.0, abs=0.1)


def test_a_stage_without_any_end_takes_as_long_as_it_did(tmp_path: Path) -> None:
    """Divided among the waves that its tasks need."""
    events = [one for one in wide(8) if "Task Info" not in one]
    events[-2:-2] = [made.job_start(1, 22.0, [1]), *made.stage_run(1, [("1", 22.0, 23.0)], 22.0, 23.0)]
    events[-2:] = [made.job_end(1, 23.0), made.end(24.0)]
    known = understood(read(tmp_path, events))
    assert known.work.stages[0].tasks == ((10.0,),) * 8
    assert replay(known.work, known.settings).wall == pytest.approx(24.0, abs=0.1)


def test_a_stage_that_failed_or_was_left_has_no_missing_ends(tmp_path: Path) -> None:
    """A job that needs only a part of it is cancelled, with a reason."""
    events = [one for one in wide() if one.get("Task Info", {}).get("Index") != 5]
    events[-3]["Stage Info"]["Failure Reason"] = "Stage cancelled"
    assert RemarkCode.TASKS_MISSING not in said(tmp_path, events)


@pytest.mark.parametrize(
    "odd",
    [
        made.executor("3", 51_228_000.0),
        made.removed("2", -500.0),
        made.task(0, 5, "2", 12.0, 7.0),
        made.task(0, 5, "2", -90.0, -80.0),
        made.task(0, 5, "2", 12.0, 9e6),
        made.job_end(0, -3.0),
        made.stage_completed(0, 6, 2.0, -7.0),
    ],
    ids=lambda event: str(event["Event"]),
)
def test_a_time_that_cannot_be_is_told_and_moved(tmp_path: Path, odd: dict[str, Any]) -> None:
    """Into the application's time: no number of a report is negative, or of years."""
    events = wide()
    same = [place for place, one in enumerate(events) if one["Event"] == odd["Event"]]
    if odd["Event"] in ("SparkListenerExecutorAdded", "SparkListenerExecutorRemoved"):
        events.insert(-2, odd)
    else:
        events[same[-1]] = odd
    found = studied(tmp_path, events)
    assert RemarkCode.CLOCK in {remark.code for remark in found.doubts}
    recording = found.recording
    times = [time for one in recording.executors for time in (one.added, one.removed) if time is not None]
    times += [
        time for one in recording.stages for time in (one.submitted, *one.tasks.launched, *one.tasks.finished)
    ]
    assert all(0 <= time <= recording.wall for time in times)
    assert recording.wall == 23.0
    assert found.replayed.outcome is not None
    assert 0 < found.replayed.outcome.wall < 60
    assert 0 <= found.truth.executor_seconds <= 3 * 23.0


@pytest.mark.parametrize("shift", [-1e6, 1e6])
def test_a_start_or_an_end_that_is_wrong_gives_way_to_the_tasks(tmp_path: Path, shift: float) -> None:
    """Where most tasks lie outside of it."""
    events = wide()
    place = 2 if shift > 0 else -1
    events[place] = {**events[place], "Timestamp": events[place]["Timestamp"] + round(shift * 1000)}
    found = studied(tmp_path, events)
    assert RemarkCode.CLOCK in {remark.code for remark in found.doubts}
    assert 20.0 <= found.recording.wall <= 23.0


def test_a_log_without_its_configuration_says_so(tmp_path: Path) -> None:
    """As where the line of it is damaged."""
    events = wide()
    del events[1]
    assert RemarkCode.NO_CONFIGURATION in said(tmp_path, events)


def test_tasks_that_may_follow_the_cores_are_told(tmp_path: Path) -> None:
    """Exactly as many as there were cores; not where the program, or the configuration, says how many."""
    remark = said(tmp_path, wide(4))[RemarkCode.TASKS_FOLLOW_CORES]
    assert remark.text.startswith("stage 0 had exactly as many tasks (4) as there were cores")
    assert "spark.default.parallelism" in remark.better
    assert said(tmp_path, wide(4, **{"spark.default.parallelism": "4"})) == {}
    assert said(tmp_path, wide(5)) == {}


def test_more_executors_than_were_asked_for_are_told_and_replayed(tmp_path: Path) -> None:
    """Whoever asked for the third one."""
    events = wide(12, **{"spark.executor.instances": "1"})
    found = said(tmp_path, events)
    assert found[RemarkCode.MORE_CAME].text == (
        "the application requested 1 executors and got 2: the replay uses 2"
    )
    assert understood(read(tmp_path, events)).settings.instances == 2


def test_more_executors_that_ran_no_task_are_left_out(tmp_path: Path) -> None:
    """One that came when the work was done is of no use to anybody."""
    events = wide(12)
    events.insert(-2, made.executor("9", 31.0, cores=2))
    assert RemarkCode.MORE_CAME not in said(tmp_path, events)
    assert understood(read(tmp_path, events)).settings.instances == 2


def test_a_large_error_is_told_with_its_cause(tmp_path: Path) -> None:
    """And how far to trust what follows; the replay of the recorded run loses nothing."""
    found = studied(tmp_path, died("ExecutorLostFailure"))
    first = found.doubts[0]
    assert found.wall_error == pytest.approx(107 / 207 - 1, abs=0.01)
    assert first.code is RemarkCode.LARGE_ERROR
    assert "48% off, probably because executors were lost" in first.text


def test_every_cause_of_an_error_is_a_code_that_exists() -> None:
    """And has words."""
    assert all(isinstance(code, RemarkCode) and words for code, words in CAUSES.items())


def test_a_full_cluster_is_told_where_the_rules_ask_for_more(tmp_path: Path) -> None:
    """With the option that replays it."""
    events = wide(12, **{"spark.dynamicAllocation.enabled": "true"})
    events[1]["Spark Properties"].pop("spark.executor.instances")
    found = said(tmp_path, events)
    assert RemarkCode.CLUSTER_FULL in found
    assert found[RemarkCode.CLUSTER_FULL].better.endswith("add --capacity 2")


def test_where_no_replay_ends_no_error_is_known(tmp_path: Path) -> None:
    """No resource of the executors: nobody ever runs a task; and there is no limit."""
    events = wide(
        12, **{"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.maxExecutors": "1"}
    )
    events[1]["Spark Properties"] |= {"spark.dynamicAllocation.executorAllocationRatio": "0"}
    events[1]["Spark Properties"].pop("spark.executor.instances")
    found = studied(tmp_path, events)
    assert found.replayed.outcome is None
    assert (found.wall_error, found.executor_error, found.facts.limit) == (None, None, None)
    assert found.stuck == (found.replayed,)
    assert not math.isinf(found.truth.wall)
