"""What can go wrong beside a shuffle service: executors, services, nodes and disks. Each takes minutes."""

from __future__ import annotations

import random
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import deployed
import pytest
import services
import yaml
from conftest import Serve
from deployed import GO, wait_until

from cluster import fakes, faults, lifecycle, nodes
from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from cluster.plan import LAYOUT, NODES

pytestmark = [pytest.mark.full, pytest.mark.own_cluster]

OLD, NEW = TESTED_VERSIONS
PATIENCE = 900
SHUFFLE = ("200", "4")
"""MiB, and map tasks."""


@pytest.mark.parametrize("served", [True, False], ids=["service", "no-service"])
def test_executors_that_go_at_random(cluster: Cluster, namespace: str, serve: Serve, served: bool) -> None:
    """The result is right either way; with the service nothing is computed again, without it a lot is."""
    service = serve(NEW) if served else None
    # Without a service, reads fail again and again: Spark would give the job up at the fourth time.
    patient = {"spark.stage.maxConsecutiveAttempts": "100"}
    document = services.application("churned", NEW, service, GO, *SHUFFLE, sparkConf=patient)
    run = services.deploy(cluster, namespace, document)
    services.wait_for_line(run, "mapped:", PATIENCE)
    deleted = services.churn(run, 60, random.Random(7))  # noqa: S311 - chance
    run.touch(GO)
    assert run.wait(PATIENCE) == "Complete", run.story()
    told = services.result(run)
    assert told["bytes"] == [told["expected"]]
    assert deleted >= 5
    computed_again = (services.again(told), told["mapTasks"] - 4)
    assert computed_again == (0, 0) if served else computed_again > (0, 0), f"{told}\n{run.story()}"


def test_a_service_that_is_killed(cluster: Cluster, namespace: str, serve: Serve) -> None:
    """Its pods go in the middle of the reads; it comes back, knows what it served, and nothing is lost."""
    service = serve(NEW)
    run = services.deploy(cluster, namespace, services.application("killed", NEW, service, GO, *SHUFFLE))
    services.wait_for_line(run, "mapped:", PATIENCE)
    for pod in service.pods():
        arguments = ("-n", service.namespace, pod["metadata"]["name"], "--grace-period=0", "--force")
        cluster.kubectl("delete", "pod", *arguments)
    wait_until(service.is_ready, PATIENCE, "the service is back", service.story)
    services.churn(run, 15, random.Random(7), every=5)  # noqa: S311 - chance
    run.touch(GO)
    assert run.wait(PATIENCE) == "Complete", run.story()
    told = services.result(run)
    assert (told["bytes"], told["mapTasks"], services.again(told)) == ([told["expected"]], 4, 0), (
        f"{told}\n{run.story()}"
    )


def test_a_node_that_is_lost(cluster: Cluster, namespace: str, serve: Serve) -> None:
    """One executor is on each node: what was on the lost one is computed again, and only that."""
    service = serve(NEW)
    arguments, apart = (GO, "32", *services.SLOWLY), {"affinity": services.APART}
    document = services.application("lost", NEW, service, *arguments, executor=apart)
    document["spec"]["driver"]["nodeSelector"] = {"kubernetes.io/hostname": "node1"}
    run = services.deploy(cluster, namespace, document)
    services.wait_for_line(run, "mapped:", PATIENCE)
    assert sorted(pod["spec"]["nodeName"] for pod in run.executors("Running")) == ["node1", "node2"]
    out = "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute"
    try:
        faults.kill_node("node2")
        cluster.kubectl("taint", "node", "node2", out)
        wait_until(
            lambda: all(pod["spec"].get("nodeName") != "node2" for pod in run.executors()),
            PATIENCE,
            "the lost node's executors are gone",
            run.story,
        )
        run.touch(GO)
        assert run.wait(PATIENCE) == "Complete", run.story()
    finally:
        lifecycle.up(LAYOUT)
        cluster.try_kubectl("taint", "node", "node2", f"{out}-")
    told = services.result(run)
    assert told["bytes"] == [told["expected"]]
    assert 4 < told["mapTasks"] < 8, f"{told}\n{run.story()}"


def test_two_applications_at_once(cluster: Cluster, namespace: str, serve: Serve) -> None:
    """Neither reads the other's files, which are of another size, and each has ports of its own."""
    service = serve(NEW)
    runs = [
        services.deploy(cluster, namespace, services.application(name, NEW, service, GO, size, "4"))
        for name, size in (("one", "32"), ("other", "24"))
    ]
    for run in runs:
        services.wait_for_line(run, "mapped:", PATIENCE)
    ports = [
        port["hostPort"]
        for run in runs
        for pod in run.executors("Running")
        for port in pod["spec"]["containers"][0]["ports"]
    ]
    assert len(set(ports)) == len(ports) > 0
    assert len(service.folders(namespace)) == 2
    for run in runs:
        run.touch(GO)
    for run in runs:
        assert run.wait(PATIENCE) == "Complete", run.story()
        told = services.result(run)
        assert (told["bytes"], services.again(told)) == ([told["expected"]], 0)


