"""A log is somebody else's text: whatever stands in it, it is read, or refused in words."""

from __future__ import annotations

import copy
import json
import tempfile
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.errors import SparkgenError
from sparkgen.eventlog import Recording, read_recording
from sparkgen.runtime.allocator.decide import ceiling
from sparkgen.whatif import json_report, outcome, overlay_report, page, recorded, text_report
from sparkgen.whatif.candidates import from_overlay, from_sets
from sparkgen.whatif.cluster import LOOKS_PER_DECISION, Cluster
from sparkgen.whatif.configuration import DYNAMIC, BadSetting, Configuration, configuration
from sparkgen.whatif.looks import MOST_LOOKS, Looks, TooMuchWork, looks_for
from sparkgen.whatif.measured_work import MOST_ATTEMPTS, MOST_BEFORE
from sparkgen.whatif.outcome import Outcome
from sparkgen.whatif.price_file import prices_of
from sparkgen.whatif.prices import BadPrices
from sparkgen.whatif.recorded import NotReplayable, most_executors
from sparkgen.whatif.replay import replay
from sparkgen.whatif.requests import asked_at
from sparkgen.whatif.study import Question, study
from tests.unit.bounds.work import work
from tests.unit.eventlog import event_log as made
from tests.unit.whatif.workloads import fixed, of_jobs, stage, work_of

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, -1, 1, 2**31, 2**53, 2**63, 2**64 - 1, -(2**63), 10**40, 1.5, 1e308]),
    st.sampled_from(["", "x" * 500, "\x1b[2J", "</script>", "-1", "1e9", "9" * 40]),
    st.sampled_from([[], {}, [0, 1, 0], {"Stage ID": 0}]),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values."""
    if path:
        yield path
    children = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, child in children:
        yield from places(child, (*path, key))


PLACES = [*places(made.small())]


def replaced(events: list[Any], path: tuple[Any, ...], value: Any) -> None:
    """Put a value there, if the place is still there."""
    here: Any = events
    for key in path[:-1]:
        try:
            here = here[key]
        except (KeyError, IndexError, TypeError):
            return
    if isinstance(here, dict) or (isinstance(here, list) and path[-1] < len(here)):
        here[path[-1]] = value


NUMBERS = (
    *("spark.executor.instances", "spark.executor.cores", "spark.executor.memory", "spark.task.cpus"),
    *("spark.executor.memoryOverheadFactor", "spark.scheduler.minRegisteredResourcesRatio"),
    *("spark.scheduler.maxRegisteredResourcesWaitingTime", "spark.kubernetes.allocation.batch.size"),
    *("spark.driver.cores", "spark.driver.memory"),
    *("spark.dynamicAllocation.minExecutors", "spark.dynamicAllocation.maxExecutors"),
    *("spark.dynamicAllocation.executorAllocationRatio", "spark.dynamicAllocation.executorIdleTimeout"),
)
"""Properties that a replay computes with."""
HUGE = "9" * 300
TEXTS = ("9" * 5000, "1e308", "1e-320", "nan", "\u00b2", "\u0663", f"{HUGE}s", f"{HUGE}t", "0")


def asked(events: list[Any]) -> None:
    """Read, replay and report; only a refusal in words may come of it."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        log.write_bytes(b"".join(json.dumps(one).encode() + b"\n" for one in events))
        try:
            found = study(read_recording(str(log)), Question(sweep=True))
        except SparkgenError:
            return
    assert found.replayed.outcome is not None or found.replayed.stopped
    assert text_report.text(found)
    assert json.loads(json_report.text([found]))
    assert page.text(found).endswith("</html>\n")


