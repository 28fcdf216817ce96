"""How a driver with the scheduler jar ends when it cannot go on: with one message, and not with 0."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

import pytest

from spark import scheduler
from spark.trial_driver import RaisedError, Trial
from sparkgen.spark_versions import COMPILED

SWALLOWS = """\
from pyspark import SparkContext
try:
    sc = SparkContext()
    sc.parallelize(range(2), 2).count()
except BaseException as error:
    print("SWALLOWED", error)
"""
"""A program that catches whatever happens to it, and ends as if nothing had."""

IDLES = """\
import time
from pyspark import SparkContext
sc = SparkContext()
print("IDLE", flush=True)
time.sleep(600)
"""
"""A program that waits for something other than Spark."""

lines = pytest.mark.parametrize("line", COMPILED)


@lines
def test_an_allocator_that_is_never_there_ends_the_driver(trial: Callable[[str], Trial], line: str) -> None:
    """The constructor of the context raises the message, and even a program that swallows it fails."""
    made = trial(line)
    driver = made.start({"spark.sparkgen.allocatorTimeout": "2s"}, SWALLOWS)
    assert driver.wait() == 1
    swallowed = [text for text in driver.output().splitlines() if "SWALLOWED" in text]
    assert len(swallowed) == 1
    said = [text for text in driver.output().splitlines() if "no allocator has answered" in text]
    assert f"http://127.0.0.1:{made.allocator.port}" in said[0]
    assert "spark.sparkgen.allocatorTimeout" in said[0]
    assert "container 'allocator'" in said[0]


@lines
def test_a_failure_ends_an_idle_driver(trial: Callable[[str], Trial], line: str) -> None:
    """A driver that does nothing with Spark at the moment ends within the grace time."""
    made = trial(line)
    made.allocator.automatic = False
    made.allocator.start()
    conf = {"spark.scheduler.minRegisteredResourcesRatio": "0", "spark.sparkgen.failureGrace": "1s"}
    driver = made.start(conf, IDLES)
    made.allocator.wait(bool, "the first state")
    deadline = time.monotonic() + 180
    while "IDLE" not in driver.output():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    made.allocator.report(failure="the image cannot be pulled: no such tag")
    assert driver.wait() == 1
    assert "ERROR" in driver.output()
    assert "sparkgen: the image cannot be pulled: no such tag" in driver.output()


@lines
def test_a_failure_ends_a_running_job(trial: Callable[[str], Trial], line: str) -> None:
    """The job that runs fails with the message."""
    made = trial(line)
    made.allocator.automatic = False
    made.allocator.start()
    driver = made.start({"spark.scheduler.minRegisteredResourcesRatio": "0"})
    driver.do("sc = SparkContext()")
    began = driver.work(1, made.folder / "never")
    deadline = time.monotonic() + 180
    while "Adding task set" not in driver.output():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    made.allocator.report(failure="the quota of the namespace is used up")
    with pytest.raises(RaisedError, match="the quota of the namespace is used up"):
        driver.answer(began)
    assert driver.finish() == 1


@lines
def test_what_contradicts_the_document_ends_the_driver(trial: Callable[[str], Trial], line: str) -> None:
    """A value set by the code is named beside the reviewed one, and executors are never asked for."""
    made = trial(line)
    made.allocator.start()
    reviewed = {"spark.executor.memory": "2g", "spark.executor.cores": "1"}
    driver = made.start({f"spark.sparkgen.reviewed.{name}": value for name, value in reviewed.items()})
    driver.do("conf = SparkConf().set('spark.executor.memory', '4g')")
    with pytest.raises(RaisedError, match=r"spark\.executor\.memory is 4g, but the document says 2g"):
        driver.do("SparkContext(conf=conf)")
    assert made.allocator.states == []
    # As a warning, it runs: the profile says what the running configuration asks for.
    driver.do("conf.set('spark.sparkgen.allocation.onMismatch', 'warn')")
    driver.do("sc = SparkContext(conf=conf)")
    assert made.allocator.state["profiles"]["0"]["memoryMiB"] == 4096
    assert "WARN Mismatch" in driver.output()
    driver.do("sc.stop()")
    assert driver.finish() == 0


@lines
def test_a_jar_of_the_other_scala_line_says_so(trial: Callable[[str], Trial], line: str) -> None:
    """The wrong jar ends in one line that names both lines, not in a missing method."""
    made = trial(line)
    (other,) = set(COMPILED) - {line}
    driver = made.start({}, jar=scheduler.ensure(other))
    with pytest.raises(
        RaisedError, match=rf"compiled for Scala {other}, but this Spark runs on Scala {line}"
    ):
        driver.do("SparkContext()")
    assert "NoSuchMethodError" not in driver.output()
    driver.finish()


@lines
def test_a_wrong_token_ends_the_driver(trial: Callable[[str], Trial], line: str) -> None:
    """An allocator that refuses the token will never accept it: the message names the file."""
    made = trial(line)
    made.allocator.start()
    wrong = made.folder / "wrong-token"
    wrong.write_text("something else\n")
    driver = made.start({"spark.sparkgen.tokenFile": str(wrong)}, SWALLOWS)
    assert driver.wait() == 1
    assert f"rejects the token in {wrong}: wrong token" in driver.output()


SESSION = {
    "spark.sparkgen.session.timeout": "3s",
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.shuffleTracking.enabled": "true",
}
"""A driver that is one of several, one after the other; it begins without an executor."""


@lines
def test_a_session_that_another_driver_has_is_refused(trial: Callable[[str], Trial], line: str) -> None:
    """The constructor raises the allocator's text; once it is free, the same process has the next session."""
    made = trial(line)
    made.allocator.report(taken="notebook a.ipynb has this session since 12:00: shut its kernel down")
    made.allocator.start()
    driver = made.start(SESSION)
    with pytest.raises(RaisedError, match=r"sparkgen: notebook a\.ipynb has this session since 12:00"):
        driver.do("SparkContext()")
    assert made.allocator.states == []
    made.allocator.report(taken=None)
    assert driver.do("SparkContext().parallelize(range(2), 2).sum()") == "1"
    assert driver.output().count("ERROR ApplicationFailure") == 1
    assert driver.finish() == 0


