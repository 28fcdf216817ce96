"""The settings of batch schedulers for driver and executors: values of layers, and groups of pods.

Volcano has a PodGroup, which is an object of the run. YuniKorn reads labels and annotations of the pods. For
gangs of Kubernetes, the allocator creates a PodGroup for each attempt. docs/queues.md explains each
scheduler.
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
"""Role -> the name of its task group in YuniKorn."""
PLACEMENT = ("nodeSelector", "affinity", "tolerations", "topologySpreadConstraints")
"""The pod's fields that YuniKorn's placeholders also need, to reserve places where the pods may run."""
RATIO = "spark.scheduler.minRegisteredResourcesRatio"
PATIENCE = "spark.scheduler.maxRegisteredResourcesWaitingTime"
FOR_EVER = "365d"
"""How long a driver waits for its gang: a queue may take days."""
PARTS = 1_000_000
"""The ratio has six digits, and is a little less than the exact part: one executor of 3 reaches 0.333333."""


def values(application: Application, role: RoleName) -> dict[str, Any]:
    """The values for the layers of a role's pod."""
    batch = application.batch
    if batch is None:
        return {"batch": None, "queue": None}
    named, kueue = batch.name, batch.name == "kueue"
    priority = batch.priority if role == "driver" else batch.executor_priority
    grouped = role == "driver" or batch.gang > 0
    return {
        "batch": {
            # With Kueue, the scheduler of Kubernetes places pods, and is the default.
            "schedulerName": named if named in ("volcano", "yunikorn") else None,
            # Volcano's priority is that of the group, and Kueue has its own priority classes.
            "priority": priority if named in ("yunikorn", "kube-scheduler") else None,
            "volcano": named == "volcano",
            "yunikorn": named == "yunikorn",
            "queue": batch.queue,
            "taskGroup": TASK_GROUPS[role] if grouped else None,
            "gang": str(batch.gang) if named == "kube-scheduler" and batch.gang else None,
        },
        "queue": {"name": batch.queue, "priority": priority} if kueue else None,
    }


def waits_for_gang(application: Application) -> dict[str, str]:
    """Properties that keep Spark from starting tasks before a gang of Kueue is complete."""
    batch, initial = application.batch, application.executors.initial
    if batch is None or batch.name != "kueue" or not batch.gang:
        return {}
    return {RATIO: gang_ratio(batch.gang, initial), PATIENCE: FOR_EVER}


def gang_ratio(gang: int, initial: int) -> str:
    """The ratio of initial executors at which Spark starts tasks: a whole gang, and no fewer."""
    # One step less if the division has no remainder: Spark multiplies doubles, and 1450 x 0.34 is more than
    # 493.
    parts = PARTS if gang >= initial else (PARTS * gang - 1) // initial
    return f"{parts // PARTS}.{parts % PARTS:06d}"


def with_task_groups(
    application: Application, driver: dict[str, Any], executor: Callable[[], Mapping[str, Any]]
) -> dict[str, Any]:
    """The driver's pod template with the groups that YuniKorn reserves places for; as it is without YuniKorn.

    The groups must match the pods' requests exactly, in bytes: a pod cannot use a place of another size.
    `executor` makes the template of executors.
    """
    batch = application.batch
    if batch is None or batch.name != "yunikorn":
        return driver
    groups = [_task_group("driver", 1, driver["spec"])]
    if batch.gang:  # YuniKorn refuses a group without members
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

    It reserves room for the driver and its gang before the driver starts, but needs only one member: a driver
    that waited for executors would wait for pods that only the driver can request.
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
    """Whether the allocator creates a PodGroup of Kubernetes, and needs the permission for it."""
    batch = application.batch
    return batch is not None and batch.name == "kube-scheduler" and batch.gang > 0