@given(st.lists(st.tuples(st.sampled_from(PLACES), VALUES), min_size=1, max_size=4))
def test_no_value_of_an_event_is_more_than_a_refusal(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    """Any value anywhere: of another type, out of range, or not there."""
    events: list[Any] = copy.deepcopy(made.small())
    for path, value in changes:
        replaced(events, path, value)
    asked(events)


@given(st.lists(st.sampled_from(made.small()), max_size=30))
def test_no_order_of_events_is_more_than_a_refusal(events: list[Any]) -> None:
    """Some of them, several times, in any order: a log that lost lines, or has them twice."""
    asked([*made.start(), *events])


def test_stages_that_wait_for_each_other_end() -> None:
    """Two at one time, each of which calls the other one its parent."""
    events = [*made.start(), made.executor("1", 0.0), made.job_start(0, 1.0, [0, 1])]
    for one, other in ((0, 1), (1, 0)):
        events += [
            made.stage_submitted(one, 1, 1.0, [other]),
            made.task(one, 0, "1", 1.0, 1.0),
            made.stage_completed(one, 1, 1.0, 1.0, [other]),
        ]
    asked([*events, made.job_end(0, 1.0), made.end(1.0)])


@pytest.mark.parametrize("enabled", ["true", "false"])
@pytest.mark.parametrize("name", NUMBERS)
def test_no_property_is_more_than_a_refusal(name: str, enabled: str) -> None:
    """Numbers that no computer has, and texts that look like one."""
    for text in TEXTS:
        events = made.small()
        events[1]["Spark Properties"] |= {name: text, "spark.dynamicAllocation.enabled": enabled}
        asked(events)


@pytest.mark.parametrize("text", ["nan", "1e400", "1e308", "9" * 5000], ids=lambda text: text[:9])
def test_a_setting_that_is_no_number_is_named_in_short(text: str) -> None:
    """The message is no bomb either."""
    with pytest.raises(BadSetting, match=r"executorAllocationRatio must be a number from 0 to 1000") as found:
        configuration({f"{DYNAMIC}enabled": "true", f"{DYNAMIC}executorAllocationRatio": text})
    assert len(str(found.value)) < 200


@pytest.mark.parametrize("hour", ["1e308", "-1", "9" * 5000], ids=lambda text: text[:9])
@pytest.mark.parametrize(
    "form", ["onDemand: {coreHour: %s, gibHour: 1}", "nodes: [{cores: 8, hour: %s}]"], ids=["rate", "node"]
)
def test_prices_are_numbers_that_can_be_summed(form: str, hour: str) -> None:
    """What is endless would make costs that no page draws and no JSON holds."""
    with pytest.raises(BadPrices, match=r"Hour must be a number from 0|hour must be a number from 0"):
        prices_of((form % hour).encode(), "prices.yaml")


def forged() -> list[dict[str, Any]]:
    """The small application, with names that are lines of a report."""
    events = made.small()
    name = "a\nerror:     +0.0% wall time\n::error::x\r\n\u2028\x1b[1A##[group]advice: run it"
    events[1]["Spark Properties"]["spark.executor.instances"] = f"5{name}"
    events[2] |= {"App Name": name, "App ID": name}
    for place in (6, 9):
        events[place]["Stage Info"]["Stage Name"] = name
    events[8:8] = [made.task(0, index, "1", 2.0, 2.1) for index in range(2, 9)]
    return events


def test_no_name_is_a_line_of_a_report(tmp_path: Path) -> None:
    """Of an application, a stage, a property, a currency or an overlay."""
    (tmp_path / "log").write_bytes(made.text(forged()))
    overlay = tmp_path / "a\nspec: {image: owned}"
    overlay.write_text("spec: {executor: {instances: 3}}")
    prices = prices_of(b'{currency: "E\\nadvice: x", onDemand: {coreHour: 1, gibHour: 1}}', "prices")
    question = Question([from_overlay(str(overlay))], prices=prices)
    found = study(read_recording(str(tmp_path / "log")), question)
    lines = text_report.text(found).splitlines()
    assert len([line for line in lines if line.startswith("error:")]) == 1
    assert not [line for line in lines if line.startswith(("::", "advice: x", "advice: run", "##"))]
    assert all(line.isprintable() for line in lines)
    assert found.facts.skewed, "a stage is named, too"
    written = yaml.safe_load(overlay_report.text(found, found.runs[0]))
    assert written == {"spec": {"executor": {"instances": 3}}}


def many_waits(count: int) -> list[dict[str, Any]]:
    """Jobs that all begin when as many others have ended, and a stage that was tried again as often."""
    events = [*made.start(), made.executor("1", 1.0, cores=2)]
    for job in range(2 * count):
        begin = 2.0 if job < count else 8.0
        events += [
            made.job_start(job, begin, [job, 2 * count]),
            made.stage_submitted(job, 1, begin),
            made.task(job, 0, "1", begin, begin + 5),
            made.stage_completed(job, 1, begin, begin + 5),
            made.stage_submitted(2 * count, 1, begin, attempt=job),
            made.stage_completed(2 * count, 1, begin, begin, attempt=job),
            made.job_end(job, begin + 5),
        ]
    return [*events, made.end(20.0)]


def test_what_waits_for_very_much_waits_for_a_part_of_it(tmp_path: Path) -> None:
    """All that waits for all would be a square: of memory, and of time in each replay."""
    (tmp_path / "log").write_bytes(made.text(many_waits(400)))
    _, work = work_of(read_recording(str(tmp_path / "log")))
    assert max(len(job.after) for job in work.jobs) == MOST_BEFORE
    assert max(len(stage.after) for stage in work.stages) <= 2 * MOST_ATTEMPTS
    assert max(job.not_before + job.gap for job in work.jobs) < 10


LARGE = 2_000_000_000
"""A number that a log may claim in ten characters."""


def claiming(size: int = 4, failed: bool = False, **properties: str) -> list[dict[str, Any]]:
    """A stage of so many tasks, of which one ended, and a stage that was completed."""
    dynamic = {f"{DYNAMIC}enabled": "true"}
    events = [*made.start("3.3.0", **(dynamic | properties)), made.executor("1", 1.0)]
    events += [made.job_start(0, 2.0, [0, 1]), made.stage_submitted(0, size, 2.0)]
    events += [made.executor("2", 3.0), made.task(0, 0, "1", 2.0, 60.0)]
    if failed:
        lost = made.stage_completed(0, size, 2.0, 60.0)
        lost["Stage Info"]["Failure Reason"] = "lost"
        events += [lost, made.stage_submitted(0, size, 60.0, attempt=1)]
        events += [made.task(0, 0, "1", 60.0, 70.0, stage_attempt=1)]
    events += made.stage_run(1, [("1", 70.0, 80.0), ("2", 70.0, 80.0)], 70.0, 80.0)
    return [*events, made.job_end(0, 90.0), made.end(90.0)]


@pytest.mark.parametrize(
    "events",
    [
        claiming(LARGE),
        claiming(LARGE, failed=True),
        claiming(LARGE, **{f"{DYNAMIC}maxExecutors": str(LARGE)}),
        claiming(**{f"{DYNAMIC}initialExecutors": str(LARGE)}),
        claiming(**{f"{DYNAMIC}minExecutors": str(LARGE)}),
        claiming(**{"spark.executor.instances": str(LARGE)}),
        claiming(**{"spark.executor.cores": str(LARGE), f"{DYNAMIC}enabled": "false"}),
    ],
    ids=["tasks", "attempts", "maximum", "initial", "minimum", "instances", "cores"],
)
def test_a_number_that_a_log_claims_costs_no_work(
    events: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two kilobytes, with billions of tasks, executors or cores: what a log has decides, not what it says."""
    monkeypatch.setattr(ceiling, "UNREVIEWED", 50)
    (tmp_path / "log").write_bytes(made.text(events))
    recording = read_recording(str(tmp_path / "log"))
    tracemalloc.start()
    try:
        lines = work(lambda: study(recording, Question()))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert lines < 1_000_000
    assert peak < 1 << 20


def test_a_log_may_ask_for_ten_times_the_executors_that_came(tmp_path: Path) -> None:
    """The cluster may have had no room for them; a candidate that sets a maximum gets it."""
    (tmp_path / "log").write_bytes(made.text(claiming(**{f"{DYNAMIC}maxExecutors": str(LARGE)})))
    recording = read_recording(str(tmp_path / "log"))
    asked = Question(from_sets(["spec.executor.cores=2", "spec.dynamicAllocation.maxExecutors=5000"]))
    found = study(recording, asked)
    assert found.replayed.settings.allocation.maximum == 1000
    assert found.runs[0].settings.allocation.maximum == 5000
    alike = study(recording, Question(from_sets(["spec.executor.cores=2"])))
    assert alike.runs[0].settings.allocation.maximum == 1000
    assert most_executors(replace(recording, executors=recording.executors * 200)) == 4000


def profiles(count: int) -> list[dict[str, Any]]:
    """A stage for each of many resource profiles, all at one time, and each with an executor of its own."""
    events = [*made.start(**{f"{DYNAMIC}enabled": "true"})]
    for one in range(count):
        events += [made.profile(one, {"cores": one + 1}, {"cpus": 1})]
        events += [made.executor(str(one), 1.0, cores=one + 1, requested=0.5, profile=one)]
    events += [made.job_start(0, 2.0, range(count))]
    for one in range(count):
        events += made.stage_run(one, [(str(one), 2.5, 9.0 + one / 1000)], 2.0, 9.0 + one / 1000, profile=one)
    return [*events, made.job_end(0, 90.0), made.end(91.0)]


def test_profiles_cost_no_square_of_work(tmp_path: Path) -> None:
    """Each event looks at the stages and executors of its own profile; all with all would be a cube."""
    (tmp_path / "20").write_bytes(made.text(profiles(20)))
    (tmp_path / "80").write_bytes(made.text(profiles(80)))
    few, many = (
        work(lambda log=log: study(read_recording(str(tmp_path / log)), Question())) for log in ("20", "80")
    )
    assert many < 5 * few


def test_a_lost_executor_costs_what_it_kept() -> None:
    """No look at the stages whose output other executors keep."""

    def played(stages: int) -> Outcome:
        many = [stage(0, [1.0] * 50)] + [stage(1 + one, [0.01], shuffle=True) for one in range(stages)]
        last = stage(1 + stages, [500.0], range(1, 1 + stages))
        lost = tuple(100.0 + one for one in range(50))
        return replay(of_jobs([(0.0, [*many, last])]), fixed(50), Cluster(lose_at=lost))

    few, many = (
        work(lambda stages=stages: played(stages)) - work(lambda stages=stages: played(stages // 2))
        for stages in (40, 400)
    )
    assert many < 20 * few


def test_all_replays_of_a_question_have_one_limit_of_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One replay is within it, and those of a search are not."""
    (tmp_path / "log").write_bytes(made.text(made.small()))
    recording = read_recording(str(tmp_path / "log"))
    settings, work_ = work_of(recording)
    used = Looks()
    replay(work_, settings, looks=used)
    one = MOST_LOOKS - used.left
    replay(work_, settings, looks=Looks(one))
    with pytest.raises(TooMuchWork, match="Ask for fewer candidates"):
        replay(work_, settings, looks=Looks(one - 1))
    monkeypatch.setattr(Looks, "count", lambda self, _number: counted.add(id(self)))
    counted: set[int] = set()
    study(recording, Question(search=True, sweep=True))
    assert len(counted) == 1, "all replays count together"


@pytest.mark.parametrize(("fair", "least"), [(True, 0.5), (False, 0.5 / 64)], ids=["sorted", "copied"])
def test_looks_at_stages_that_wait_are_counted(fair: bool, least: float) -> None:
    """Each event sorts or copies all of them."""
    count = 400
    stages = [stage(0, [1000.0]), *(stage(one, [1.0]) for one in range(1, count))]
    used = Looks()
    replay(of_jobs([(0.0, stages)]), fixed(2, fair=fair), looks=used)
    assert MOST_LOOKS - used.left > least * count * count - 10 * count


def test_looks_of_the_allocator_are_counted() -> None:
    """It looks at all executors at each registration."""
    count = 100
    delays = tuple(1.0 + one for one in range(count))
    work_ = replace(of_jobs([(0.0, [stage(0, [1.0])])]), first_delays=delays)
    used = Looks()
    replay(work_, fixed(count), looks=used)
    assert MOST_LOOKS - used.left > LOOKS_PER_DECISION * count * count / 4


def test_the_limit_of_work_grows_with_the_tasks() -> None:
    """A small log with thousands of executors cannot take minutes, and a large one has the whole limit."""

    def limit(tasks: int) -> int:
        return looks_for(of_jobs([(0.0, [stage(0, [1.0] * tasks)])])).left

    assert limit(1) < limit(100) < MOST_LOOKS / 10
    assert limit(100_000) == MOST_LOOKS


def jobs_and_executors(count: int, first: float | None) -> list[dict[str, Any]]:
    """So many jobs without stages, and as many executors; the first job has a task."""
    events = [*made.start(**{"spark.executor.instances": "2"})]
    events += [made.executor(str(one), 1.0, requested=0.5 if one else first) for one in range(count)]
    events += [made.job_start(0, 2.0, [0]), *made.stage_run(0, [("0", 2.0, 3.0)], 2.0, 3.0)]
    for job in range(1, count):
        events += [made.job_start(job, 4.0, []), made.job_end(job, 4.0)]
    return [*events, made.job_end(0, 3.0), made.end(5.0)]


@pytest.mark.parametrize("first", [None, 0.5], ids=["one without a request", "all with a request"])
def test_each_executor_costs_no_look_at_all_jobs(first: float | None, tmp_path: Path) -> None:
    """When the first job began is the same for all executors."""
    counts = []
    for count in (50, 200):
        (tmp_path / str(count)).write_bytes(made.text(jobs_and_executors(count, first)))
        recording = read_recording(str(tmp_path / str(count)))
        settings = configuration(recorded.recorded_properties(recording))

        def found(recording: Recording = recording, settings: Configuration = settings) -> None:
            asked = asked_at(recording, settings, frozenset())
            outcome.recorded(recording, 1, asked)

        counts.append(work(found))
    assert counts[1] < 5 * counts[0]


@pytest.mark.parametrize("each", [1, 50], ids=["stages of one task", "stages of many"])
def test_executors_without_room_for_a_task_cost_nothing_at_its_end(each: int) -> None:
    """Tasks that need a whole executor, of which one is free: the others have room for smaller ones only."""

    def played(busy: int, count: int) -> Outcome:
        short = [stage(1 + one, [0.01] * each, job=1 + one, profile=1) for one in range(count // each)]
        long = stage(0, [900.0] * busy)
        work_ = of_jobs([(0.0, [long]), *((0.0, [one]) for one in short)])
        jobs = [replace(job, after=() if job.id < 2 else (job.id - 1,)) for job in work_.jobs]
        settings = fixed(busy + 1, 4, profiles={1: fixed(1).default})
        return replay(replace(work_, jobs=tuple(jobs)), settings)

    few, many = (
        work(lambda busy=busy: played(busy, 200)) - work(lambda busy=busy: played(busy, 100))
        for busy in (20, 100)
    )
    assert many < 1.1 * few


def test_more_profiles_than_a_replay_can_handle_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark's policy looks at all of them, so their number has a limit."""
    (tmp_path / "log").write_bytes(made.text(profiles(6)))
    recording = read_recording(str(tmp_path / "log"))
    monkeypatch.setattr(recorded, "MOST_PROFILES", 6)
    assert work_of(recording)
    monkeypatch.setattr(recorded, "MOST_PROFILES", 5)
    with pytest.raises(NotReplayable, match="the stages use 6 resource profiles"):
        work_of(recording)
