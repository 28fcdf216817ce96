"""What the driver's own pod says of itself. Pure."""

from __future__ import annotations

from enum import Enum, auto

from sparkgen import contract
from sparkgen.runtime.allocator.values.backend import Pod


class DriverPod(Enum):
    """What the driver's pod says of itself."""

    RUNS = auto()
    """Its driver has not ended, as far as the API server has heard."""
    ENDS = auto()
    """Its driver has ended, or the pod is about to: nobody needs its executors any more."""
    UNKNOWN = auto()
    """Nobody could say."""


def driver_pod_of(pod: Pod, uid: str) -> DriverPod:
    """What a pod (reduced) under the name of the driver's says; `uid` is that of the driver's pod."""
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
