"""A node is lost, with executors or with the driver on it; a node is drained, or short of disk."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from typing import Any

import pytest
from deployed import GO, Deployed, deploy, document, leaving, wait_until
from places import Nodes
from recorder import Recorder, recorded

from cluster import faults
from cluster import nodes as machines
from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from cluster.plan import LAYOUT
from sparkgen.codes import Code
from tests.e2e.shuffle import services

NEW = TESTED_VERSIONS[-1]
SOON = [
    {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 3}
    for key in ("unreachable", "not-ready")
]
"""Tolerations that have a pod leave a lost node at once: Kubernetes' own would let it wait for 5 minutes."""

RETRIED = {"type": "OnFailure", "onFailureRetries": 2}


def label(pod: Mapping[str, Any], name: str) -> str:
    """A label of a pod."""
    return str(pod["metadata"]["labels"][name])


def registered(application: Deployed, count: int) -> None:
    """Wait until Spark has so many executors."""
    wait_until(
        lambda: any(known == count for known, _ in application.registered()),
        150,
        f"{count} executors are registered",
        application.story,
    )


def blamed(application: Deployed) -> list[str]:
    """The losses in an allocator's log that count against the application."""
    return [entry.text for entry in application.losses() if entry.facts["byApplication"]]


def runs_on(node: str, container: str) -> bool:
    """Whether a container's process runs on a node, whatever Kubernetes knows of it."""
    command = [*machines.enter(LAYOUT, faults.node_of(node)), *machines.CTR, "tasks", "list"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/")
    return any(container in line and "RUNNING" in line for line in done.stdout.splitlines())


def one_driver_at_a_time(record: Recorder, count: int) -> None:
    """Check that there were so many drivers, each created when the one before had ended or was gone."""
    assert len(record.uids("driver")) == count
    assert record.most_at_once("driver") == 1


def with_driver_at(nodes: Nodes, name: str) -> dict[str, Any]:
    """An application whose driver leaves a lost node soon, and is tried again; executors are on node1."""
    nodes.open("node1", "executor")
    nodes.open("node2", "driver")
    driver = {"nodeSelector": nodes.at("driver"), "tolerations": SOON}
    executor = {"nodeSelector": nodes.at("executor"), "instances": 1}
    options = {"driver": driver, "executor": executor, "restartPolicy": RETRIED}
    return document(name, NEW, "hold.py", "3", "nothing", "8", **options)


def new_attempt_ended_well(application: Deployed, first: str, old: list[dict[str, Any]]) -> None:
    """Check the second driver's work: its own executors, the right result, nothing of the first one left."""
    wait_until(
        lambda: bool(set(application.drivers()) - {first}),  # for a while there may be none
        120,
        "another driver is there",
        application.story,
    )
    registered(application, 1)
    before = {label(pod, "sparkgen.dev/attempt") for pod in old}
    now = {label(pod, "sparkgen.dev/attempt") for pod in application.executors("Running")}
    assert before
    assert now - before, "the new driver has executors of another attempt"
    assert application.wait() == "Complete", application.story()
    assert "total: 3" in application.logs()
    wait_until(lambda: not application.executors(), 60, "no executor is left", application.story)


def test_a_driver_that_is_cut_off_gets_no_twin(cluster: Cluster, restricted: str, nodes: Nodes) -> None:
    """The driver's node is unreachable and the driver runs on: no second one, until the node is back."""
    with recorded(cluster, restricted) as record:
        application = deploy(cluster, restricted, with_driver_at(nodes, "cut"))
        registered(application, 1)
        first, old = application.driver(), application.executors()
        (state,) = first["status"]["containerStatuses"]
        container = state["containerID"].removeprefix("containerd://")
        with faults.cut_off("node2"):
            wait_until(
                lambda: leaving(application.driver()), 60, "the driver has to leave", application.story
            )
            began = time.monotonic()
            while time.monotonic() - began < 20:
                assert record.uids("driver") == [first["metadata"]["uid"]], "there are two drivers"
                time.sleep(1)
            assert runs_on("node2", container), "nothing was shown: the driver had ended by itself"
        nodes.open("node1", "driver")
        new_attempt_ended_well(application, first["metadata"]["uid"], old)
    one_driver_at_a_time(record, 2)


@pytest.mark.full
def test_a_driver_whose_node_is_gone_for_good_is_replaced(
    cluster: Cluster, restricted: str, nodes: Nodes
) -> None:
    """The machine is dead and its Node object deleted: only then another driver starts, elsewhere."""
    with recorded(cluster, restricted) as record:
        application = deploy(cluster, restricted, with_driver_at(nodes, "dead"))
        registered(application, 1)
        first, old = application.driver(), application.executors()
        faults.kill_node("node2")
        nodes.open("node1", "driver")
        wait_until(lambda: leaving(application.driver()), 60, "the driver has to leave", application.story)
        began = time.monotonic()
        while time.monotonic() - began < 30:
            assert record.uids("driver") == [first["metadata"]["uid"]], "there are two drivers"
            time.sleep(1)
        cluster.kubectl("delete", "node", "node2", "--wait=false")
        new_attempt_ended_well(application, first["metadata"]["uid"], old)
    one_driver_at_a_time(record, 2)


def test_executors_of_a_lost_node_are_replaced_and_their_work_is_done_again(
    cluster: Cluster, restricted: str, nodes: Nodes
) -> None:
    """Both executors' node is unreachable: Spark hears "node-lost", and computes their map output again."""
    nodes.open("node1", "driver")
    nodes.open("node2", "executor")
    options = {
        "driver": {"nodeSelector": nodes.at("driver")},
        "executor": {"nodeSelector": nodes.at("executor"), "tolerations": SOON},
    }
    application = deploy(cluster, restricted, document("lost", NEW, "again.py", GO, **options))
    wait_until(lambda: "first: 499500" in application.logs(), 150, "the first sum", application.story)
    nodes.open("node1", "executor")
    with faults.cut_off("node2"):
        told = "is lost: its node node2 stopped responding"
        wait_until(
            lambda: told in application.logs(), 90, "Spark is told that the node is lost", application.story
        )
        wait_until(
            lambda: (
                len([p for p in application.executors("Running") if p["spec"]["nodeName"] == "node1"]) == 2
            ),
            60,
            "two others run on node1",
            application.story,
        )
        application.touch(GO)
        assert application.wait() == "Complete", application.story()
        said = application.logs()
        assert "second: 499500" in said
        assert "node-lost" in application.logs("allocator"), application.story()
        assert "FetchFailed" not in said, "Spark knew that the map output was gone"
    wait_until(lambda: not application.executors(), 90, "no executor is left", application.story)


def on_node2(nodes: Nodes, **executor: Any) -> dict[str, Any]:
    """Where a driver that stays on node1 and executors that begin on node2 go."""
    nodes.open("node1", "driver")
    nodes.open("node2", "executor")
    return {
        "driver": {"nodeSelector": nodes.at("driver")},
        "executor": {"nodeSelector": nodes.at("executor"), **executor},
    }


def budget(namespace: str, application: str) -> dict[str, Any]:
    """A PodDisruptionBudget that leaves an application at least one executor."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": application, "namespace": namespace},
        "spec": {
            # A number: for a percentage, Kubernetes would ask the owner for its scale, and a pod has none.
            "minAvailable": 1,
            "selector": {
                "matchLabels": {"sparkgen.dev/application": application, "spark-role": "executor"},
            },
        },
    }


def drain(cluster: Cluster, application: str) -> subprocess.CompletedProcess[str]:
    """`kubectl drain node2`, for the pods of an application."""
    selector = f"--pod-selector=sparkgen.dev/application={application}"
    flags = (selector, "--delete-emptydir-data", "--timeout=150s")
    return cluster.try_kubectl("drain", "node2", *flags, seconds=200)


@pytest.mark.full
def test_a_drained_node_keeps_what_a_budget_protects(cluster: Cluster, restricted: str, nodes: Nodes) -> None:
    """`kubectl drain` with a PodDisruptionBudget of one: executors move one by one, and nobody is blamed."""
    cluster.apply(budget(restricted, "drained"))
    with recorded(cluster, restricted) as record:
        options = on_node2(nodes)
        application = deploy(
            cluster, restricted, document("drained", NEW, "shuffle.py", "60", "0", **options)
        )
        registered(application, 2)
        nodes.open("node1", "executor")
        said = drain(cluster, "drained")
        drained = record.count
        assert said.returncode == 0, said.stderr
        assert application.wait() == "Complete", application.story()
    assert "would violate the pod's disruption budget" in said.stderr, "the budget protected nobody"
    assert record.fewest_running("executor", after=2, until=drained) >= 1
    assert "rounds: (99500, 99700, 99900, 100100, 100300)" in application.logs()
    assert blamed(application) == []
    assert len(application.losses(Code.EVICTED)) == 2
    assert len(record.uids("executor")) == 4


@pytest.mark.full
@pytest.mark.parametrize("moves", [True, False], ids=["moved", "lost"])
def test_shuffle_files_leave_a_drained_node_before_it_goes(
    cluster: Cluster, restricted: str, nodes: Nodes, moves: bool
) -> None:
    """With decommissioning, they go to the executors that stay, and no map task runs again."""
    names = ("decommission", "storage.decommission", "storage.decommission.shuffleBlocks")
    conf = {f"spark.{name}.enabled": "true" for name in names} if moves else {}
    wanted = services.application(
        "moving", NEW, None, f"still:{GO}", "16", "4", sparkConf=conf, **on_node2(nodes, instances=2)
    )
    del wanted["spec"]["dynamicAllocation"]
    cluster.apply(budget(restricted, "moving"))
    application = services.deploy(cluster, restricted, wanted)
    services.wait_for_line(application, "mapped: 4")
    nodes.open("node1", "executor")
    said = drain(cluster, "moving")
    assert said.returncode == 0, said.stderr
    application.touch(GO)
    assert application.wait() == "Complete", application.story()
    told = services.result(application)
    assert told["bytes"] == [told["expected"]]
    assert told["mapTasks"] == (4 if moves else 8), told
    assert blamed(application) == []


@pytest.mark.full
def test_executors_leave_a_pool_without_nodes_and_come_back(
    cluster: Cluster, restricted: str, nodes: Nodes
) -> None:
    """The preferred pool has no node, so they run in the other one; later, a new one is in the preferred."""
    nodes.open("node1", "driver")
    pools = [
        {"name": "spot", "nodeSelector": nodes.at("executor")},
        {"name": "stable", "nodeSelector": nodes.at("driver")},
    ]
    options = {"executor": {"instances": 2, "pools": pools}, "allocation": {"poolTimeout": "8s"}}
    wanted = document("pools", NEW, "rounds.py", GO, driver={"nodeSelector": nodes.at("driver")}, **options)
    application = deploy(cluster, restricted, wanted)
    registered(application, 2)
    assert in_pools(application) == {("stable", "node1")}
    said = [event["message"] for event in application.events() if event["reason"] == "PoolPaused"]
    assert "pool spot gave executors no node within 8 s" in said[0]
    nodes.open("node2", "executor")
    for _ in range(4):  # the first may still avoid the pool; each next one tries it
        victim = application.executors("Running")[0]["metadata"]["name"]
        cluster.kubectl("delete", "pod", victim, "-n", restricted, "--wait=false")
        wait_until(lambda name=victim: replaced(application, name), 90, "it is replaced", application.story)
        if ("spot", "node2") in in_pools(application):
            break
    assert ("spot", "node2") in in_pools(application), application.story()
    application.touch(GO)
    assert application.wait() == "Complete", application.story()
    assert blamed(application) == []


def in_pools(application: Deployed) -> set[tuple[str, str]]:
    """The pools and nodes of the executors that run."""
    running = application.executors("Running")
    return {(label(pod, "sparkgen.dev/pool"), pod["spec"]["nodeName"]) for pod in running}


def replaced(application: Deployed, name: str) -> bool:
    """Whether two executors run, and this one does not."""
    running = {pod["metadata"]["name"] for pod in application.executors("Running")}
    return len(running) == 2 and name not in running


@pytest.mark.full
def test_an_executor_that_uses_too_much_disk_is_to_blame(cluster: Cluster, restricted: str) -> None:
    """The kubelet evicts it for its own volume's limit: the application's fault; the task runs again."""
    volume = {"name": "fill", "emptyDir": {"sizeLimit": "20Mi"}}
    executor = {"instances": 1, "volumeMounts": [{"name": "fill", "mountPath": "/opt/fill"}]}
    wanted = document("disk", NEW, "hold.py", "3", "disk", "1", executor=executor, volumes=[volume])
    application = deploy(cluster, restricted, wanted)
    assert application.wait() == "Complete", application.story()
    assert "total: 3" in application.logs()
    assert any("exceeds the limit" in lost.text for lost in application.losses(Code.EVICTED))
    assert len(blamed(application)) == 1, application.story()


@pytest.mark.full
def test_a_node_short_of_disk_evicts_and_nobody_is_blamed(
    cluster: Cluster, restricted: str, nodes: Nodes
) -> None:
    """Disk pressure on the executors' node: evicted, not the application's fault; others work elsewhere."""
    try:
        with faults.nearly_full_disk("node2") as fill, recorded(cluster, restricted) as record:
            options = on_node2(nodes)
            wanted = document("pressed", NEW, "shuffle.py", "90", "0", **options)
            application = deploy(cluster, restricted, wanted)
            registered(application, 2)
            nodes.open("node1", "executor")
            fill()
            wait_until(
                lambda: len(application.losses(Code.EVICTED)) >= 2,
                120,
                "both executors of node2 are evicted",
                application.story,
            )
            assert application.wait() == "Complete", application.story()
    finally:
        cluster.load_runtime()  # what the kubelet removed to make room
        cluster.load_spark(TESTED_VERSIONS)
    assert "rounds: (99500, 99700, 99900, 100100, 100300)" in application.logs()
    assert blamed(application) == []
    assert "The node was low on resource: ephemeral-storage" in application.logs("allocator")
    assert len(record.uids("executor")) == 4
