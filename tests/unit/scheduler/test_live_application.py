"""The scheduler jar in a real driver, against an allocator that speaks the protocol, with real executors.

Starting a JVM costs seconds, so that one driver per Scala line goes through all of it, step by step.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spark.fake_allocator import FakeAllocator
from spark.trial_driver import Driver, RaisedError, Trial
from sparkgen.spark_versions import COMPILED

CONF = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
    "spark.dynamicAllocation.minExecutors": "0",
    "spark.dynamicAllocation.initialExecutors": "1",
    "spark.dynamicAllocation.maxExecutors": "2",
    "spark.dynamicAllocation.executorIdleTimeout": "3s",
    "spark.dynamicAllocation.schedulerBacklogTimeout": "1s",
    "spark.task.maxFailures": "1",  # one failure that counts against a task fails its job
}


def test_an_application_works_and_stops(trial: Callable[[str], Trial]) -> None:
    """The shortest life in which each side hears the other: three JVMs, where a whole one takes a dozen."""
    made = trial("2.13")
    made.allocator.start()
    driver = made.start({**CONF, "spark.dynamicAllocation.executorIdleTimeout": "600s"})
    _starts(made.allocator, driver)
    _compares_with_what_was_reviewed(driver)
    _compares_versions_of_spark(driver)
    _names_who_speaks(driver)
    _tells_spark_whose_files_are_gone(driver)
    _grows(made.allocator, driver, made.folder)
    # A second executor that has only just registered still starts, and would end with an error: both work.
    both = driver.work(2, made.folder / "both")
    _began(made.folder / "both", 2)
    (made.folder / "both").touch()
    assert driver.answer(both) == "2"
    _stops(made.allocator, driver)


@pytest.mark.long
@pytest.mark.parametrize("line", COMPILED)
def test_an_application_from_start_to_stop(trial: Callable[[str], Trial], line: str) -> None:
    """Executors come and go with the work, losses have the cluster's reasons, nothing is left at the end."""
    made = trial(line)
    made.allocator.start()
    driver = made.start(CONF)
    _starts(made.allocator, driver)
    _compares_with_what_was_reviewed(driver)
    _compares_versions_of_spark(driver)
    _names_who_speaks(driver)
    _tells_spark_whose_files_are_gone(driver)
    _grows(made.allocator, driver, made.folder)
    _refuses(made.allocator, made.folder)
    _shrinks_when_idle(made.allocator)
    _loses_without_blame(made.allocator, driver, made.folder)
    _loses_a_node(made.allocator, driver, made.folder)
    _loses_with_blame(made.allocator, driver, made.folder)
    _outlives_its_allocator(made.allocator, driver)
    _follows_bounds(made.allocator)
    _gives_profiles_their_own_executors(made.allocator, driver, made.folder)
    _stops(made.allocator, driver)


def _starts(allocator: FakeAllocator, driver: Driver) -> None:
    """The first state says what is wanted; the context waits for the executors, and has them."""
    driver.do("sc = SparkContext()")
    first = allocator.states[0]
    assert (first["version"], first["phase"], first["dynamic"]) == (1, "running", True)
    assert first["applicationId"] == "trial-1a2b3c4d-9f8e7"
    assert first["targets"] == {"0": 1}
    assert first["profiles"]["0"] == {
        "cores": 1,
        "memoryMiB": 1024,
        "overheadMiB": 409,  # 0.4 of it: the application is Python
        "pysparkMiB": 0,
        "offHeapMiB": 0,
        "resources": {},
    }
    assert re.fullmatch(r"agent\.py, process \d+ on .+", first["owner"])
    assert driver.do("sc.applicationId") == "'trial-1a2b3c4d-9f8e7'"
    assert allocator.wait(lambda state: state["registered"] == ["1"], "the initial executor")


