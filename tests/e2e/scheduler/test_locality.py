"""Tasks where their data is: executors under addresses of their own, and hosts of data by other names."""

from __future__ import annotations

import ast
import time
from collections import Counter
from collections.abc import Callable

import pytest

from spark.trial_driver import Driver, Trial
from sparkgen.spark_versions import COMPILED

lines = pytest.mark.parametrize("line", COMPILED)
HOSTS = {"1": "127.0.0.2", "2": "127.0.0.3"}
NODES = {
    "node-a": {"executors": ["1"], "addresses": ["10.0.0.1", "fd00:10:77::b"]},
    "node-b.example.org": {"executors": ["2"], "addresses": ["10.0.0.2"]},
}
PROGRAM = """\
from pyspark import RDD
from pyspark.serializers import UTF8Deserializer

def ran(hosts):
    # Eight tasks of a fifth of a second that prefer these hosts: how near each was, and who ran it.
    seq, jvm = sc._jvm.org.apache.spark.api.python.PythonUtils.toSeq, sc._jvm
    tag = jvm.scala.reflect.ClassTag.apply(jvm.java.lang.Class.forName("java.lang.String"))
    data = sc._jsc.sc().makeRDD(seq([jvm.scala.Tuple2("x", seq(hosts)) for _ in range(8)]), tag)
    rdd = RDD(jvm.org.apache.spark.api.java.JavaRDD(data, tag), sc, UTF8Deserializer())
    rdd.mapPartitions(lambda part: (time.sleep(0.2), list(part))[1]).count()
    sc._jsc.sc().listenerBus().waitUntilEmpty()
    tracker = sc.statusTracker()
    stage = max(tracker.getJobInfo(job).stageIds[-1] for job in tracker.getJobIdsForGroup())
    tasks = sc._jsc.sc().statusStore().taskList(stage, 0, 100).iterator()
    found = []
    while tasks.hasNext():
        task = tasks.next()
        found.append((str(task.taskLocality()), str(task.executorId())))
    return found

def rack(host):
    return sc._jsc.sc().taskScheduler().getRackForHost(host).toString()
"""


def ran(driver: Driver, *hosts: str) -> Counter[tuple[str, str]]:
    """How near tasks that prefer these hosts were to them, and which executor ran them: how many of each."""
    return Counter(ast.literal_eval(driver.do(f"ran({list(hosts)!r})")))


def told(made: Trial, driver: Driver, rack: str) -> None:
    """Tell the driver where its executors are, and wait until it knows that the first one is in `rack`."""
    made.allocator.report(nodes=NODES, data_hosts={"dn-0": "node-b.example.org"})
    deadline = time.monotonic() + 60
    while driver.do("rack('127.0.0.2')") != repr(rack):
        assert time.monotonic() < deadline
        time.sleep(0.05)


@lines
def test_tasks_go_to_the_node_of_their_data(trial: Callable[[str], Trial], line: str) -> None:
    """By the node's name, the first label, the node's address and the document's word; else as in Spark."""
    made = trial(line)
    made.allocator.host_of = HOSTS
    made.allocator.start()
    driver = made.start(
        {
            "spark.executor.instances": "2",
            "spark.scheduler.minRegisteredResourcesRatio": "1",
            "spark.scheduler.maxRegisteredResourcesWaitingTime": "180s",
            "spark.locality.wait": "30s",
        }
    )
    driver.do("sc = SparkContext()")
    driver.do(PROGRAM)
    # An allocator that tells of no nodes: nothing is near, and nothing is waited for.
    alone = ran(driver, "node-a")
    assert {near for near, _ in alone} == {"ANY"}
    assert min(alone.values()) >= 3, alone
    told(made, driver, "Some(node-a)")
    addresses = (("10.0.0.1",), ("[fd00:10:77::b]",), ("fd00:10:77:0:0:0:0:b",))
    for hosts in (("node-a",), ("Node-A.hdfs.example.com",), *addresses, ("elsewhere", "node-a")):
        local = ran(driver, *hosts)
        assert local["RACK_LOCAL", "1"] >= 7, (hosts, local)
    for host in ("dn-0.datanodes.hdfs.svc", "10.0.0.2", "node-b"):
        assert ran(driver, host)["RACK_LOCAL", "2"] >= 7, host
    # Nobody waits for a host where no executor is, and what prefers an executor waits for no neighbour of it.
    assert {near for near, _ in ran(driver, "elsewhere", "10.9.9.9")} == {"ANY"}
    assert ran(driver, "127.0.0.2")["NODE_LOCAL", "1"] >= 7
    driver.do("sc.stop()")
    assert driver.finish() == 0


@lines
def test_racks_are_forgotten_with_their_last_executor(trial: Callable[[str], Trial], line: str) -> None:
    """A node without an executor is nothing to wait for, and a late word of where one is counts."""
    made = trial(line)
    made.allocator.host_of = {**HOSTS, "3": "127.0.0.4"}
    made.allocator.start()
    driver = made.start(
        {
            "spark.executor.instances": "2",
            "spark.scheduler.minRegisteredResourcesRatio": "1",
            "spark.scheduler.maxRegisteredResourcesWaitingTime": "180s",
            "spark.locality.wait": "600s",
        }
    )
    driver.do("sc = SparkContext()")
    driver.do(PROGRAM)
    told(made, driver, "Some(node-a)")
    made.allocator.kill("1", {"cause": "deleted", "byApplication": False, "message": "so"})
    made.allocator.wait(lambda state: set(state["registered"]) == {"2", "3"}, "a replacement")
    began = time.monotonic()
    assert {near for near, _ in ran(driver, "node-a")} == {"ANY"}
    assert time.monotonic() - began < 300
    later = {**NODES, "node-a": {"executors": ["3"], "addresses": []}}
    made.allocator.report(nodes=later)
    while driver.do("rack('127.0.0.4')") != "'Some(node-a)'":
        time.sleep(0.05)
    assert ran(driver, "node-a")["RACK_LOCAL", "3"] >= 7
    driver.do("sc.stop()")
    assert driver.finish() == 0
