"""Laws of what-if, over generated recordings: what is paid, what is printed, what more executors do."""

from __future__ import annotations

import json
import math
import re
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.errors import SparkgenError
from sparkgen.eventlog import Recording, read_recording
from sparkgen.whatif import json_report, overlay_report, page, text_report
from sparkgen.whatif.candidates import from_sets
from sparkgen.whatif.cluster import Cluster
from sparkgen.whatif.configuration import Configuration
from sparkgen.whatif.price_file import prices_of
from sparkgen.whatif.recorded import understood
from sparkgen.whatif.replay import ReplayStopped, replay, with_fixed
from sparkgen.whatif.study import SLOWER, Question, Study, price, study
from tests.property.recordings import Events, Made, damaged, recordings
from tests.unit.eventlog import event_log as made

PRICES = prices_of(
    b"{onDemand: {coreHour: 36, gibHour: 3.6}, spot: {coreHour: 3.6, gibHour: 0.36}}", "prices"
)
DAY = 86_400.0
REGISTERED_AT_ONCE = 0.01
"""Seconds of the model's rounds that may separate two replays that are the same by the law."""


def recording_of(events: Events) -> Recording:
    """The recording of these events."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "log").write_bytes(made.text(events))
        return read_recording(f"{folder}/log")


def studied(events: Events, *sets: str) -> Study:
    """The study of these events, with a search, a sweep and prices."""
    question = Question(from_sets(sets), search=True, sweep=True, prices=PRICES)
    return study(recording_of(events), question)


@given(recordings(), st.integers(1, 6), st.integers(0, 60))
def test_pods_that_never_run_cost_nothing(one: Made, capacity: int, more: int) -> None:
    """Whoever asks for more than there is room for pays what they pay who ask for as many as fit."""
    known = understood(recording_of(one.events))
    settings = replace(known.settings, registered_ratio=0.0)
    room = Cluster(capacity=capacity)
    fits = replay(known.work, with_fixed(settings, capacity), room)
    asked = replay(known.work, with_fixed(settings, capacity + more), room)
    assert asked.most <= capacity
    assert asked.pod_seconds <= capacity * asked.wall
    assert asked.pod_seconds == pytest.approx(fits.pod_seconds, rel=0.1, abs=1.0)
    assert asked.wall == pytest.approx(fits.wall, rel=0.1, abs=1.0)


def numbers(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Every number of a JSON value, with where it stands."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from numbers(one, f"{path}.{key}")
    elif isinstance(value, list):
        for one in value:
            yield from numbers(one, path)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value


SIGNED = (".error.wall", ".error.executorSeconds")
"""Numbers that may be negative."""


@given(damaged())
def test_no_number_is_negative_or_impossible(events: Events) -> None:
    """In JSON, text, HTML and overlay: whatever a log has of clocks, losses and gaps."""
    try:
        found = studied(events, "spec.executor.instances=1,3")
    except SparkgenError:
        return  # refused in words
    wall = found.recording.wall
    data = json.loads(json_report.text([found]), parse_constant=lambda word: pytest.fail(f"{word} in JSON"))
    for where, number in numbers(data["studies"]):
        assert math.isfinite(number), where
        assert number >= 0 or where in SIGNED or ".spec." in where, (where, number)
        if where.endswith(".idle") or where == ".facts.gc":
            assert number <= 1, (where, number)
    for run in (found.replayed, *found.runs):
        if run.outcome is not None:
            assert run.outcome.executor_seconds <= run.outcome.most * run.outcome.wall + 1e-6
            assert run.outcome.pod_seconds >= run.outcome.executor_seconds - 1e-6
    assert found.truth.executor_seconds <= len(found.recording.executors) * wall + 1e-6
    text = text_report.text(found)
    assert not re.search(r"(?<![\d.])-\d[\d.]*(?: (?:s|m|h|MiB|executor)\b)|\b(?:nan|inf)\b", text), text
    assert not re.search(
        r"[\s>\"]-\d|\bnan\b|\binf\b|Infinity",
        re.sub(
            r"<style>.*?</style>|<script>.*?</script>|[-+]\d+\.\d%", "", page.text(found), flags=re.DOTALL
        ),
    )
    if found.best is not None:
        assert "nan" not in overlay_report.text(found, found.best)


@given(damaged())
def test_a_replay_ends_or_is_an_error(events: Events) -> None:
    """A run without a result says why, and nothing is said to be exact or best beside it."""
    try:
        found = studied(events, "spec.executor.instances=0,2")
    except SparkgenError:
        return
    never = next(run for run in found.runs if run.label == "executor.instances=0")
    if found.replayed.settings.dynamic is None:
        assert never in found.stuck
    for run in found.stuck:
        assert "the replay is stuck" in run.stopped
        assert (run.cost, run.span) == (None, None)
        assert found.best is not run
    if found.replayed.outcome is None:
        assert (found.wall_error, found.executor_error, found.best, found.loss) == (None, None, None, None)


@given(recordings())
def test_the_best_is_the_cheapest_of_those_that_are_fast_enough(one: Made) -> None:
    """And is dearer than what was recorded only where that is said."""
    found = studied(one.events, "spec.executor.instances=1,2,4")
    assert found.baseline.outcome is not None
    most = found.baseline.outcome.wall * SLOWER
    fast = [run for run in found.runs if run.outcome is not None and run.outcome.wall <= most]
    if found.best is None:
        assert fast == []
        return
    assert found.best in fast
    assert price(found.best) == min(map(price, fast))
    assert found.best_costs_more == (price(found.baseline) < price(found.best))
    said = "the recorded configuration costs less" in text_report.text(found).lower()
    assert said == found.best_costs_more


def bound(settings: Configuration, longest: float) -> float:
    """How much longer a replay with more executors may be: a scheduler that looks at no lengths is greedy.

    By Graham's law no schedule of one stage is longer than the best by more than its longest task.
    """
    return longest * (1 - 1 / max(1, settings.instances * settings.slots)) + REGISTERED_AT_ONCE


@given(recordings(dynamic=False), st.integers(1, 6), st.integers(1, 6))
def test_more_executors_are_slower_by_no_more_than_a_task_of_each_stage(
    one: Made, count: int, more: int
) -> None:
    """The rule: of each stage its longest task, as tasks go to slots in the order of the log."""
    known = understood(recording_of(one.events))
    few = replace(with_fixed(known.settings, count), registered_ratio=0.0)
    many = replace(with_fixed(known.settings, count + more), registered_ratio=0.0)
    slack = sum(bound(few, stage.longest) for stage in known.work.stages) + known.work.warm_up * len(
        known.work.stages
    )
    assert replay(known.work, many).wall <= replay(known.work, few).wall + slack


@given(recordings(dynamic=False), st.integers(1, 4))
def test_more_room_is_never_slower(one: Made, room: int) -> None:
    """A cluster that has room for all that is asked for is as fast as one without a bound."""
    known = understood(recording_of(one.events))
    settings = replace(known.settings, registered_ratio=0.0)
    free = replay(known.work, settings).wall
    enough = replay(known.work, settings, Cluster(capacity=settings.instances + room)).wall
    assert enough == pytest.approx(free)


@given(damaged())
def test_nothing_but_words_refuses_a_log(events: Events) -> None:
    """A log that no replay can answer for ends in a sentence, and never in another exception."""
    try:
        known = understood(recording_of(events))
        words = f"{replay(known.work, known.settings).wall}"
    except (SparkgenError, ReplayStopped) as refused:
        words = str(refused)
    assert words
