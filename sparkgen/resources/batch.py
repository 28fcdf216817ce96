"""What a batch scheduler is told of driver and executors: values of layers, and groups of pods.

Volcano has a PodGroup, which is an object of the run. YuniKorn reads labels and annotations of the pods. For
Kubernetes' own gangs the allocator makes a PodGroup for each attempt. docs/queues.md says what each does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sparkgen import contract
from sparkgen.model.application import Application, RoleName
from sparkgen.names import canonical_json
from sparkgen.objects import ObjectView
from sparkgen.resources.requests import effective, multiplied, plus, pod_requests, quantity

TASK_GROUPS: Mapping[str, str] = {"driver": "spark-driver", "executor": "spark-executor"}
"""Role -> YuniKorn's name for its pods."""
PLACEMENT = ("nodeSelector", "affinity", "tolerations", "topologySpreadConstraints")
"""Fields of a pod that YuniKorn's placeholders need as well, to hold places where the pods may run."""
RATIO = "spark.scheduler.minRegisteredResourcesRatio"
PATIENCE = "spark.scheduler.maxRegisteredResourcesWaitingTime"
FOR_EVER = "365d"
"""How long a driver waits for its gang: a queue may take days."""
PARTS = 1_000_000
"""The ratio has six digits, and is a little less than the part: 0.333333 of 3 is reached with one of them."""


def values(application: Application, role: RoleName) -> dict[str, Any]:
    """The values that the layers of a role's pod have places for."""
    batch = application.batch
    if batch is None:
        return {"batch": None, "queue": None}
    named, kueue = batch.name, batch.name == "kueue"
    grouped = role == "driver" or batch.gang > 0
    return {
        "batch": {
            # Kueue leaves pods to the scheduler of Kubernetes, which nobody has to name.
            "schedulerName": named if named in ("volcano", "yunikorn") else None,
            # Volcano's is the group's, and Kueue's a class of its own.
            "priority": batch.priority if named in ("yunikorn", "kube-scheduler") else None,
            "volcano": named == "volcano",
            "yunikorn": named == "yunikorn",
            "queue": batch.queue,
            "taskGroup": TASK_GROUPS[role] if grouped else None,
            "gang": str(batch.gang) if named == "kube-scheduler" and batch.gang else None,
        },
        "queue": {"name": batch.queue, "priority": batch.priority} if kueue else None,
    }


def waits_for_gang(application: Application) -> dict[str, str]:
    """Properties with which Spark gives no task away before the gang of a Kueue is there."""
    batch, initial = application.batch, application.executors.initial
    if batch is None or batch.name != "kueue" or not batch.gang:
        return {}
    return {RATIO: gang_ratio(batch.gang, initial), PATIENCE: FOR_EVER}


def gang_ratio(gang: int, initial: int) -> str:
    """The part of the initial executors that Spark begins with: the gang is enough, and no fewer are."""
    # One step less where it comes out even: Spark multiplies doubles, and 1450 x 0.34 is more than 493.
    parts = PARTS if gang >= initial else (PARTS * gang - 1) // initial
    return f"{parts // PARTS}.{parts % PARTS:06d}"


def with_task_groups(
    application: Application, driver: dict[str, Any], executor: Callable[[], Mapping[str, Any]]
) -> dict[str, Any]:
    """The driver's pod template with the groups that YuniKorn holds places for; as it is without YuniKorn.

    They have to be what the pods request, to the byte: a place of another size is none for the pod.
    `executor` makes the template of executors.
    """
    batch = application.batch
    if batch is None or batch.name != "yunikorn":
        return driver
    groups = [_task_group("driver", 1, driver["spec"])]
    if batch.gang:  # a group of no members is refused
        groups.append(_task_group("executor", batch.gang, executor()["spec"]))
    metadata = driver["metadata"]
    annotations = {**metadata["annotations"], contract.ANNOTATION_TASK_GROUPS: canonical_json(groups)}
    return {**driver, "metadata": {**metadata, "annotations": annotations}}


def _task_group(role: RoleName, members: int, spec: ObjectView) -> dict[str, Any]:
    placement = {field: spec[field] for field in PLACEMENT if spec.get(field)}
    return {
        "name": TASK_GROUPS[role],
        "minMember": members,
        "minResource": pod_requests(spec),
        **placement,
    }


def pod_group(
    application: Application,
    driver: Callable[[], Mapping[str, Any]],
    executor: Callable[[], Mapping[str, Any]],
) -> dict[str, Any] | None:
    """The values of Volcano's PodGroup; None without Volcano.

    It has room for the driver and its gang before the driver begins, and needs one member: a driver that
    waited for executors would wait for pods that it alone can ask for.
    """
    batch = application.batch
    if batch is None or batch.name != "volcano":
        return None
    amounts = plus(
        effective(driver()["spec"], "requests"),
        multiplied(effective(executor()["spec"], "requests"), batch.gang),
    )
    computed = {name: quantity(name, amount) for name, amount in sorted(amounts.items())}
    return {
        "queue": batch.queue,
        "priority": batch.priority,
        "resources": computed if batch.resources is None else dict(batch.resources),
    }


def makes_pod_groups(application: Application) -> bool:
    """Whether the allocator makes a PodGroup of Kubernetes' own, and needs the right to."""
    batch = application.batch
    return batch is not None and batch.name == "kube-scheduler" and batch.gang > 0
