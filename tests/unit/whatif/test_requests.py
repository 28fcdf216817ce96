"""When executors were asked for, in logs that do not say it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sparkgen.whatif.recorded import understood
from sparkgen.whatif.remark import RemarkCode
from sparkgen.whatif.replay import replay
from tests.unit.eventlog import event_log as made
from tests.unit.whatif.test_recorded import doubt, read

DYNAMIC = {"spark.dynamicAllocation.enabled": "true", "spark.executor.cores": "1"}


def backlog(version: str = "3.3.2", **more: str) -> list[dict[str, Any]]:
    """Six tasks wait from 10 s on. Spark asks for 1, 2 and 3 executors at 11, 12, 13 s; each takes 5 s."""
    events = [
        *made.start(version, **DYNAMIC, **more),
        made.job_start(0, 10.0, [0]),
        made.stage_submitted(0, 6, 10.0),
    ]
    rows = []
    for index, added in enumerate([16.0, 17.0, 17.0, 18.0, 18.0, 18.0]):
        events.append(made.executor(str(index + 1), added))
        rows.append(made.task(0, index, str(index + 1), added, added + 20.0))
    return [*events, *rows, made.stage_completed(0, 6, 10.0, 38.0), made.job_end(0, 38.0), made.end(40.0)]


def test_delays_follow_from_the_tasks_that_waited(tmp_path: Path) -> None:
    """Not from the application's start, as if all had come with it."""
    recording = read(tmp_path, backlog())
    known = understood(recording)
    assert known.work.first_delays == ()
    assert known.work.start_delays == pytest.approx((5.0,) * 6, abs=0.11)
    assert known.work.usual_delay == pytest.approx(5.0, abs=0.11)
    assert replay(known.work, known.settings).wall == pytest.approx(40.0, abs=0.3)
    said = doubt(recording, RemarkCode.DELAY_INFERRED)
    assert "Spark 3.4 or newer" in said.better


def test_the_first_executors_of_dynamic_allocation_come_with_the_application(tmp_path: Path) -> None:
    """As many as are asked for at first."""
    known = understood(read(tmp_path, backlog(**{"spark.dynamicAllocation.initialExecutors": "2"})))
    assert known.work.first_delays == (16.0, 17.0)
    assert len(known.work.start_delays) == 4


def test_an_executor_whose_request_was_withdrawn_came_for_it(tmp_path: Path) -> None:
    """Spark wants fewer when tasks end, and an executor that starts meanwhile comes all the same."""
    events = [*made.start("3.3.2", **DYNAMIC), made.job_start(0, 10.0, [0]), made.stage_submitted(0, 2, 10.0)]
    events += [made.executor("1", 14.0), made.task(0, 0, "1", 14.0, 14.5), made.task(0, 1, "1", 14.5, 15.0)]
    events += [
        made.stage_completed(0, 2, 10.0, 15.0),
        made.job_end(0, 15.0),
        made.executor("2", 16.0),
        made.end(20.0),
    ]
    asked = dict(zip("12", understood(read(tmp_path, events)).asked, strict=True))
    assert asked == {"1": pytest.approx(11.0, abs=0.11), "2": pytest.approx(12.0, abs=0.11)}


def test_an_executor_that_nobody_asked_for_says_nothing_of_delays(tmp_path: Path) -> None:
    """Its cluster may have settings of its own."""
    events = [*made.start("3.3.2", **DYNAMIC), made.executor("9", 1.0), *backlog()[3:]]
    known = understood(read(tmp_path, events))
    assert known.asked[-1] == 1.0
    assert 0.0 not in known.work.start_delays
    assert len(known.work.start_delays) == 5
