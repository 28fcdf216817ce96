"""What `status` says of pods that are placed as a group, from what somebody may read of the group."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from sparkgen.live.explain import explain
from sparkgen.live.facts import gather
from sparkgen.live.find import find
from sparkgen.live.rows import every, rows
from tests.unit.live.objects import NAMESPACE, Cluster, Object, driver, executor, job, runs

GROUP = "pi-12345678"
NOW = datetime(2026, 11, 22, 1, 5, tzinfo=UTC)


class Readable(Cluster):
    """A cluster whose objects can be read by name, too; no pod has a log."""

    def list(
        self,
        api_version: str,
        kind: str,
        namespace: str = "",
        selector: str = "",
        fields: str = "",
        **_: bool,
    ) -> list[Mapping[str, Any]]:
        """What there is of a kind; there are no Events."""
        return super().list(api_version, kind, namespace, selector)

    def get(self, api_version: str, kind: str, name: str, namespace: str = "") -> Mapping[str, Any] | None:
        """An object."""
        wanted = (api_version, kind, name)
        found = (
            one
            for one in self.objects
            if (one.get("apiVersion", api_version), one["kind"], one["metadata"]["name"]) == wanted
        )
        return next(found, None)

    def log(self, pod: str, container: str, namespace: str = "", **how: Any) -> str:
        """No log."""
        return ""


def grouped_driver(**more: Any) -> Object:
    """A driver of Volcano's that has no node."""
    made = driver(job(), **more)
    made["metadata"].setdefault("annotations", {})["scheduling.k8s.io/group-name"] = GROUP
    made["spec"].pop("nodeName", None)
    return made


def pod_group(api_version: str, spec: Object, status: Object) -> Object:
    """A PodGroup."""
    metadata = {"name": GROUP, "namespace": NAMESPACE}
    return {
        "apiVersion": api_version,
        "kind": "PodGroup",
        "metadata": metadata,
        "spec": spec,
        "status": status,
    }


def said(*objects: Object) -> str:
    """What `status` says of the one run."""
    cluster = Readable(*objects)
    [run] = find(cluster).applications[0].runs
    reason = explain(gather(cluster, run), NOW)
    return reason.cause if reason else ""


def test_a_driver_waits_for_room_for_its_group() -> None:
    """Volcano's phase and reason, and its queue."""
    condition = {"type": "Unschedulable", "status": "True", "message": "queue resource quota insufficient"}
    status = {"phase": "Pending", "conditions": [condition]}
    group = pod_group("scheduling.volcano.sh/v1beta1", {"queue": "team-a", "minMember": 1}, status)
    assert said(job(), grouped_driver(), group) == (
        "queued in team-a until Volcano has room for the driver and its first executors; its PodGroup is "
        "Pending (queue resource quota insufficient)"
    )


def test_a_group_that_nobody_may_read_is_told_of_all_the_same() -> None:
    """Without the right, or without the object, only what the pod says."""
    assert (
        said(job(), grouped_driver())
        == "queued until Volcano has room for the driver and its first executors"
    )


def test_yunikorns_queue_is_on_the_pod() -> None:
    """Nothing else can be read of it in the cluster."""
    made = grouped_driver()
    del made["metadata"]["annotations"]
    made["metadata"]["labels"] |= {
        "yunikorn.apache.org/app-id": GROUP,
        "yunikorn.apache.org/queue": "root.team-a",
    }
    assert said(job(), made).startswith("queued in root.team-a until YuniKorn has room")


@pytest.mark.parametrize(
    ("version", "condition_type"),
    [
        ("scheduling.k8s.io/v1alpha2", "PodGroupScheduled"),
        ("scheduling.k8s.io/v1beta1", "PodGroupInitiallyScheduled"),
    ],
)
def test_executors_wait_for_each_other(version: str, condition_type: str) -> None:
    """Until one of them has a node: then others come one by one. As Kubernetes 1.36 and 1.37 say it."""
    of = driver(job(), state=runs())
    waiting = [executor(of, id_, "Pending") for id_ in (1, 2)]
    for pod in waiting:
        pod["spec"]["schedulingGroup"] = {"podGroupName": GROUP}
        pod["spec"].pop("nodeName", None)
    condition = {"type": condition_type, "status": "False", "message": "1 of 2 pods fit"}
    spec = {"schedulingPolicy": {"gang": {"minCount": 2}}}
    group = pod_group(version, spec, {"conditions": [condition]})
    assert said(job(), of, *waiting, group) == (
        "2 executors wait until there is room on the nodes for all of them (1 of 2 pods fit)"
    )
    placed = {**group, "status": {"conditions": [{"type": condition_type, "status": "True"}]}}
    assert "wait until there is room" not in said(job(), of, *waiting, placed)
    waiting[0]["spec"]["nodeName"] = "node-1"
    assert "wait until there is room" not in said(job(), of, *waiting, group)


def test_a_group_that_many_runs_name_is_read_once() -> None:
    """Anybody may have a thousand pods name one large PodGroup."""
    asked: list[str] = []

    class Counting(Readable):
        def get(
            self, api_version: str, kind: str, name: str, namespace: str = ""
        ) -> Mapping[str, Any] | None:
            """An object, which is noted."""
            asked.append(f"{kind} {name}")
            return super().get(api_version, kind, name, namespace)

    jobs = [job(f"pi-{number}") for number in range(3)]
    pods = [driver(item, f"pod-{number}") for number, item in enumerate(jobs)]
    for pod in pods:
        pod["metadata"]["annotations"] = {"scheduling.k8s.io/group-name": "g"}
    cluster = Counting(*jobs, *pods)
    assert len(rows(cluster, find(cluster).applications, every, NOW)) == 3
    assert asked.count("PodGroup g") == 1
