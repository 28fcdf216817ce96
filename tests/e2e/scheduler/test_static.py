"""Static allocation, RPC authentication, and losses that nobody explains."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable

import pytest

from spark.trial_driver import RaisedError, Trial
from sparkgen.spark_versions import COMPILED


@pytest.mark.parametrize("line", COMPILED)
def test_a_static_job_with_authentication(trial: Callable[[str], Trial], line: str) -> None:
    """The target is said without being asked, the secret is the one in the configuration, and all ends."""
    made = trial(line)
    made.allocator.secret = uuid.uuid4().hex
    made.allocator.start()
    driver = made.start(
        {
            "spark.executor.instances": "2",
            "spark.scheduler.maxRegisteredResourcesWaitingTime": "180s",
            "spark.authenticate": "true",
            "spark.authenticate.secret": made.allocator.secret,
            "spark.task.maxFailures": "1",
            "spark.sparkgen.verdictTimeout": "2s",
        }
    )
    driver.do("sc = SparkContext()")
    state = made.allocator.state
    assert (state["dynamic"], state["targets"]) == (False, {"0": 2})
    assert len(state["registered"]) == 2, "minRegisteredResourcesRatio is 0.8 by default"
    began = driver.work(2, made.folder / "work")
    while not (made.folder / "work.began").exists():
        time.sleep(0.05)
    # Nobody says why it ended: after the time for that, it is lost as Spark's own backends say it.
    made.allocator.kill("1", None)
    assert made.allocator.wait(lambda state: "1" in state["lost"], "the loss")
    with pytest.raises(RaisedError, match="the allocator has not reported why within 2 s"):
        driver.answer(began)
    assert "1" in made.allocator.wait(lambda state: not state["lost"], "the end of the wait")["kills"]
    made.allocator.silent.clear()
    made.allocator.wait(lambda state: not state["kills"], "the report of its end")
    made.allocator.wait(lambda state: set(state["registered"]) == {"2", "3"}, "a replacement")
    assert driver.do("sc.parallelize(range(4), 4).sum()") == "6"
    driver.do("sc.stop()")
    assert [process.wait(30) for name, process in made.allocator.executors.items() if name != "1"] == [0, 0]
    assert driver.finish() == 0


@pytest.mark.parametrize("line", COMPILED)
def test_a_decommissioned_executor_drains(trial: Callable[[str], Trial], line: str) -> None:
    """An executor that Spark decommissions is draining until it has ended, and counts for no target."""
    made = trial(line)
    made.allocator.start()
    driver = made.start({"spark.executor.instances": "1", "spark.decommission.enabled": "true"})
    driver.do("sc = SparkContext()")
    driver.do(
        "backend = sc._jsc.sc().schedulerBackend()\n"
        "scheduler, nowhere = sc._jvm.org.apache.spark.scheduler, sc._jvm.scala.Option.empty()\n"
        "info = scheduler.ExecutorDecommissionInfo('the test', nowhere)\n"
        "backend.decommissionExecutor('1', info, False, False)"
    )
    made.allocator.wait(lambda state: state["registered"] == ["2"], "a replacement")
    assert any(state["draining"] == ["1"] for state in made.allocator.states)
    made.allocator.wait(lambda state: not state["draining"] and not state["kills"], "its end")
    driver.do("sc.stop()")
    assert driver.finish() == 0
