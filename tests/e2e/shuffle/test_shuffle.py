"""Executors go, and what they have shuffled stays: on real nodes, with Spark's own shuffle service."""

from __future__ import annotations

from dataclasses import replace

import pytest
import services
from conftest import Serve
from deployed import GO, Deployed, wait_until

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS

OLD, NEW = TESTED_VERSIONS
PATIENCE = 900
"""Seconds, on a machine that others use as well."""


@pytest.mark.parametrize(
    ("version", "host_network"),
    [
        pytest.param(NEW, False, marks=[pytest.mark.core, pytest.mark.families]),
        (OLD, False),
        pytest.param(NEW, True, marks=pytest.mark.full),
    ],
    ids=[NEW, OLD, "host-network"],
)
def test_no_map_task_runs_again(
    cluster: Cluster, namespace: str, serve: Serve, version: str, host_network: bool
) -> None:
    """All executors go between two actions: two new ones read what is there; reducers read the node's disk.

    Afterwards the janitor leaves the disk as it was.
    """
    service = serve(version, host_network=host_network)
    arguments, apart = ("idle", "16", *services.SLOWLY), {"affinity": services.APART}
    document = services.application("reused", version, service, *arguments, executor=apart)
    run = services.deploy(cluster, namespace, document)
    assert run.wait(PATIENCE) == "Complete", run.story() + service.story()
    told = services.result(run)
    assert "executors left: 0" in run.logs()
    assert told["bytes"] == [told["expected"]]
    assert (told["mapTasks"], services.again(told)) == (4, 0), told
    assert [stage["status"] for stage in told["stages"]].count("SKIPPED") == 1
    last = told["stages"][-1]  # the read of executors that wrote nothing
    if service.nodes() == 2:  # on more of them, executors may come back elsewhere
        assert last["shuffleLocalBytesRead"] > 0, f"nothing was read from the node's own disk: {told}"
        assert last["shuffleRemoteBytesRead"] > 0, f"nothing was read from the other node's service: {told}"
    wait_until(
        lambda: not service.folders(namespace), PATIENCE, "the janitor has removed its files", service.story
    )


def test_two_services_stand_side_by_side(cluster: Cluster, namespace: str, serve: Serve) -> None:
    """Two applications at one time, each with its service: port, directories and Secret are its own.

    Executors of both go between two actions, and each service has its application's files and no others.
    One that holds the other service's Secret is turned away.
    """
    both = serve(NEW), serve(NEW, second=True)
    arguments = (f"still:{GO}", "16", "4")
    runs = [
        services.deploy(cluster, namespace, services.application(name, NEW, service, *arguments))
        for name, service in zip(("first", "second"), both, strict=True)
    ]
    for run, service in zip(runs, both, strict=True):
        services.wait_for_line(run, "mapped: 4", PATIENCE)
        wait_until(lambda run=run: not run.executors(), PATIENCE, "the idle executors have gone", run.story)
        (folder,) = service.folders(namespace)
        assert folder == f"{namespace}_{run.driver()['metadata']['uid']}", run.story() + service.story()
    for run, service in zip(runs, both, strict=True):
        run.touch(GO)
        assert run.wait(PATIENCE) == "Complete", run.story() + service.story()
        told = services.result(run)
        assert told["bytes"] == [told["expected"]]
        assert (told["mapTasks"], services.again(told)) == (4, 0), told
    stranger = replace(both[0], secret_name=both[1].secret_name)
    run = services.deploy(
        cluster, namespace, services.application("stranger", NEW, stranger, "idle", "1", "2")
    )
    refused = "Unable to register with external shuffle server"
    wait_until(lambda: refused in _executor_logs(run), PATIENCE, "the service turns it away", run.story)


def _executor_logs(run: Deployed) -> str:
    """What the executors that are there have printed."""
    names = [pod["metadata"]["name"] for pod in run.executors()]
    return "".join(run.cluster.try_kubectl("logs", "-n", run.namespace, name).stdout for name in names)


@pytest.mark.full
def test_the_sidecar_runs_the_same_job(cluster: Cluster, restricted: str) -> None:
    """In a namespace that lets in no host port and no host path; an executor's files go with its pod.

    Spark is told so: it computes what was there again, and nothing else, before a read of it fails.
    """
    document = services.application("beside", NEW, None, f"still:{GO}", "16", "4")
    del document["spec"]["dynamicAllocation"]
    document["spec"]["executor"]["instances"] = 2
    # Both have map tasks, so that one keeps what is not computed again.
    both = {"minRegisteredResourcesRatio": "1.0", "maxRegisteredResourcesWaitingTime": "300s"}
    document["spec"]["sparkConf"] |= {f"spark.scheduler.{name}": value for name, value in both.items()}
    document["spec"]["shuffleService"] = {"mode": "sidecar", "sidecarMemory": "256m"}
    run = services.deploy(cluster, restricted, document)
    services.wait_for_line(run, "mapped: 4", PATIENCE)
    (pod, *_) = run.executors("Running")
    assert [container["name"] for container in pod["spec"]["initContainers"]] == ["shuffle-service"]
    cluster.kubectl("delete", "pod", "-n", restricted, pod["metadata"]["name"], "--grace-period=1")
    wait_until(lambda: "Lost executor" in run.logs(), PATIENCE, "Spark knows of the loss", run.story)
    run.touch(GO)
    assert run.wait(PATIENCE) == "Complete", run.story()
    told = services.result(run)
    assert told["bytes"] == [told["expected"]]
    assert 4 < told["mapTasks"] < 8, told
    assert "FAILED" not in [stage["status"] for stage in told["stages"]], f"{told}\n{run.story()}"
