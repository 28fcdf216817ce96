"""What a recorded run lost is told, and taken out of the replay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sparkgen.whatif.losses import losses
from sparkgen.whatif.recorded import understood
from sparkgen.whatif.remark import RemarkCode
from sparkgen.whatif.replay import replay, with_fixed
from tests.unit.eventlog import event_log as made
from tests.unit.whatif.test_recorded import doubt, read


def replaced(*, told: bool) -> list[dict[str, Any]]:
    """Forty tasks of 30 s on two executors, both of which are lost at 312 s; two others come at 332 s."""
    events = [*made.start(**{"spark.executor.instances": "2"})]
    events += [made.executor(id_, 10.0, requested=1.0 if told else None) for id_ in "12"]
    events += [made.job_start(0, 12.0, [0]), made.stage_submitted(0, 40, 12.0)]
    for index in range(40):
        pair = "12" if index < 20 else "34"
        began = 12.0 + 30.0 * (index // 2) + (0.0 if index < 20 else 20.0)
        if index in (20, 21):
            events.append(made.removed("12"[index - 20], 312.0, "node reclaimed"))
            events.append(made.executor(pair[index - 20], 332.0, requested=313.0 if told else None))
        events.append(made.task(0, index, pair[index % 2], began, began + 30.0))
    return [*events, made.stage_completed(0, 40, 12.0, 632.0), made.job_end(0, 632.0), made.end(633.0)]


@pytest.mark.parametrize("told", [True, False])
def test_an_executor_that_replaced_a_lost_one_is_none_of_the_first(tmp_path: Path, told: bool) -> None:
    """Four executors take ten waves of 30 s; a replacement's delay is that since the loss."""
    recording = read(tmp_path, replaced(told=told))
    known = understood(recording)
    assert known.settings.instances == 2
    assert known.work.first_delays == (10.0, 10.0)
    assert known.work.start_delays == pytest.approx((19.0, 19.0) if told else (20.0, 20.0))
    assert replay(known.work, with_fixed(known.settings, 4)).wall == pytest.approx(313.0, abs=0.1)


def test_what_was_lost_is_told_with_its_cause(tmp_path: Path) -> None:
    """With the ids of the executors, and what to do."""
    said = doubt(read(tmp_path, replaced(told=True)), RemarkCode.EXECUTORS_LOST)
    assert said.text.startswith("the recorded run lost 2 executors (1, 2): the replay loses nothing")
    assert "--spot-losses" in said.better


def died(reason: str) -> list[dict[str, Any]]:
    """Two tasks of 100 s; one of them ends after 90 s for a reason, and runs again when the other is done."""
    events = [
        *made.start(**{"spark.executor.instances": "2"}),
        made.executor("1", 5.0),
        made.executor("2", 5.0),
    ]
    events += [made.job_start(0, 6.0, [0]), made.stage_submitted(0, 2, 6.0)]
    events += [made.removed("1", 96.0, "spot")] if reason == "ExecutorLostFailure" else []
    events += [made.task(0, 0, "1", 6.0, 96.0, reason), made.task(0, 1, "2", 6.0, 106.0)]
    events += [made.task(0, 0, "2", 106.0, 206.0, attempt=1), made.stage_completed(0, 2, 6.0, 206.0)]
    return [*events, made.job_end(0, 206.0), made.end(207.0)]


@pytest.mark.parametrize(
    ("reason", "wall"),
    [
        ("ExecutorLostFailure", 107.0),
        ("FetchFailed", 107.0),
        ("TaskCommitDenied", 107.0),
        ("ExceptionFailure", 197.0),
    ],
)
def test_only_a_failure_of_the_task_fails_again(tmp_path: Path, reason: str, wall: float) -> None:
    """An attempt that died with its executor is no failure of its task."""
    known = understood(read(tmp_path, died(reason)))
    assert replay(known.work, known.settings).wall == pytest.approx(wall, abs=0.1)


def test_output_that_was_lost_is_no_task(tmp_path: Path) -> None:
    """Spark tells the end of the task a second time, with the same times."""
    again = made.task(0, 1, "2", 6.0, 106.0, "Resubmitted")
    events = died("ExecutorLostFailure")
    recording = read(tmp_path, [*events[:-3], again, *events[-3:]])
    assert recording.lost_output == 1
    assert recording.task_seconds == pytest.approx(90.0 + 100.0 + 100.0)
    assert losses(recording, dynamic=False).outputs == 1
    assert "the output of 1 task" in doubt(recording, RemarkCode.EXECUTORS_LOST).text


def test_stages_that_ran_again_are_done_once(tmp_path: Path) -> None:
    """The first attempt of the reader failed at its second task; the writer ran one task again."""
    events = [
        *made.start(**{"spark.executor.instances": "1"}),
        made.executor("1", 1.0),
        made.job_start(0, 1.0, [0, 1]),
    ]
    events += made.stage_run(0, [("1", 1.0, 3.0), ("1", 3.0, 5.0)], 1.0, 5.0)
    failed = made.stage_completed(1, 2, 5.0, 9.0, [0])
    failed["Stage Info"]["Failure Reason"] = "FetchFailed"
    events += [made.stage_submitted(1, 2, 5.0, [0]), made.task(1, 0, "1", 5.0, 8.0)]
    events += [made.task(1, 1, "1", 8.0, 9.0, "FetchFailed"), failed]
    events += [made.stage_submitted(0, 1, 9.0, attempt=1), made.task(0, 0, "1", 9.0, 11.0, stage_attempt=1)]
    events += [
        made.stage_completed(0, 1, 9.0, 11.0, attempt=1),
        made.stage_submitted(1, 1, 11.0, [0], attempt=1),
    ]
    events += [
        made.task(1, 0, "1", 11.0, 14.0, stage_attempt=1),
        made.stage_completed(1, 1, 11.0, 14.0, [0], attempt=1),
    ]
    recording = read(tmp_path, [*events, made.job_end(0, 14.0), made.end(14.0)])
    known = understood(recording)
    assert [(stage.id, stage.tasks) for stage in known.work.stages] == [
        (0, ((2.0,), (2.0,))),
        (1, ((3.0,), (3.0,))),
    ]
    assert replay(known.work, known.settings).wall == pytest.approx(1.0 + 4.0 + 6.0, abs=0.1)
    assert "ran 2 stages again" in doubt(recording, RemarkCode.EXECUTORS_LOST).text


@pytest.mark.parametrize(
    ("reason", "dynamic", "count"),
    [
        ("Executor killed by driver.", True, 0),
        ("Container c1 exited from explicit termination request.", True, 0),
        ("Executor killed by driver.", False, 1),
        ("worker lost", True, 1),
        ("", True, 1),
    ],
)
def test_an_executor_that_spark_let_go_is_not_lost(
    tmp_path: Path, reason: str, dynamic: bool, count: int
) -> None:
    """Only dynamic allocation lets one go before the work is done."""
    events = made.small()
    events.insert(-5, made.removed("2", 6.0, reason))
    assert len(losses(read(tmp_path, events), dynamic=dynamic).executors) == count


def test_an_executor_that_goes_when_the_work_is_done_is_not_lost(tmp_path: Path) -> None:
    """As in every log."""
    assert not losses(read(tmp_path, made.small()), dynamic=False)
