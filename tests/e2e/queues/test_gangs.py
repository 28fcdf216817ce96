"""Gangs of Kubernetes' own: executors that get their nodes together, or not at all."""

from __future__ import annotations

import json

import pytest
from deployed import Deployed, deploy, document, wait_until

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from sparkgen.grammar.quantity import parse

VERSION = TESTED_VERSIONS[0]
ALL_OR_NOTHING = {
    "spark.scheduler.minRegisteredResourcesRatio": "1.0",
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "30m",
}
"""With these Spark begins with all executors only: two applications with one each would wait forever."""


def most_of_a_node(cluster: Cluster) -> str:
    """CPU of which a node has room for one, and not for two."""
    nodes = json.loads(cluster.kubectl("get", "nodes", "-l", "!type", "-o", "json"))["items"]
    cores = min(parse(str(node["status"]["allocatable"]["cpu"])) for node in nodes)
    return f"{int(cores * 600)}m"


def placed(application: Deployed) -> int:
    """How many of its executors have a node."""
    return sum("nodeName" in pod["spec"] for pod in application.executors())


@pytest.mark.own_cluster
@pytest.mark.full
def test_two_gangs_that_fit_one_after_the_other_both_end(cluster: Cluster, restricted: str) -> None:
    """Each needs both nodes. One gets both, the other none: it begins when the first has ended."""
    spec = {
        "batchScheduler": "kube-scheduler",
        "sparkConf": ALL_OR_NOTHING,
        "executor": {
            "instances": 2,
            "coreRequest": most_of_a_node(cluster),
            "terminationGracePeriodSeconds": 1,
        },
    }
    both = [
        deploy(cluster, restricted, document(name, VERSION, "hold.py", "2", "nothing", "15", **spec))
        for name in ("one", "two")
    ]

    def story() -> str:
        groups = cluster.try_kubectl("get", "podgroups.scheduling.k8s.io", "-n", restricted, "-o", "yaml")
        return "\n".join([groups.stdout + groups.stderr, *(one.story() for one in both)])

    def all_asked_for() -> bool:
        return [len(application.executors()) for application in both] == [2, 2]

    wait_until(all_asked_for, 120, "both have asked for their executors", story)
    wait_until(lambda: sorted(map(placed, both)) == [0, 2], 60, "one has both nodes, the other none", story)
    groups = cluster.objects("podgroups.scheduling.k8s.io", restricted)
    assert sorted(group["spec"]["schedulingPolicy"]["gang"]["minCount"] for group in groups) == [2, 2]
    owners = {owner["kind"] for group in groups for owner in group["metadata"]["ownerReferences"]}
    assert owners == {"Pod"}, "it goes with the driver's pod"
    for application in both:
        assert application.wait(600) == "Complete", story()
        assert "total: 1" in application.logs()