MISMATCHES: tuple[tuple[dict[str, str], dict[str, str], tuple[str, ...]], ...] = (
    ({}, {"spark.executor.memory": "4g"}, ()),  # nothing was reviewed: a driver that was started by hand
    ({"spark.executor.memory": "2g"}, {"spark.executor.memory": "2048m"}, ()),
    ({"spark.executor.memory": "1024"}, {}, ()),  # MiB, which is the default spelled out
    ({"spark.executor.cores": "2"}, {"spark.executor.cores": " 2 "}, ()),
    (
        {"spark.executor.cores": "2"},
        {"spark.executor.cores": "4"},
        ("spark.executor.cores is 4, but", "says 2"),
    ),
    (
        {"spark.executor.cores": "1"},
        {"spark.executor.memoryOverhead": "1g"},
        ("Overhead is 1g", "the document does not set it"),
    ),
    (
        {"spark.executor.instances": "3"},
        {},
        ("spark.executor.instances is not set, but the document says 3",),
    ),
    ({"spark.dynamicAllocation.maxExecutors": "3"}, {"spark.dynamicAllocation.maxExecutors": "9"}, ()),
    (
        {"spark.dynamicAllocation.enabled": "true", "spark.dynamicAllocation.maxExecutors": "3"},
        {"spark.dynamicAllocation.enabled": "TRUE", "spark.dynamicAllocation.maxExecutors": "9"},
        ("maxExecutors is 9, but the document says 3",),
    ),
)
"""Reviewed properties, running ones, and what the message says; () when they agree."""


def _compares_with_what_was_reviewed(driver: Driver) -> None:
    """Values are compared by what they mean; what Git does not know is named with both values."""
    driver.do("own = sc._jvm.org.apache.spark.scheduler.cluster.sparkgen")
    for reviewed, running, expected in MISMATCHES:
        settings = {f"spark.sparkgen.reviewed.{name}": value for name, value in reviewed.items()} | running
        driver.do("conf = sc._jvm.org.apache.spark.SparkConf(False)")
        driver.do(f"for item in {settings!r}.items(): conf.set(*item)")
        check = "own.Mismatch.check(conf, own.OnMismatch.parse('fail'))"
        if not expected:
            assert driver.do(check) == "None", (reviewed, running)
            continue
        with pytest.raises(RaisedError) as raised:
            driver.do(check)
        for part in expected:
            assert part in str(raised.value)


def _compares_versions_of_spark(driver: Driver) -> None:
    """Another minor version is refused, with both and what to do; patches and vendors' names are not."""
    for here, there in (
        ("4.0.1", "4.0.1"),
        ("4.0.1", "4.0.4-vendor.2"),
        ("4.0", "4.0"),
        ("4.0.1", ""),
    ):
        assert driver.do(f"own.SparkVersion.problem({here!r}, {there!r})") == "None"
    for here, there in (("3.5.8", "4.0.1"), ("4.1.0", "4.0.1"), ("4", "4.0.1")):
        problem = driver.do(f"own.SparkVersion.problem({here!r}, {there!r})")
        assert f"this driver runs Spark {here}, but its executors run Spark {there}" in problem
        assert f"pyspark=={there}" in problem


def _names_who_speaks(driver: Driver) -> None:
    """Whatever an application is called: the text is bounded, and fit for a terminal."""
    driver.do("named = own.Speaker.ownerOf")
    assert driver.do("named('Umsätze 日本', '12@laptop')") == "'Umsätze 日本, process 12 on laptop'"
    assert driver.do(r"named('a\x1b[2J\u202eb\n', '12')") == "'a?[2J?b?, process 12 on '"
    long = driver.do("named('\U0001f600' * 999, '12@' + 'h' * 999)")
    assert len(long.strip("'")) == 200


LOSSES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("killed", "daemonset", ("ExecutorKilled$",)),
    ("killed", "sidecar", ("ExecutorKilled$",)),
    ("deleted", "sidecar", ("ExecutorProcessLost", "Some(10.0.0.1)", "False")),
    ("exited", "sidecar", ("ExecutorProcessLost", "Some(10.0.0.1)", "True")),
    ("node-lost", "sidecar", ("ExecutorProcessLost", "Some(10.0.0.1)", "False")),
    ("deleted", "daemonset", ("ExecutorExited",)),
    ("exited", "daemonset", ("ExecutorExited",)),
    ("node-lost", "daemonset", ("ExecutorProcessLost", "Some(10.0.0.1)", "False")),
    ("exited", "", ("ExecutorExited",)),
)
"""The allocator's cause, the shuffle service's mode, and what Spark is told: with a host, it computes again
what was written there.
"""


