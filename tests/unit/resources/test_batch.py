"""What batch schedulers are told: sums that are what the pods request, and groups that can begin."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sparkgen.grammar.quantity import parse
from sparkgen.resources.batch import gang_ratio
from sparkgen.resources.requests import pod_requests, quantity

Make = Callable[..., Any]

GROUP = "scheduling.k8s.io/group-name"
TASK_GROUP = "yunikorn.apache.org/task-group-name"
QUEUE_PRIORITY = "kueue.x-k8s.io/priority-class"
TASK_GROUPS = "yunikorn.apache.org/task-groups"
SIDECAR = {
    "name": "proxy",
    "image": "proxy:1",
    "resources": {"requests": {"cpu": "50m", "memory": 128974849}},
}


def executors(count: int) -> dict[str, Any]:
    """So many executors of 1 GiB, each with a sidecar."""
    return {"executor": {"instances": count, "cores": 2, "memory": "1g", "sidecars": [SIDECAR]}}


def task_groups(pod: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """YuniKorn's groups on the driver, by name."""
    return {group["name"]: group for group in json.loads(pod["metadata"]["annotations"][TASK_GROUPS])}


def test_volcano_reserves_what_the_pods_request(rendered: Make) -> None:
    """Driver, its allocator, and three executors with a sidecar each; one member is enough to begin."""
    found = rendered(batchScheduler="volcano", batchSchedulerOptions={"queue": "team-a"}, **executors(3))
    group, run = found.one("PodGroup"), found.workload["metadata"]["name"]
    driver, executor = pod_requests(found.driver["spec"]), pod_requests(found.executor["spec"])
    assert (driver["cpu"], executor["cpu"]) == ("1100m", "2050m")
    assert group["metadata"]["name"] == run
    assert group["metadata"]["labels"]["sparkgen.dev/run"] == run
    assert group["spec"]["minMember"] == 1, "a driver that waits for executors waits for itself"
    assert group["spec"]["queue"] == "team-a"
    reserved = group["spec"]["minResources"]
    for name in ("cpu", "memory"):
        assert parse(reserved[name]) == parse(driver[name]) + 3 * parse(executor[name])
    assert parse(reserved["memory"]) % 2**20, "128974849 bytes are no whole mebibytes"
    for pod in (found.driver, found.executor):
        assert pod["metadata"]["annotations"][GROUP] == run
        assert pod["spec"]["schedulerName"] == "volcano"


def test_what_the_document_reserves_wins(rendered: Make) -> None:
    """Kubeflow's `resources`, as they are."""
    options = {"resources": {"cpu": "4", "memory": "8Gi"}}
    found = rendered(batchScheduler="volcano", batchSchedulerOptions=options)
    assert found.one("PodGroup")["spec"]["minResources"] == options["resources"]


def test_yunikorn_holds_places_of_the_pods_sizes(rendered: Make) -> None:
    """Labels on both roles, groups on the driver alone, with the tolerations that the pods have."""
    tolerations = [{"key": "spark", "operator": "Exists"}]
    spec = executors(3)
    spec["executor"]["tolerations"] = tolerations
    found = rendered(batchScheduler="yunikorn", batchSchedulerOptions={"queue": "root.team-a"}, **spec)
    groups = task_groups(found.driver)
    assert {name: group["minMember"] for name, group in groups.items()} == {
        "spark-driver": 1,
        "spark-executor": 3,
    }
    assert groups["spark-executor"]["tolerations"] == tolerations
    for role in ("driver", "executor"):
        pod = found.pod(role)
        assert groups[f"spark-{role}"]["minResource"] == pod_requests(pod["spec"])
        assert pod["metadata"]["annotations"][TASK_GROUP] == f"spark-{role}"
        assert pod["metadata"]["labels"]["yunikorn.apache.org/app-id"] == found.workload["metadata"]["name"]
        assert pod["metadata"]["labels"]["yunikorn.apache.org/queue"] == "root.team-a"
        assert pod["spec"]["schedulerName"] == "yunikorn"
    assert TASK_GROUPS not in found.executor["metadata"]["annotations"]


def test_yunikorns_own_settings_are_on_the_driver(rendered: Make) -> None:
    """Such as how long its placeholders wait for the rest of a gang."""
    name, text = "yunikorn.apache.org/schedulingPolicyParameters", "placeholderTimeoutInSeconds=60"
    driver = {"annotations": {name: text}}
    found = rendered(batchScheduler="yunikorn", driver=driver, **executors(3)).driver
    assert found["metadata"]["annotations"][name] == text
    assert task_groups(found).keys() == {"spark-driver", "spark-executor"}


