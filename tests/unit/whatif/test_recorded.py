"""Recorded applications as work, and their own configuration replayed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sparkgen.eventlog import Recording, read_recording
from sparkgen.whatif.doubts import doubts
from sparkgen.whatif.outcome import recorded
from sparkgen.whatif.recorded import NotReplayable, recorded_properties, understood
from sparkgen.whatif.remark import Remark, RemarkCode
from sparkgen.whatif.replay import replay
from tests.unit.eventlog import event_log as made
from tests.unit.whatif.workloads import work_of


def read(folder: Path, events: list[dict[str, Any]]) -> Recording:
    """The recording of these events."""
    (folder / "log").write_bytes(made.text(events))
    return read_recording(str(folder / "log"))


def doubt(recording: Recording, code: RemarkCode) -> Remark:
    """What is said of a recording under a code."""
    known = understood(recording)
    found = [*known.work.assumed, *doubts(recording, recorded_properties(recording), known.lost)]
    (said,) = (remark for remark in found if remark.code is code)
    return said


def test_the_recorded_configuration_gives_what_was_recorded(tmp_path: Path) -> None:
    """To a tenth of a second, where nothing but the laws is in the log."""
    recording = read(tmp_path, made.small())
    settings, work = work_of(recording)
    outcome, truth = replay(work, settings), recorded(recording, settings.slots)
    assert outcome.wall == pytest.approx(truth.wall, abs=0.1)
    assert outcome.task_seconds == pytest.approx(truth.task_seconds)
    assert outcome.most == truth.most == 2
    assert outcome.executor_seconds == pytest.approx(truth.executor_seconds, abs=1.0)


def test_gaps_of_the_driver_are_kept(tmp_path: Path) -> None:
    """Before the first job, between jobs, and after the last."""
    events = [
        *made.start(**{"spark.executor.instances": "1"}),
        made.executor("1", 1.0),
        made.job_start(0, 3.0, [0]),
        made.stage_submitted(0, 1, 3.5),
        made.task(0, 0, "1", 3.5, 5.0),
        made.stage_completed(0, 1, 3.5, 5.0),
        made.job_end(0, 5.5),
        made.job_start(1, 9.5, [1]),
        made.stage_submitted(1, 1, 9.5),
        made.task(1, 0, "1", 9.5, 10.0),
        made.stage_completed(1, 1, 9.5, 10.0),
        made.job_end(1, 10.0),
        made.end(12.0),
    ]
    _, work = work_of(read(tmp_path, events))
    assert [job.gap for job in work.jobs] == pytest.approx([2.0, 4.0])
    assert [job.after for job in work.jobs] == [(), (0,)]
    assert work.jobs[0].tail == pytest.approx(0.5)
    assert work.stages[0].gap == pytest.approx(0.5)
    assert work.tail == pytest.approx(2.0)


def test_jobs_that_ran_together_wait_for_the_same(tmp_path: Path) -> None:
    """And the next one waits for both, not for what both had waited for."""
    events = [*made.start(), made.executor("1", 0.5)]
    for number, (began, ended) in enumerate([(1.0, 2.0), (3.0, 6.0), (3.5, 7.0), (8.0, 9.0)]):
        events += [
            made.job_start(number, began, [number]),
            made.stage_submitted(number, 1, began),
            made.task(number, 0, "1", began, ended),
            made.stage_completed(number, 1, began, ended),
            made.job_end(number, ended),
        ]
    _, work = work_of(read(tmp_path, [*events, made.end(9.0)]))
    assert [job.after for job in work.jobs] == [(), (0,), (0,), (1, 2)]


def test_the_driver_takes_its_time_to_launch_a_stage(tmp_path: Path) -> None:
    """Where a slot was free; where none was, the stage waited for that."""
    events = [*made.start(**{"spark.executor.instances": "1"}), made.executor("1", 0.5)]
    events += [
        made.job_start(0, 1.0, [0, 1]),
        made.stage_submitted(0, 1, 1.0),
        made.stage_submitted(1, 1, 3.0),
    ]
    events += [made.task(0, 0, "1", 2.0, 6.0), made.task(1, 0, "1", 6.0, 8.0)]
    events += [made.stage_completed(0, 1, 1.0, 6.0), made.stage_completed(1, 1, 3.0, 8.0)]
    recording = read(tmp_path, [*events, made.job_end(0, 8.0), made.end(8.0)])
    settings, work = work_of(recording)
    assert [stage.launch for stage in work.stages] == [1.0, 0.0]
    assert replay(work, settings).wall == pytest.approx(8.0, abs=0.1)


def test_what_first_tasks_take_longer_is_measured(tmp_path: Path) -> None:
    """In stages where most tasks were not the first ones."""
    events = [
        *made.start(),
        made.executor("1", 0.5),
        made.job_start(0, 1.0, [0]),
        made.stage_submitted(0, 4, 1.0),
    ]
    events += [made.task(0, n, "1", at, end) for n, (at, end) in enumerate([(1, 4), (4, 5), (5, 6), (6, 7)])]
    events += [made.stage_completed(0, 4, 1.0, 7.0), made.job_end(0, 7.0), made.end(7.0)]
    _, work = work_of(read(tmp_path, events))
    assert work.warm_up == pytest.approx(2.0)
    assert work.stages[0].tasks == ((1.0,),) * 4


def test_the_first_executors_are_those_that_no_job_asked_for(tmp_path: Path) -> None:
    """They come with the application, whenever its driver asks; what they took since then is usual."""
    events = [*made.start(), made.executor("1", 30.0, requested=20.0), made.job_start(0, 40.0, [0])]
    events += [made.stage_submitted(0, 2, 40.0), made.executor("2", 48.0, requested=41.0)]
    events += [made.task(0, 0, "1", 40.0, 60.0), made.task(0, 1, "2", 48.0, 60.0)]
    events += [made.stage_completed(0, 2, 40.0, 60.0), made.job_end(0, 60.0), made.end(60.0)]
    recording = read(tmp_path, events)
    _, work = work_of(recording)
    assert work.first_delays == (30.0,)
    assert work.start_delays == pytest.approx((7.0,))
    assert work.usual_delay == pytest.approx(8.5)
    assert recorded(recording, 1).pods[-2:] == ((41.0, 2), (60.0, 0))


def test_first_executors_that_sparkgen_started_say_less_of_later_ones(tmp_path: Path) -> None:
    """Their pods are there before the driver asks; an executor that was asked for later says all."""
    begun = [*made.start(**{"spark.master": "sparkgen://127.0.0.1:7090"}), made.job_start(0, 8.0, [0])]
    begun += [made.executor("1", 5.0, requested=1.0), made.stage_submitted(0, 1, 8.0)]
    ended = [made.task(0, 0, "1", 8.0, 60.0), made.stage_completed(0, 1, 8.0, 60.0), made.job_end(0, 60.0)]
    _, work = work_of(read(tmp_path, [*begun, *ended, made.end(60.0)]))
    assert work.usual_delay == pytest.approx(5.0)
    assert [remark.code for remark in work.assumed] == ["DelayAssumed"]
    later = made.executor("2", 17.5, requested=11.0)
    _, work = work_of(read(tmp_path, [*begun, later, *ended, made.end(60.0)]))
    assert (work.usual_delay, work.assumed) == (pytest.approx(6.5), ())


def test_executors_that_never_came_are_not_replayed(tmp_path: Path) -> None:
    """A cluster that gave two of nine hundred would give two again; it is said."""
    events = made.small()
    events[1]["Spark Properties"] = {"spark.executor.instances": "900"}
    recording = read(tmp_path, events)
    settings, _ = work_of(recording)
    assert settings.instances == 2
    said = doubt(recording, RemarkCode.FEWER_CAME)
    assert said.text.startswith("the application requested 900 executors and got 2")


def test_the_default_of_shuffle_tracking_is_that_of_the_version(tmp_path: Path) -> None:
    """It is on since Spark 3.4."""
    for version, tracking in (("3.3.2", False), ("3.4.4", True), ("4.0.1", True)):
        events = made.small()
        events[:3] = made.start(version, **{"spark.dynamicAllocation.enabled": "true"})
        settings, _ = work_of(read(tmp_path, events))
        assert settings.dynamic is not None
        assert settings.dynamic.tracking is tracking


def test_a_job_that_uses_an_older_stage_does_not_run_it_again(tmp_path: Path) -> None:
    """A stage that was skipped has no tasks in the log."""
    events = [*made.small()[:-2]]
    events += [
        made.job_start(1, 9.2, [0, 2]),
        made.stage_submitted(2, 1, 9.2, [0]),
        made.task(2, 0, "2", 9.2, 9.4),
        made.stage_completed(2, 1, 9.2, 9.4, [0]),
        made.job_end(1, 9.4),
        made.end(10.0),
    ]
    _, work = work_of(read(tmp_path, events))
    assert [job.stages for job in work.jobs] == [(0, 1), (2,)]
    assert work.stages[2].after == ()


def test_a_log_without_tasks_or_executors_is_refused(tmp_path: Path) -> None:
    """With the reason."""
    with pytest.raises(NotReplayable, match="no task finished"):
        work_of(read(tmp_path, [*made.start(), made.end(1.0)]))
    local = [*made.start(**{"spark.master": "local[2]"}), *made.small()[3:]]
    with pytest.raises(NotReplayable, match="local mode"):
        work_of(read(tmp_path, local))