def _tells_spark_whose_files_are_gone(driver: Driver) -> None:
    """A shuffle service in the executor's own pod ends with it, whatever the cause."""
    driver.do(
        "option = sc._jvm.scala.Option\n"
        "def told(cause, mode, blamed):\n"
        "    conf = sc._jvm.org.apache.spark.SparkConf(False).set('spark.sparkgen.tokenFile', '/t')\n"
        "    if mode: conf.set('spark.sparkgen.shuffleService.mode', mode)\n"
        "    gone = own.Settings.read(conf, 'sparkgen://127.0.0.1:1').filesGoWithPods()\n"
        "    verdict = own.Verdict(cause, blamed, option.empty(), 'why')\n"
        "    reason = verdict.lossReason(option.apply('10.0.0.1'), gone)\n"
        "    name = reason.getClass().getSimpleName()\n"
        "    if name != 'ExecutorProcessLost': return (name,)\n"
        "    return (name, reason.workerHost().toString(), str(reason.causedByApp()))"
    )
    for cause, mode, expected in LOSSES:
        told = driver.do(f"told({cause!r}, {mode!r}, {cause == 'exited'})")
        assert told == repr(expected), (cause, mode)


def _grows(allocator: FakeAllocator, driver: Driver, folder: Path) -> None:
    """A backlog raises the target up to the bound, and the executors that come take part."""
    began = driver.work(3, folder / "grown")
    grown = allocator.wait(lambda state: len(state["registered"]) == 2, "a second executor")
    assert grown["targets"] == {"0": 2}
    (folder / "grown").touch()
    assert driver.answer(began) == "3"


def _refuses(allocator: FakeAllocator, folder: Path) -> None:
    """What the allocator wants to delete cannot register any more; what has registered is not given up."""
    allocator.report(refuse={"2", "50"})
    state = allocator.wait(lambda state: state["refused"], "a refusal")
    assert state["refused"] == ["50"]
    assert "2" not in state["refused"]
    late = allocator.executors[allocator.launch(executor="50")]
    assert late.wait(180) != 0
    assert "excluded" in (folder / "executor-50.log").read_text()
    allocator.report(refuse=set())
    assert (
        "50" not in allocator.wait(lambda state: not state["refused"], "the end of the refusal")["registered"]
    )


def _shrinks_when_idle(allocator: FakeAllocator) -> None:
    """Idle executors are named in kills until they are reported gone; an id that is over stays over."""
    allocator.wait(lambda state: state["targets"] == {"0": 0}, "a target of none")
    done = allocator.wait(lambda state: not state["registered"] and not state["kills"], "no executor")
    assert done["lost"] == []
    assert any(set(state["kills"]) & {"1", "2"} for state in allocator.states)
    assert allocator.running() == set()
    late = allocator.executors[allocator.launch(executor="1")]
    assert late.wait(180) != 0
    assert allocator.state["registered"] == []


def _began(marker: Path, tasks: int) -> None:
    """Wait until so many tasks of the marker's job run."""
    started = marker.with_name(marker.name + ".began")
    deadline = time.monotonic() + 180
    while not started.exists() or started.stat().st_size < tasks:
        assert time.monotonic() < deadline, "not all tasks have started"
        time.sleep(0.05)


def _kill_at_work(
    allocator: FakeAllocator, driver: Driver, marker: Path, verdict: dict[str, Any] | None
) -> float:
    """Run a job of one task, and kill the executor that works on it; another one could finish the task."""
    began = driver.work(1, marker)
    _began(marker, 1)
    marker.touch()
    (executor,) = allocator.state["registered"]
    allocator.kill(executor, verdict)
    return began


def _loses_without_blame(allocator: FakeAllocator, driver: Driver, folder: Path) -> None:
    """An eviction does not count against the task: it runs again elsewhere, though no failure is allowed."""
    verdict = {"cause": "evicted", "byApplication": False, "exitCode": 137, "message": "the node needed room"}
    began = _kill_at_work(allocator, driver, folder / "evicted", verdict)
    assert driver.answer(began) == "1"
    assert any(state["lost"] for state in allocator.states), "the loss was to be held back"
    assert "the node needed room" in driver.output()


