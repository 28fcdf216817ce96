"""The state of the driver's pod, as far as the allocator needs it. Pure."""

from __future__ import annotations

from enum import Enum, auto

from sparkgen import contract
from sparkgen.runtime.allocator.values.backend import Pod


class DriverPod(Enum):
    """Whether the driver's pod still runs its driver."""

    RUNS = auto()
    """Its driver has not ended, as far as the API server knows."""
    ENDS = auto()
    """Its driver has ended, or the pod is about to end: nobody needs its executors any more."""
    UNKNOWN = auto()
    """The API server did not answer."""


def driver_pod_of(pod: Pod, uid: str) -> DriverPod:
    """The state of a (reduced) pod that has the driver pod's name; `uid` is the driver pod's UID."""
    metadata, status = pod["metadata"], pod["status"]
    ended = any(
        entry["name"] == contract.DRIVER_CONTAINER and "terminated" in entry["state"]
        for entry in status["containerStatuses"]
    )
    disrupted = any(
        condition.get("type") == "DisruptionTarget" and condition.get("status") == "True"
        for condition in status["conditions"]
    )
    over = status.get("phase") in ("Succeeded", "Failed") or bool(metadata.get("deletionTimestamp"))
    return DriverPod.ENDS if ended or disrupted or over or metadata["uid"] != uid else DriverPod.RUNS
