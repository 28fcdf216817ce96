"""Applications and runs as values: objects of the cluster, combined by their labels and owners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sparkgen import contract
from sparkgen.objects import ObjectView

UNREAD = (400, 403, 404, 500)
"""HTTP statuses if a log, Events or objects cannot be read: no right, no container, no pod, no such API."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run of an application: its driver's object, and its existing pods.

    `name`: the Job's name; for a Deployment the name of the run whose files it reads. `label`: the value of
    `sparkgen.dev/run`, which all firings of a CronJob share. `workload`: the Job or the Deployment. `drivers`
    and `executors`: pods, the newest driver first. `latest`: whether there is no later run.
    """

    application: str
    namespace: str
    name: str
    label: str
    workload: ObjectView
    drivers: tuple[ObjectView, ...] = ()
    executors: tuple[ObjectView, ...] = ()
    latest: bool = True

    @property
    def kind(self) -> str:
        """The kind of the driver's object: Job or Deployment."""
        return str(self.workload["kind"])

    @property
    def driver(self) -> ObjectView | None:
        """The newest driver's pod, if there is any."""
        return self.drivers[0] if self.drivers else None


@dataclass(frozen=True, slots=True)
class Application:
    """An application in a namespace.

    `runs`: the latest first; none before the first firing. `schedule`: its CronJob, if it has one.
    """

    name: str
    namespace: str
    runs: tuple[Run, ...]
    schedule: ObjectView | None = None


def name_of(item: ObjectView) -> str:
    """Returns an object's name."""
    return str(item["metadata"]["name"])


def uid_of(item: ObjectView) -> str:
    """Returns an object's UID; "" if it has none."""
    return str(item["metadata"].get("uid") or "")


def label_of(item: ObjectView, label: str) -> str:
    """Returns the value of a label; "" if there is none."""
    return str((item["metadata"].get("labels") or {}).get(label) or "")


def annotation_of(item: ObjectView, annotation: str) -> str:
    """Returns the value of an annotation; "" if there is none."""
    return str((item["metadata"].get("annotations") or {}).get(annotation) or "")


def owners_of(item: ObjectView) -> list[ObjectView]:
    """Returns the references to the owners of an object."""
    return [*(item["metadata"].get("ownerReferences") or ())]


def owner_of(item: ObjectView) -> str:
    """Returns the UID of the owner that controls an object, or else of its first owner; "" if there is none.

    An executor in a queue has an owner that does not control it.
    """
    owners = sorted(owners_of(item), key=lambda owner: not owner.get("controller"))
    return str(owners[0]["uid"]) if owners else ""


def born(item: ObjectView) -> str:
    """Returns when an object was created: RFC 3339 in UTC, as the API server writes it; sorts by time."""
    return str(item["metadata"].get("creationTimestamp") or "")


def described(workload: ObjectView) -> ObjectView:
    """Returns the driver's container in the template of a Job or a Deployment; empty if there is none."""
    pod = workload["spec"]["template"].get("spec") or {}
    driver_container: ObjectView = next(
        (one for one in pod.get("containers") or () if one["name"] == contract.DRIVER_CONTAINER), {}
    )
    return driver_container


def by_spark(run: Run) -> bool:
    """Whether Spark's own backend creates the executors of a run, and not sparkgen's allocator."""
    arguments = contract.plain_arguments(described(run.workload).get("args") or ())
    begin = contract.DRIVER_ARGUMENTS_OF_SPARK
    return arguments[: len(begin)] == begin


def connect_port(run: Run) -> int:
    """Returns the port of a run's Connect server; 0 if its driver is none."""
    return _port(run.workload, contract.CONNECT_PORT_NAME)


def notebook_port(run: Run) -> int:
    """Returns the port of a run's JupyterLab; 0 if its driver is none."""
    return _port(run.workload, contract.NOTEBOOK_PORT_NAME)


def served_as(workload: ObjectView) -> str:
    """Returns "Connect server" or "notebook", to which users connect; "" for any other application."""
    if _port(workload, contract.CONNECT_PORT_NAME):
        return "Connect server"
    return "notebook" if _port(workload, contract.NOTEBOOK_PORT_NAME) else ""


def _port(workload: ObjectView, name: str) -> int:
    ports = described(workload).get("ports") or () if workload["kind"] == "Deployment" else ()
    return next((int(port.get("containerPort") or 0) for port in ports if port.get("name") == name), 0)


def moment(text: str | None) -> datetime | None:
    """Returns a time from the API server's text; None if there is none."""
    return datetime.fromisoformat(text) if text else None


def leaving(item: ObjectView) -> bool:
    """Whether an object is being deleted."""
    return bool(item["metadata"].get("deletionTimestamp"))


def status_of(item: ObjectView) -> ObjectView:
    """Returns an object's status; empty before it has one."""
    status: ObjectView = item.get("status") or {}
    return status


def conditions(item: ObjectView) -> dict[str, ObjectView]:
    """Returns the conditions of an object that are true, by their types."""
    return {
        str(condition.get("type")): condition
        for condition in status_of(item).get("conditions") or ()
        if condition.get("status") == "True"
    }


def containers(pod: ObjectView) -> list[ObjectView]:
    """Returns the statuses of a pod's containers, in the order of their start: init containers first."""
    status = status_of(pod)
    return [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]


def main_container(pod: ObjectView) -> str:
    """Returns the main container's name in a driver's pod: Spark's, or the allocator's in a session."""
    return contract.ALLOCATOR_CONTAINER if contract.is_session(pod) else contract.DRIVER_CONTAINER


def container(pod: ObjectView, name: str = "") -> ObjectView:
    """Returns the status of a container, by default the main one; empty before it has a status."""
    name = name or main_container(pod)
    return next((status for status in containers(pod) if status.get("name") == name), {})


def waiting(status: ObjectView) -> ObjectView:
    """Returns a container's state `waiting`; empty if it does not wait."""
    state: ObjectView = (status.get("state") or {}).get("waiting") or {}
    return state


def running(status: ObjectView) -> ObjectView:
    """Returns a container's state `running`; empty if it does not run."""
    state: ObjectView = (status.get("state") or {}).get("running") or {}
    return state


def terminated(status: ObjectView) -> ObjectView:
    """Returns a container's state `terminated`; empty if it has not ended."""
    state: ObjectView = (status.get("state") or {}).get("terminated") or {}
    return state


def newest_first(items: Sequence[ObjectView]) -> list[ObjectView]:
    """Returns objects sorted by creation, and by name if that is equal; the newest first."""
    return sorted(items, key=lambda item: (born(item), name_of(item)), reverse=True)
