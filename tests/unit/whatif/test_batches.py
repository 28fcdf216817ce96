"""Micro-batches of streams, and the clock that begins them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sparkgen.eventlog import read_recording
from sparkgen.whatif.outcome import recorded
from sparkgen.whatif.replay import replay, with_fixed
from sparkgen.whatif.workload import Workload
from tests.unit.eventlog import event_log as made
from tests.unit.whatif.workloads import work_of


def streamed(folder: Path, *begins: float, stream: str = "s") -> Any:
    """The recording of batches of two tasks of 1.5 s on two executors that begin then."""
    events = [*made.start(**{"spark.executor.instances": "2"})]
    events += [made.executor(id_, 1.0) for id_ in ("1", "2")]
    for number, began in enumerate(begins):
        named = {"streaming.sql.batchId": str(number), "sql.streaming.queryId": stream}
        events += [
            made.job_start(number, began, [number], **named),
            made.stage_submitted(number, 2, began),
            *(made.task(number, task, "12"[task], began, began + 1.5) for task in (0, 1)),
            made.stage_completed(number, 2, began, began + 1.5),
            made.job_end(number, began + 1.5),
        ]
    (folder / "log").write_bytes(made.text([*events, made.end(begins[-1] + 1.5)]))
    return read_recording(str(folder / "log"))


def begins(work: Workload, executors: int, recording: Any) -> list[float]:
    """When the batches begin on so many executors."""
    settings, _ = work_of(recording)
    return [span.began for span in replay(work, with_fixed(settings, executors)).stages]


def test_batches_that_waited_for_a_clock_begin_by_it(tmp_path: Path) -> None:
    """The first begins at once, the second late; from then on every 4 s, the driver's 0.2 s included."""
    recording = streamed(tmp_path, 2.0, 3.7, 6.2, 10.2, 14.2)
    settings, work = work_of(recording)
    assert [job.gap for job in work.jobs[1:]] == pytest.approx([0.2, 0.2, 0.2, 0.2])
    (clock,) = {job.batch.clock for job in work.jobs if job.batch}
    assert clock is not None
    assert (clock.interval, clock.first) == pytest.approx((4.0, 6.2))
    assert begins(work, 2, recording) == pytest.approx([2.0, 3.7, 6.2, 10.2, 14.2], abs=0.01)
    assert replay(work, settings).wall == pytest.approx(recorded(recording, 1).wall, abs=0.05)
    assert [remark.code for remark in work.assumed if "clock" in remark.text] == ["TriggerPhase"]


def test_a_batch_that_is_late_begins_at_once_and_the_next_one_by_the_clock(tmp_path: Path) -> None:
    """On one executor each batch takes 3 s: no wait is added to that."""
    recording = streamed(tmp_path, 2.0, 3.7, 6.2, 10.2, 14.2)
    _, work = work_of(recording)
    assert begins(work, 1, recording) == pytest.approx([2.0, 5.2, 8.4, 11.6, 14.8], abs=0.01)


def test_without_a_clock_a_batch_begins_no_sooner_than_it_did(tmp_path: Path) -> None:
    """As where it waits for data, whenever that comes."""
    recording = streamed(tmp_path, 2.0, 3.7, 8.0, 10.0, 17.0, 23.0)
    _, work = work_of(recording)
    assert {job.batch.clock for job in work.jobs if job.batch} == {None}
    assert begins(work, 4, recording) == pytest.approx([2.0, 3.7, 8.0, 10.0, 17.0, 23.0], abs=0.01)
    assert not [remark for remark in work.assumed if remark.code == "TriggerPhase"]
