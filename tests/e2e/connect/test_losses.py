"""What a client of a Connect server sees when executors, the driver or its context are lost."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from deployed import Deployed, deploy, wait_until

from cluster import faults
from cluster.handle import Cluster
from tests.e2e.connect.test_connect import RESULT, connect, server

pytestmark = pytest.mark.own_cluster
DRIVER = "spark-kubernetes-driver"
EXECUTOR = "spark-kubernetes-executor"


def query_meets(
    cluster: Cluster, application: Deployed, query: tuple[str, ...], fault: Callable[[], None]
) -> list[str]:
    """What a client prints whose query is under way on two executors when the fault comes."""

    def works() -> bool:
        counts = application.registered()
        return bool(counts) and counts[-1][0] == 2

    with ThreadPoolExecutor(1) as clients:
        client = clients.submit(connect, cluster, application.namespace, application.name, "long.py", *query)
        wait_until(lambda: client.done() or works(), 300, "two executors", application.story)
        fault()
        return client.result()


def driver_state(application: Deployed) -> dict[str, Any]:
    """What the kubelet says of the driver's container."""
    states = application.driver()["status"]["containerStatuses"]
    return {state["name"]: state for state in states}[DRIVER]


@pytest.mark.full
def test_a_query_outlives_its_executors(cluster: Cluster, restricted: str) -> None:
    """One is killed, the pod of the other is deleted: those that replace them do what was lost again."""
    application = deploy(cluster, restricted, server("lossy"))

    def lose_both() -> None:
        first, second = application.executors("Running")
        assert faults.kill_container(first, EXECUTOR)
        cluster.kubectl("delete", "pod", second["metadata"]["name"], "-n", restricted, "--wait=false")

    assert query_meets(cluster, application, ("20",), lose_both) == ["sum: 190"], application.story()
    assert len(application.losses()) >= 2


@pytest.mark.full
def test_a_client_is_told_that_the_driver_was_lost(cluster: Cluster, restricted: str) -> None:
    """Its query ends with an error, and not never; the next session works, in the same pod."""
    application = deploy(cluster, restricted, server("killed"))

    def kill_driver() -> None:
        assert faults.kill_container(application.driver(), DRIVER)

    failed, again = query_meets(cluster, application, ("600", "again:"), kill_driver)
    assert failed.startswith("failed: ")
    assert "INVALID_HANDLE.SESSION_NOT_FOUND" in failed
    assert again == "again: 10", application.story()
    assert driver_state(application)["restartCount"] == 1


def test_a_server_whose_context_has_stopped_serves_again(cluster: Cluster, restricted: str) -> None:
    """The client reads the allocator's reason, and the kubelet starts the next server."""
    document = server("stopped", allocation={"maxExecutorFailures": 1})
    application = deploy(cluster, restricted, document)

    def fail_both() -> None:
        for executor in application.executors("Running"):
            assert faults.kill_container(executor, EXECUTOR)

    failed, *_ = query_meets(cluster, application, ("600",), fail_both)
    assert "sparkgen: [MaxExecutorFailures] 2 executors failed" in failed

    def is_restarted() -> bool:
        return bool(driver_state(application)["restartCount"])

    wait_until(is_restarted, 60, "the driver's container is started again", application.story)
    assert connect(cluster, restricted, "stopped", "work.py") == RESULT, application.story()
    state = driver_state(application)
    assert (state["restartCount"], state["lastState"]["terminated"]["exitCode"]) == (1, 1)
    assert "The SparkContext of this Connect server has stopped" in application.logs(DRIVER, "--previous")