def _loses_a_node(allocator: FakeAllocator, driver: Driver, folder: Path) -> None:
    """Spark forgets what was written there, though it heard of the loss before it heard why."""
    verdict = {"cause": "node-lost", "byApplication": False, "message": "the node is away"}
    began = _kill_at_work(allocator, driver, folder / "node", verdict)
    assert driver.answer(began) == "1"
    _reads(driver, "Shuffle files lost for worker", "Spark still counts on files of the lost node")


def _loses_with_blame(allocator: FakeAllocator, driver: Driver, folder: Path) -> None:
    """Running out of memory is the application's: the job fails, with the allocator's message."""
    verdict = {
        "cause": "oom",
        "byApplication": True,
        "exitCode": 137,
        "message": "out of memory, says the kernel",
    }
    began = _kill_at_work(allocator, driver, folder / "oom", verdict)
    with pytest.raises(RaisedError, match="out of memory, says the kernel"):
        driver.answer(began)


def _outlives_its_allocator(allocator: FakeAllocator, driver: Driver) -> None:
    """A restarted allocator is told everything again; the user reads of it once, and once that it is back."""
    session = allocator.state["session"]
    allocator.stop()
    _reads(driver, "does not answer", "nobody was told that the allocator is away")  # at the next heartbeat
    assert driver.do("sc.version")
    allocator.start()
    assert allocator.wait(bool, "the state, again", 15)["session"] == session
    _reads(driver, "is back.", "nobody was told that the allocator is back")
    said = [text for text in driver.output().splitlines() if "The allocator at" in text]
    assert [text.split()[2] for text in said][-2:] == ["WARN", "INFO"], said


def _reads(driver: Driver, text: str, otherwise: str, seconds: float = 60) -> None:
    """Wait until the driver's output says `text`."""
    deadline = time.monotonic() + seconds
    while text not in driver.output():
        assert time.monotonic() < deadline, f"{otherwise}; the driver says:\n{driver.output()[-4000:]}"
        time.sleep(0.05)


def _follows_bounds(allocator: FakeAllocator) -> None:
    """Bounds that change while the application runs change Spark's target."""
    allocator.wait(lambda state: state["targets"] == {"0": 0}, "a target of none")
    allocator.report(bounds={"minimum": 1, "maximum": 3})
    allocator.wait(lambda state: state["targets"] == {"0": 1}, "the new minimum")


def _gives_profiles_their_own_executors(allocator: FakeAllocator, driver: Driver, folder: Path) -> None:
    """A second resource profile is a target of its own, with what its executors need."""
    driver.do(
        "from pyspark.resource import *\n"
        "needs = ExecutorResourceRequests().cores(2).memory('600m')\n"
        "profile = ResourceProfileBuilder().require(needs).require(TaskResourceRequests().cpus(1)).build"
    )
    (folder / "profiles").touch()
    began = driver.work(2, folder / "profiles", ".withResources(profile)")
    state = allocator.wait(lambda state: state["targets"].get("1"), "a target of the second profile")
    assert (state["profiles"]["1"]["cores"], state["profiles"]["1"]["memoryMiB"]) == (2, 600)
    assert driver.answer(began) == "2"
    assert "1" in allocator.profile_of.values()


def _stops(allocator: FakeAllocator, driver: Driver) -> None:
    """Stopping the context ends the executors, tells the allocator, and the driver ends well."""
    allocator.report(bounds={"minimum": 2, "maximum": 3})  # none that is idle may leave meanwhile
    allocator.wait(lambda state: len(state["registered"]) >= 2, "executors to stop")
    allocator.automatic = False
    last = [allocator.executors[name] for name in allocator.state["registered"]]
    assert last
    driver.do("sc.stop()")
    assert allocator.state["phase"] == "stopped"
    assert [process.wait(60) for process in last] == [0] * len(last)
    assert driver.finish() == 0
    assert "Traceback" not in driver.output()
