"""The objects of the application that the doctor runs: all belong to its Job, and go with it. Pure.

The Job is created first, suspended; then the others, owned by it. So Kubernetes removes all that is left
when the Job goes: deleted by the command, or after its deadline and its time to live.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from sparkgen import contract
from sparkgen.objects import Object, ObjectView

DOCTOR = "doctor"
"""The component of the Job: by this label, the next doctor finds it."""
BEAT = "sparkgen.dev/doctor-beat"
"""An annotation of the Job that a doctor changes while it lives."""
MARGIN = timedelta(minutes=2)
"""How much longer than its deadline a doctor's Job may exist."""
SELECTOR = f"{contract.LABEL_COMPONENT}={DOCTOR},{contract.LABEL_MANAGED_BY}=sparkgen"

_STRANGER = """\
import json, os, socket
def reaches(*place):
    try:
        socket.create_connection(place, 4).close()
        return True
    except OSError:
        return False
api = os.environ["KUBERNETES_SERVICE_HOST"], int(os.environ["KUBERNETES_SERVICE_PORT"])
driver = os.environ["DRIVER"], THE_PORT
print("sparkgen-doctor", json.dumps({"api": reaches(*api), "driver": reaches(*driver)}))
"""
_OF_POD = (
    "automountServiceAccountToken",
    "enableServiceLinks",
    "imagePullSecrets",
    "nodeSelector",
    "tolerations",
    "priorityClassName",
    "securityContext",
)


def marked(job: ObjectView) -> Object:
    """Returns the Job with the label by which doctors find it."""
    metadata = job["metadata"]
    labels = {**metadata["labels"], contract.LABEL_COMPONENT: DOCTOR}
    return {**job, "metadata": {**metadata, "labels": labels}}


def owned(item: ObjectView, owner: ObjectView) -> Object:
    """Returns an object that Kubernetes deletes with its owner."""
    return {**item, "metadata": {**item["metadata"], "ownerReferences": [owner]}}


def stranger(job: ObjectView, address: str, owner: ObjectView) -> Object:
    """Returns a pod that is no part of the application, and tries to connect to its driver at `address`."""
    metadata, inside = job["metadata"], job["spec"]["template"]["spec"]
    driver = next(one for one in inside["containers"] if one["name"] == contract.DRIVER_CONTAINER)
    kept = ("image", "imagePullPolicy", "securityContext", "resources")
    container = {
        **{key: driver[key] for key in kept if key in driver},
        "name": "stranger",
        "command": ["python3", "-c", _STRANGER.replace("THE_PORT", str(contract.DRIVER_PORT))],
        "env": [{"name": "DRIVER", "value": address}],
    }
    item: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{metadata['name']}-stranger",
            "namespace": metadata["namespace"],
            "labels": {
                key: metadata["labels"][key] for key in (contract.LABEL_MANAGED_BY, contract.LABEL_NAME)
            },
        },
        "spec": {
            **{key: inside[key] for key in _OF_POD if key in inside},
            "restartPolicy": "Never",
            "activeDeadlineSeconds": 120,
            "containers": [container],
        },
    }
    return owned(item, owner)


def abandoned(jobs: Iterable[ObjectView], own: ObjectView, before: Mapping[str, str]) -> list[ObjectView]:
    """Returns the Jobs of doctors that were killed: too old, or without a beat since `before`.

    `jobs`: all that have the label; `own`: the Job of this doctor, as new as any; `before`: the UIDs and
    beats of Jobs that were there at least two beats ago.
    """
    others = [job for job in jobs if job["metadata"]["uid"] != own["metadata"]["uid"]]
    return [
        job for job in others if _end(job) < _born(own) or before.get(job["metadata"]["uid"]) == beat_of(job)
    ]


def _end(job: ObjectView) -> datetime:
    return _born(job) + timedelta(seconds=int(job["spec"].get("activeDeadlineSeconds") or 0)) + MARGIN


def beat_of(job: ObjectView) -> str:
    """Returns the beat of a doctor's Job; "" before the first one."""
    return str((job["metadata"].get("annotations") or {}).get(BEAT) or "")


def beats(jobs: Iterable[ObjectView]) -> dict[str, str]:
    """Returns the beat of each Job, by its UID."""
    return {str(job["metadata"]["uid"]): beat_of(job) for job in jobs}


def beat(number: int) -> dict[str, Any]:
    """Returns the change of the Job with which a doctor shows that it lives."""
    return {"metadata": {"annotations": {BEAT: str(number)}}}


def _born(item: ObjectView) -> datetime:
    return datetime.fromisoformat(item["metadata"]["creationTimestamp"])
