"""The objects of the application that the doctor runs: all belong to its Job, and go with it. Pure.

The Job is created first, suspended; then the others, owned by it. So Kubernetes removes all that is left
when the Job goes: deleted by the command, or after its deadline and its time to live.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from sparkgen import contract
from sparkgen.objects import Object, ObjectView

DOCTOR = "doctor"
"""The component of the Job: by this label, the next doctor finds it."""
BEAT = "sparkgen.dev/doctor-beat"
"""An annotation of the Job that a doctor changes while it lives."""
MARGIN = timedelta(minutes=2)
"""How much longer than its deadline a doctor's Job may exist."""
LONGEST = 86_400
"""The longest deadline in seconds that is believed."""
MOST_AT_ONCE = 20
"""How many Jobs a doctor removes at a time: each takes a request, and anybody may make thousands."""
SELECTOR = f"{contract.LABEL_COMPONENT}={DOCTOR},{contract.LABEL_MANAGED_BY}=sparkgen"
PREFIX = "doctor-"
"""How the names of its application begin."""
_OF_DOCTOR = "sparkgen.dev/doctor"
"""A label of its pods, which tells its Job from an application whose document has the component as a label.

Nobody can add it later: the API server lets nobody change the pod template of a Job.
"""
_NAME = re.compile(rf"{PREFIX}[0-9a-z]+-[0-9a-z]+")

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
    """Returns the Job with the labels by which doctors find it."""
    metadata, spec = job["metadata"], job["spec"]
    labels = {**metadata["labels"], contract.LABEL_COMPONENT: DOCTOR}
    inner = spec["template"]["metadata"]
    template = {**spec["template"], "metadata": {**inner, "labels": {**inner["labels"], _OF_DOCTOR: "true"}}}
    return {**job, "metadata": {**metadata, "labels": labels}, "spec": {**spec, "template": template}}


def is_doctors(job: ObjectView) -> bool:
    """Whether a Job with the doctor's component is really a doctor's: a document may set that label, too."""
    pod = (job["spec"].get("template") or {}).get("metadata") or {}
    name = _NAME.fullmatch(job["metadata"]["name"])
    return name is not None and (pod.get("labels") or {}).get(_OF_DOCTOR) == "true"


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
    """Returns Jobs of doctors that were killed: too old, or without a beat since `before`.

    Never more than MOST_AT_ONCE.

    `jobs`: those with the doctor's component; `own`: the Job of this doctor, as new as any; `before`: the
    UIDs and beats of Jobs that were there long enough ago for another beat.
    """
    doctors = filter(is_doctors, jobs)
    others = [job for job in doctors if job["metadata"]["uid"] != own["metadata"]["uid"]]
    dead = (
        job for job in others if _end(job) < _born(own) or before.get(job["metadata"]["uid"]) == beat_of(job)
    )
    return [*islice(dead, MOST_AT_ONCE)]


def _end(job: ObjectView) -> datetime:
    seconds = min(int(job["spec"].get("activeDeadlineSeconds") or 0), LONGEST)
    return _born(job) + timedelta(seconds=seconds) + MARGIN


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