@lines
def test_a_driver_whose_port_was_taken_is_refused(trial: Callable[[str], Trial], line: str) -> None:
    """Executors would connect to whoever took the port: none is asked for; the message names both ports."""
    made = trial(line)
    made.allocator.start()
    port = made.driver_port
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", port))
        taken.listen()
        driver = made.start({"spark.sparkgen.driver.port": str(port)})
        with pytest.raises(RaisedError, match=rf"took port {port} of this machine.* listens at port \d+"):
            driver.do("SparkContext()")
    assert made.allocator.states == []
    # As soon as the port is free, the same program gets it.
    assert driver.do("SparkContext().parallelize(range(2), 2).sum()") == "1"
    assert driver.finish() == 0


@lines
def test_a_driver_that_stays_idle_is_refused(trial: Callable[[str], Trial], line: str) -> None:
    """Without a session, too, a refusal ends the application, whatever its program does with it."""
    made = trial(line)
    made.allocator.report(taken="another driver is there")
    made.allocator.start()
    driver = made.start({"spark.sparkgen.failureGrace": "1s"}, SWALLOWS)
    assert driver.wait() == 1
    assert "SWALLOWED" in driver.output()
    assert "sparkgen: another driver is there" in driver.output()


@lines
def test_an_allocator_that_is_lost_ends_its_session(trial: Callable[[str], Trial], line: str) -> None:
    """A job that runs fails with the reason, and the context is stopped; its process fails at its end."""
    made = trial(line)
    made.allocator.start()
    driver = made.start({**SESSION, "spark.dynamicAllocation.initialExecutors": "1"})
    driver.do("sc = SparkContext()")
    began = driver.work(1, made.folder / "never")
    while not (made.folder / "never.began").exists():
        time.sleep(0.05)
    made.allocator.stop()
    with pytest.raises(RaisedError, match=r"could not be reached for \d+ s .*given up this driver"):
        driver.answer(began)
    driver.do("while not sc._jsc.sc().isStopped(): time.sleep(0.05)")
    assert driver.output().count("ERROR ApplicationFailure: sparkgen: the allocator at") == 1
    assert driver.finish() == 1


@lines
def test_another_version_of_spark_than_the_executors(trial: Callable[[str], Trial], line: str) -> None:
    """Another minor version is named before the jar's Scala line is, another patch in a warning."""
    made = trial(line)
    made.allocator.start()
    (other,) = set(COMPILED) - {line}
    wrong = {"spark.sparkgen.sparkVersion": COMPILED[other]}
    driver = made.start(wrong, jar=scheduler.ensure(other), outside=True)
    with pytest.raises(RaisedError, match=f"{COMPILED[line]}, but its executors run Spark {COMPILED[other]}"):
        driver.do("SparkContext()")
    assert driver.finish() == 0
    patch = COMPILED[line].rpartition(".")[0] + ".99"
    driver = made.start({"spark.sparkgen.sparkVersion": patch}, outside=True)
    driver.do("SparkContext(conf=SparkConf().set('spark.executor.instances', '0'))")
    warned = f"WARN Mismatch: This driver runs Spark {COMPILED[line]}, but its executors run Spark {patch}"
    assert warned in driver.output()
    assert driver.finish() == 0


@lines
def test_a_session_that_is_ended_leaves_its_process(trial: Callable[[str], Trial], line: str) -> None:
    """A shell reads the reason in one line and in its job's exception, and goes on in the same process."""
    made = trial(line)
    made.allocator.start()
    conf = {**SESSION, "spark.dynamicAllocation.initialExecutors": "1"}
    driver = made.start(conf)
    driver.do("sc = SparkContext()")
    began = driver.work(4, made.folder / "never")
    while not (made.folder / "never.began").exists():
        time.sleep(0.05)
    made.allocator.report(failure="[SessionEnded] ended by `sparkgen kill`")
    with pytest.raises(RaisedError, match=r"sparkgen: \[SessionEnded\] ended by `sparkgen kill`"):
        driver.answer(began)
    ended = made.allocator.wait(lambda state: state["phase"] == "stopped", "the end")
    said = [text for text in driver.output().splitlines() if "SessionEnded" in text and " ERROR " in text]
    assert len(said) == 1, said
    # Spark stops it in a thread of its own, and lets nobody make another meanwhile.
    while "Successfully stopped SparkContext" not in driver.output():
        time.sleep(0.05)
    made.allocator.report(failure=None)
    driver.do("sc.stop()")
    assert driver.do("SparkContext().parallelize(range(2), 2).sum()") == "1"
    assert made.allocator.state["session"] != ended["session"]
    assert driver.finish() == 0
