"""Executors, the allocator and the driver die: the result is the same, the cause is told, nothing is left."""

from __future__ import annotations

import json
import time

import pytest
from deployed import Deployed, deploy, document, wait_until

from cluster import faults
from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from sparkgen.codes import Code

OLD, NEW = TESTED_VERSIONS


def running(application: Deployed, count: int) -> list[str]:
    """The names of executors, when so many of them are registered with Spark."""

    def registered() -> bool:
        known = any(number for number, _ in application.registered())
        return known and len(application.executors("Running")) >= count

    wait_until(registered, 120, f"{count} executors run", application.story)
    time.sleep(8)  # until their JVMs have registered, and work
    return [pod["metadata"]["name"] for pod in application.executors("Running")]


def test_lost_executors_are_replaced_and_the_result_is_right(cluster: Cluster, restricted: str) -> None:
    """One is deleted, one evicted: neither counts as the application's fault, and others take their place."""
    application = deploy(cluster, restricted, document("losses", NEW, "hold.py", "8", "nothing", "12"))
    first, second = running(application, 2)[:2]
    cluster.kubectl("delete", "pod", first, "-n", restricted, "--wait=false")
    eviction = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": second, "namespace": restricted},
    }
    path = f"/api/v1/namespaces/{restricted}/pods/{second}/eviction"
    cluster.kubectl("create", "--raw", path, "-f", "-", input_text=json.dumps(eviction))
    assert application.wait() == "Complete", application.story()
    assert "total: 28" in application.logs()
    told = application.logs("allocator")
    assert "evict" in told
    assert "deleted" in told


@pytest.mark.own_cluster
def test_an_executor_out_of_memory_is_told_as_such(cluster: Cluster, restricted: str) -> None:
    """The kernel kills the executor: the application's fault, said with the limit; the task runs again."""
    memory = {"name": "fill", "emptyDir": {"medium": "Memory"}}
    mount = {"name": "fill", "mountPath": "/opt/fill"}
    executor = {"instances": 1, "volumeMounts": [mount]}
    wanted = document("oom", OLD, "hold.py", "4", "oom", "1", executor=executor, volumes=[memory])
    application = deploy(cluster, restricted, wanted)
    assert application.wait() == "Complete", application.story()
    assert "total: 6" in application.logs()
    assert application.losses(Code.OUT_OF_MEMORY), application.story()


@pytest.mark.own_cluster
def test_executors_that_the_kernel_kills_get_enough_memory(cluster: Cluster, restricted: str) -> None:
    """The task's memory is too large for the first size, and fits into the second: no failure counts."""
    memory = {"name": "fill", "emptyDir": {"medium": "Memory"}}
    executor = {"instances": 1, "volumeMounts": [{"name": "fill", "mountPath": "/opt/fill"}]}
    wanted = document(
        *("hungry", NEW, "hold.py", "1", "hungry", "5"),
        executor=executor,
        volumes=[memory],
        sparkConf={"spark.task.maxFailures": "1"},  # a single failed attempt would fail the job
        allocation={
            "maxExecutorFailures": 1,
            "memoryOverheadRecovery": {"step": "400m", "maxIncrease": "500m"},
        },
    )
    application = deploy(cluster, restricted, wanted)

    def limits() -> set[str]:
        pods = application.executors()
        return {pod["spec"]["containers"][0]["resources"]["limits"]["memory"] for pod in pods}

    wait_until(lambda: "1384Mi" in limits(), 120, "a larger executor is created", application.story)
    assert application.wait() == "Complete", application.story()
    assert "total: 0" in application.logs()
    (loss,) = application.losses()
    assert (loss.facts["code"], loss.facts["byApplication"]) == (Code.OUT_OF_MEMORY, False)
    assert "limit 984Mi" in loss.text
    (raised,) = [one for one in application.events() if one["reason"] == "ExecutorMemoryRaised"]
    assert raised["message"].endswith("400 MiB more; commit this: spec.executor.memoryOverhead: 784m")


@pytest.mark.own_cluster
def test_the_allocator_dies_while_it_scales(cluster: Cluster, restricted: str) -> None:
    """Killed twice with -9 while executors come: none too many, and the job does not notice."""
    application = deploy(cluster, restricted, document("crash", NEW, "hold.py", "8", "nothing", "8"))
    for _ in range(2):
        wait_until(lambda: bool(application.executors()), 60, "there are executors", application.story)
        faults.kill_container(application.driver(), "allocator")
        time.sleep(4)
    assert application.wait() == "Complete", application.story()
    assert "total: 28" in application.logs()
    status = application.driver()["status"]["initContainerStatuses"]
    (allocator,) = [entry for entry in status if entry["name"] == "allocator"]
    assert allocator["restartCount"] >= 1
    created = [
        call.name
        for call in cluster.calls(restricted, "crash")
        if (call.verb, call.resource, call.code) == ("create", "pods", 201)
    ]
    assert len(created) == 2, "the two executors that were wanted, each created once"
    wait_until(lambda: not application.executors(), 30, "nothing is left", application.story)


def test_nothing_is_left_when_the_driver_is_deleted(cluster: Cluster, restricted: str) -> None:
    """The driver's Job is deleted in the middle: its executors and its Secret go with it."""
    application = deploy(cluster, restricted, document("gone", OLD, "hold.py", "4", "nothing", "60"))
    running(application, 2)
    cluster.kubectl("delete", "job", application.run, "-n", restricted, "--wait=false")
    wait_until(lambda: not application.executors(), 90, "the executors are gone")
    wait_until(lambda: not cluster.objects("secrets", restricted), 60, "the secret is gone")


@pytest.mark.own_cluster
def test_nothing_runs_on_when_the_allocator_died_before_the_end(cluster: Cluster, restricted: str) -> None:
    """The driver completes while its allocator is down: executors leave by themselves."""
    application = deploy(cluster, restricted, document("alone", NEW, "hold.py", "2", "nothing", "14"))
    running(application, 2)
    deadline = time.monotonic() + 120
    while not application.finished() and time.monotonic() < deadline:
        faults.kill_container(application.driver(), "allocator")  # it comes back ever more slowly
        time.sleep(1)
    assert application.finished() == "Complete", application.story()
    wait_until(
        lambda: not application.executors("Running", "Pending"), 90, "no executor runs", application.story
    )
    cluster.kubectl("delete", "job", application.run, "-n", restricted)
    wait_until(lambda: not application.executors(), 60, "no executor's pod is left")