def test_a_thousand_applications_leave_the_disk_as_it_was(
    cluster: Cluster, namespace: str, serve: Serve
) -> None:
    """Their drivers are pods that kwok pretends to run; they complete, fail, or are deleted."""
    service = serve(NEW)
    allow_janitor(cluster, namespace, service)
    fakes.add(2)
    try:
        before = {node.name: listed(service, node.name, namespace) for node in NODES}
        for batch in range(10):
            cluster.kubectl(
                "apply",
                "-n",
                namespace,
                "-f",
                "-",
                input_text=yaml.safe_dump_all(map(driver, range(batch * 100, batch * 100 + 100))),
            )
            pods = cluster.objects("pods", namespace, "spark-role=driver")
            names = [f"{service.directory}/{namespace}_{pod['metadata']['uid']}" for pod in pods]
            for node in NODES:
                service.run(node.name, "mkdir", *names)
            assert len(service.folders(namespace)) >= 100
            ends = [pod for pod in pods if pod["metadata"]["labels"]["part"] == "ends"]
            for phase, some in (("Succeeded", ends[:1]), ("Failed", ends[1:])):
                for pod in some:
                    status = f'{{"status":{{"phase":"{phase}"}}}}'
                    target = ("pod", pod["metadata"]["name"], "-n", namespace)
                    cluster.kubectl("patch", *target, "--subresource=status", "--type=merge", "-p", status)
            cluster.kubectl("delete", "pods", "-n", namespace, "-l", "part=rest", "--wait=false")
            wait_until(
                lambda: not service.folders(namespace), PATIENCE, "all have been removed", service.story
            )
            cluster.kubectl("delete", "pods", "-n", namespace, "-l", "spark-role=driver", "--wait=false")
        assert {node.name: listed(service, node.name, namespace) for node in NODES} == before
    finally:
        fakes.remove()


def driver(number: int) -> dict[str, object]:
    """The pod of a driver that only seems to run."""
    labels = {"spark-role": "driver", "part": "ends" if number % 100 < 2 else "rest"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"driver-{number:04}", "labels": labels},
        "spec": {
            "nodeName": fakes.name_of(1 + number % 2),
            "containers": [{"name": "driver", "image": "none"}],
            "tolerations": [{"operator": "Exists"}],
            "terminationGracePeriodSeconds": 0,
        },
    }


def listed(service: services.Service, node: str, namespace: str) -> list[str]:
    """What is in the service's directory on a node, without applications of other namespaces."""
    names = service.run(node, "ls", "-A", service.directory).split()
    return sorted(name for name in names if namespace in name or "_" not in name)


def allow_janitor(cluster: Cluster, namespace: str, service: services.Service) -> None:
    """The right that every application of the service gives to the janitor, and nothing else of one."""
    document = services.application("reader", NEW, service, GO, "1", "1")
    objects = yaml.safe_load_all(deployed.render(document, namespace))
    wanted = [item for item in objects if item and item["metadata"]["name"].endswith("-shuffle-janitor")]
    assert sorted(item["kind"] for item in wanted) == ["Role", "RoleBinding"]
    cluster.kubectl("apply", "-f", "-", input_text=yaml.safe_dump_all(wanted))


@contextmanager
def small_disk(directory: str, mebibytes: int) -> Iterator[None]:
    """A file system of so many MiB at a path of each node."""
    for node in NODES:
        on_node = nodes.enter(LAYOUT, node)
        subprocess.run([*on_node, "mkdir", "-p", directory], check=True, cwd="/")
        options = ("-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", directory)
        subprocess.run([*on_node, "mount", *options], check=True, cwd="/")
    try:
        yield
    finally:
        for node in NODES:
            with suppress(subprocess.CalledProcessError):
                subprocess.run([*nodes.enter(LAYOUT, node), "umount", "-l", directory], check=True, cwd="/")


def test_a_full_disk(cluster: Cluster, namespace: str, images: None) -> None:
    """What is over makes room at once, whatever its grace; what runs stays, and goes on."""
    name = f"full-{uuid.uuid4().hex[:6]}"
    directory = f"/var/lib/sparkgen/{name}"
    with small_disk(directory, 96):
        janitor = {"intervalSeconds": 2, "graceSeconds": 86_000, "pressurePercent": 60}
        service = services.start(cluster, namespace, OLD, name=name, janitor=janitor, directories=[directory])
        over = f"{directory}/{namespace}_00000000-0000-0000-0000-000000000000"
        for node in NODES:
            service.run(node.name, "mkdir", over)
            service.run(node.name, "sh", "-c", f"cat /dev/zero >{over}/left || true")
            assert service.run(node.name, "df", "--output=avail", directory).split()[1] == "0"
        document = services.application("room", OLD, service, GO, "16", "4")
        run = services.deploy(cluster, namespace, document)
        services.wait_for_line(run, "mapped:", PATIENCE)
        wait_until(
            lambda: len(service.folders(namespace)) == 1, PATIENCE, "what was over is gone", service.story
        )
        run.touch(GO)
        assert run.wait(PATIENCE) == "Complete", run.story()
        told = services.result(run)
        assert (told["bytes"], services.again(told)) == ([told["expected"]], 0)
        cluster.kubectl("delete", "daemonset", name, "-n", namespace, "--wait")
