"""A thousand pods on fake nodes, and the faults that tests can make."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator

import pytest

from cluster import fakes, faults, lifecycle
from cluster.handle import Cluster

pytestmark = pytest.mark.own_cluster

PODS = 1000


def wait_until(condition: Callable[[], bool], seconds: float, what: str) -> float:
    """Wait; the seconds it took."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds, f"not after {seconds} s: {what}"
        time.sleep(0.5)
    return time.monotonic() - began


@pytest.fixture
def _fake_nodes(cluster: Cluster) -> Iterator[None]:
    fakes.add(10)
    yield
    fakes.remove()


@pytest.mark.usefixtures("_fake_nodes")
def test_a_thousand_pods_come_and_go(cluster: Cluster, namespace: str) -> None:
    """1,000 pods on ten fake nodes run, and are gone after their deletion; no real node gets one."""
    template = {
        "metadata": {"labels": {"app": "many"}},
        "spec": {
            **fakes.PLACE,
            "containers": [{"name": "main", "image": "fake"}],
        },
    }
    cluster.apply(
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {"name": "many", "namespace": namespace},
            "spec": {
                "replicas": PODS,
                "selector": {"matchLabels": {"app": "many"}},
                "template": template,
            },
        }
    )

    def ready() -> str:
        return cluster.kubectl("get", "rs", "many", "-n", namespace, "-o=jsonpath={.status.readyReplicas}")

    wait_until(lambda: ready() == str(PODS), 180, f"{PODS} pods ready")
    nodes_used = {pod["spec"]["nodeName"] for pod in cluster.objects("pods", namespace)}
    assert all(name.startswith("fake") for name in nodes_used)
    cluster.kubectl(
        "delete", "rs", "many", "-n", namespace, "--cascade=foreground", "--timeout=180s", seconds=200
    )
    wait_until(lambda: not cluster.objects("pods", namespace), 120, "no pod left")


def test_a_paused_api_server_answers_nobody_and_then_everybody(cluster: Cluster) -> None:
    """While it is paused a call runs into its time limit; afterwards it is as before."""
    with faults.paused("kube-apiserver"), pytest.raises(subprocess.TimeoutExpired):
        cluster.kubectl("get", "nodes", seconds=2)
    assert "node1" in cluster.kubectl("get", "nodes")


def test_a_dead_node_is_noticed_and_comes_back(cluster: Cluster) -> None:
    """A killed node becomes NotReady within a minute, and Ready again after `up`."""
    path = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'

    def state() -> str:
        return cluster.kubectl("get", "node", "node2", "-o", path)

    faults.kill_node("node2")
    try:
        wait_until(lambda: state() == "Unknown", 60, "node2 not Ready")
    finally:
        lifecycle.up()
    wait_until(lambda: state() == "True", 30, "node2 Ready")