@pytest.mark.parametrize("scheduler", ["kueue", "yunikorn", "kube-scheduler"])
def test_executors_may_have_a_lower_priority_than_their_driver(rendered: Make, scheduler: str) -> None:
    """So that preemption takes them first; without it, both have the same."""

    def classes(**options: str) -> tuple[object, object]:
        found = rendered(batchScheduler=scheduler, batchSchedulerOptions=options)
        if scheduler == "kueue":
            both = (found.workload["metadata"]["labels"], found.executor["metadata"]["labels"])
            return both[0].get(QUEUE_PRIORITY), both[1].get(QUEUE_PRIORITY)
        return found.driver["spec"].get("priorityClassName"), found.executor["spec"].get("priorityClassName")

    assert classes(priorityClassName="high", executorPriorityClassName="low") == ("high", "low")
    assert classes(executorPriorityClassName="low") == (None, "low")
    assert classes(priorityClassName="high") == ("high", "high")


def test_yunikorn_has_no_group_of_no_members(rendered: Make) -> None:
    """Executors that come later belong to no group then."""
    found = rendered(batchScheduler="yunikorn", dynamicAllocation={"enabled": True, "maxExecutors": 4})
    assert task_groups(found.driver).keys() == {"spark-driver"}
    assert TASK_GROUP not in found.executor["metadata"]["annotations"]
    assert "yunikorn.apache.org/queue" not in found.driver["metadata"]["labels"]


@pytest.mark.parametrize(("minimum", "allowed"), [(3, True), (0, False)])
def test_the_right_to_make_groups_only_where_one_is_made(rendered: Make, minimum: int, allowed: bool) -> None:
    """Kubernetes' own gang is made by the allocator; with no executors to begin with there is none."""
    bounds = {"enabled": True, "minExecutors": minimum, "maxExecutors": 4}
    found = rendered(batchScheduler="kube-scheduler", dynamicAllocation=bounds)
    rules = [rule for role in found.all("Role") for rule in role["rules"] if "podgroups" in rule["resources"]]
    assert [rule["verbs"] for rule in rules] == ([["create"]] if allowed else [])
    assert ("sparkgen.dev/gang" in found.executor["metadata"]["annotations"]) is allowed


def test_spark_waits_for_the_gang_of_a_kueue(rendered: Make) -> None:
    """Four of six registered executors are enough, and three are not."""
    bounds = {"enabled": True, "minExecutors": 4, "initialExecutors": 6, "maxExecutors": 9}
    found = rendered(
        batchScheduler="kueue", batchSchedulerOptions={"minExecutors": 4}, dynamicAllocation=bounds
    )
    text = found.config_map("conf")["data"]["spark-defaults.conf"]
    told = dict(line.split(" ", 1) for line in text.splitlines())
    ratio = float(told["spark.scheduler.minRegisteredResourcesRatio"])
    assert 3 < 6 * ratio <= 4
    assert told["spark.scheduler.maxRegisteredResourcesWaitingTime"] == "365d"


@given(st.integers(1, 999), st.integers(1, 999))
@example(493, 958)
def test_the_ratio_is_reached_by_the_gang_and_by_no_fewer(gang: int, more: int) -> None:
    """Law: initial x ratio is at most the gang, and more than one executor less, as Spark computes it."""
    initial = gang + more - 1
    assert gang - 1 < initial * float(gang_ratio(gang, initial)) <= gang


AMOUNTS = st.integers(0, 10**15).map(lambda units: Decimal(units) / 1000)


@given(AMOUNTS)
def test_a_quantity_is_never_less_than_the_amount(amount: Decimal) -> None:
    """Law: cores to the thousandth and bytes to the byte, rounded up."""
    assert parse(quantity("cpu", amount)) == amount
    assert 0 <= parse(quantity("memory", amount)) - amount < 1


def test_containers_that_stay_count_beside_those_that_come_after() -> None:
    """By the scheduler's own rule: the largest moment of the pod's life."""

    def container(cpu: str, **more: str) -> dict[str, Any]:
        return {"resources": {"requests": {"cpu": cpu}}, **more}

    spec = {
        "initContainers": [container("3"), container("100m", restartPolicy="Always"), container("2")],
        "containers": [container("1"), {"resources": {"limits": {"cpu": "500m"}}}],
        "overhead": {"cpu": "10m", "memory": "1Mi"},
    }
    assert pod_requests(spec) == {"cpu": "3010m", "memory": "1Mi"}
    assert pod_requests({**spec, "resources": {"requests": {"cpu": "4"}}})["cpu"] == "4010m"
