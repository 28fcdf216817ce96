"""The event logs of Spark's own tests: of Spark 1.2 to 3.3, in local mode and with executors."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from spark import published_logs
from sparkgen.eventlog import read_recording
from sparkgen.whatif.outcome import recorded
from sparkgen.whatif.recorded import NotReplayable, understood
from sparkgen.whatif.replay import replay


@pytest.fixture(scope="module")
def logs() -> list[Path]:
    """All of them."""
    found = sorted(path for path in published_logs.ensure().iterdir() if path.is_file())
    assert len(found) == 18
    return found


def test_they_are_read_without_a_loss(logs: list[Path]) -> None:
    """No line is broken, and every job, stage, task and executor of the text is in the recording."""
    for log in logs:
        events = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
        kinds = Counter(event["Event"] for event in events)
        read = read_recording(str(log))
        assert (read.reading.broken, read.reading.cut_off, read.reading.lines) == (0, 0, len(events)), log
        assert len(read.jobs) == kinds["SparkListenerJobStart"], log
        assert sum(len(stage.tasks) for stage in read.stages) == kinds["SparkListenerTaskEnd"], log
        added = {one["Executor ID"] for one in events if one["Event"] == "SparkListenerExecutorAdded"}
        assert added <= {executor.id for executor in read.executors}, log


def test_those_with_executors_replay_near_the_truth(logs: list[Path]) -> None:
    """Eight of them; the others ran in local mode, or have no task."""
    errors = {}
    for log in logs:
        read = read_recording(str(log))
        try:
            found = understood(read)
        except NotReplayable:
            continue
        truth = recorded(read, found.settings.slots)
        errors[log.name] = replay(found.work, found.settings).wall / truth.wall - 1
    assert len(errors) == 8
    assert max(map(abs, errors.values())) < 0.08, errors
