"""What is said of a recording beside numbers: each remark when there is a reason, and not without one."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from sparkgen.eventlog import read_recording
from sparkgen.whatif.configuration import Configuration
from sparkgen.whatif.findings import Facts, advice, limit
from sparkgen.whatif.outcome import Outcome
from sparkgen.whatif.remark import RemarkCode
from sparkgen.whatif.study import Question, study
from tests.unit.eventlog import event_log as made

QUIET = Facts(0.0, 10.0, 4, (), 0, 0.0, 1000, 900, 0.0, 0.0)
RECORDED = Outcome(100.0, 400.0, 400.0, 380.0, ((0.0, 0),), ((0.0, 0),), 4, (), 1)
SETTINGS = Configuration(instances=4)


def codes(facts: Facts, settings: Configuration = SETTINGS, outcome: Outcome = RECORDED) -> list[RemarkCode]:
    """The codes of what is said."""
    return [remark.code for remark in advice(facts, outcome, settings)]


def test_the_facts_keep_their_names() -> None:
    """`sparkgen whatif --json` writes all of them under these keys, also those that no report mentions."""
    assert " ".join(asdict(QUIET)) == (
        "driver_only critical_path limit skewed spilled gc heap_asked heap_used failed_seconds held"
    )


def test_without_a_reason_nothing_is_said() -> None:
    """An application that uses what it has."""
    assert codes(QUIET) == []


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        (replace(QUIET, heap_used=499), RemarkCode.MEMORY_UNUSED),
        (replace(QUIET, limit=3), RemarkCode.EXECUTORS_BEYOND_LIMIT),
        (replace(QUIET, spilled=1 << 30), RemarkCode.SPILLED),
        (replace(QUIET, gc=0.2), RemarkCode.GARBAGE_COLLECTION),
        (replace(QUIET, driver_only=31.0), RemarkCode.NO_TASK_RAN),
    ],
)
def test_each_reason_is_said(facts: Facts, code: RemarkCode) -> None:
    """Alone."""
    assert codes(facts) == [code]


def test_memory_that_nobody_measured_is_not_unused() -> None:
    """A log without peaks says nothing of them."""
    assert codes(replace(QUIET, heap_used=0)) == []


def test_executors_that_shuffle_output_holds_are_said_from_a_tenth_of_their_time_on() -> None:
    """A few seconds are not worth a change."""
    assert codes(replace(QUIET, held=41.0)) == [RemarkCode.IDLE_HELD_BY_SHUFFLE]
    assert codes(replace(QUIET, held=39.0)) == []


@pytest.mark.parametrize(
    ("more", "held"),
    [
        (
            {},
            2.5,
        ),  # executor 2 ends its task at 5 s and is removed at 9.5 s; executor 1 is idle for 1 s, twice
        ({"executorIdleTimeout": "500ms"}, 4.0 + 0.5 + 0.5),
        ({"executorIdleTimeout": "60s"}, 0.0),
        ({"shuffleTracking.enabled": "false"}, 0.0),
    ],
)
def test_what_shuffle_tracking_holds_is_counted_past_the_idle_timeout(
    tmp_path: Path, more: dict[str, str], held: float
) -> None:
    """Between tasks and until the executor's end, from its first output on."""
    events = made.small()
    settings = {"enabled": "true", "executorIdleTimeout": "2s", **more}
    events[1]["Spark Properties"] |= {f"spark.dynamicAllocation.{k}": v for k, v in settings.items()}
    (tmp_path / "log").write_bytes(made.text(events))
    found = study(read_recording(str(tmp_path / "log")), Question())
    assert found.facts.held == pytest.approx(held)


@pytest.mark.parametrize("right", [1, 2, 3, 7, 8, 9, 63, 64])
def test_the_limit_is_the_fewest_that_are_as_fast(right: int) -> None:
    """Between powers of two, too, and with few replays."""
    asked: list[int] = []

    def wall(count: int) -> float:
        asked.append(count)
        return 100.0 / min(count, right)

    assert limit(wall, 64) == right or math.isclose(wall(limit(wall, 64)), wall(right), rel_tol=0.02)
    assert len(asked) < 40


def test_a_limit_of_a_large_log_takes_few_replays() -> None:
    """A replay of a gigabyte takes seconds: of many executors, a limit may be a twentieth too high."""
    tried: list[int] = []

    def wall(count: int) -> float:
        tried.append(count)
        return 1000.0 / min(count, 1500)

    assert 1500 * 0.99 <= limit(wall, 4000) <= 1500 * 1.05
    assert len(tried) <= 14
