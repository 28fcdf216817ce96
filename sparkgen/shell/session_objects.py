"""The objects of a session in client mode, made of those of an application: pure.

The session's Job is the application's with its allocator alone: no Spark runs in it, nothing is installed.
Its files are the run's, owned by the Job: so they go with it. The tuning is the session's own, as it may be
started with other values than the application has.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sparkgen import contract, names, resources
from sparkgen.cluster.annotations import REQUESTED
from sparkgen.model.application import Application
from sparkgen.objects import Object
from sparkgen.resources.object_layers import tcp
from sparkgen.resources.security import POD_SECURITY
from sparkgen.usecases.requested_run import (
    copied,
    kept_annotations,
    kept_labels,
    owner,
    queue_of,
    renamed,
    run_of,
)

DEADLINE_SECONDS = 24 * 3600
"""How long a session lasts at most, unless the document says it: a cap on what is forgotten."""
KEPT_SECONDS = 60
"""How long an ended session is still there, so that `status` and `logs` can say why it has ended."""
RESTARTS = 6
"""How often the allocator's container is started again before the Job fails."""
ABANDONED_AFTER = timedelta(minutes=10)
"""A session that is suspended for so long waits for nobody: its command lets it go within seconds."""
_BASIS = ("ServiceAccount", "Role", "RoleBinding", "NetworkPolicy")
"""Kinds of the application's own objects that a session needs, which stay after it."""
_OF_POD = (
    "serviceAccountName",
    "automountServiceAccountToken",
    "enableServiceLinks",
    "imagePullSecrets",
    "nodeSelector",
    "tolerations",
    "priorityClassName",
    "schedulerName",
)
"""What the session's pod has of the driver's: who it is, and where it may run."""
_OF_SIDECARS = ("restartPolicy",)


@dataclass(frozen=True, slots=True)
class AskedSession:
    """What was asked for. `id`: hexadecimal; `token_hash`: SHA-256, in hex, of the session's token."""

    application: str
    id: str
    token_hash: str

    @property
    def name(self) -> str:
        """The name of the session, its Job and its run."""
        return names.session_name(self.application, self.id)


@dataclass(frozen=True, slots=True)
class SessionObjects:
    """What a session needs. `basis`: of the application, made where it is missing; `job`: suspended.

    `files`: what the Job's ConfigMaps are copied from, those of the run `run`; `policy`: whether a
    NetworkPolicy keeps others from the pods.
    """

    basis: tuple[Object, ...]
    job: Object
    files: tuple[Object, ...]
    run: str
    policy: bool


def objects_of(application: Application, asked: AskedSession) -> SessionObjects:
    """The objects of a session of an application."""
    rendered = resources.render(_as_session(application))
    workload = next(item for item in rendered if item["kind"] == "Job")
    run = run_of(workload)
    return SessionObjects(
        basis=tuple(item for item in rendered if item["kind"] in _BASIS),
        job=_job(workload, run, asked),
        files=tuple(item for item in rendered if item["kind"] == "ConfigMap"),
        run=run,
        policy=application.network_policy is not None,
    )


def config_maps(objects: SessionObjects, job: Mapping[str, Any]) -> list[Object]:
    """The session's ConfigMaps. `job`: as the server has it, which owns them."""
    made = [_marked(copied(_of_run(item, objects.run), objects.run, job)) for item in objects.files]
    return [{**item, "immutable": contract.TUNING_FILE not in item["data"]} for item in made]


def network_policy(job: Mapping[str, Any], address: str) -> Object:
    """Lets the driver at `address`, outside of the cluster, reach the session's pods.

    It fetches large results from executors, and looks whether it can from the allocator.
    """
    found = ipaddress.ip_address(address)
    labels = {**kept_labels(job["metadata"])}
    block = {"ipBlock": {"cidr": f"{found}/{found.max_prefixlen}"}}
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {
            "name": job["metadata"]["name"],
            "namespace": job["metadata"]["namespace"],
            "labels": labels,
            "ownerReferences": [owner(job)],
        },
        "spec": {
            "podSelector": {"matchLabels": {contract.LABEL_RUN: run_of(job)}},
            "policyTypes": ["Ingress"],
            "ingress": [
                {"from": [block], "ports": tcp(contract.BLOCK_MANAGER_PORT, contract.ALLOCATOR_PORT)}
            ],
        },
    }


def abandoned(jobs: Sequence[Object], made: Object) -> list[Object]:
    """The sessions whose command was killed before it let them go: no deadline counts for such a Job.

    `jobs`: all that have a session's label; `made`: the one made now, whose birth says what time it is.
    """
    before = _born(made) - ABANDONED_AFTER
    return [
        job
        for job in jobs
        if contract.is_session(job)
        and job["spec"].get("suspend")
        and not (job.get("status") or {}).get("startTime")
        and not queue_of(job)
        and _born(job) < before
    ]


def _born(item: Object) -> datetime:
    return datetime.fromisoformat(item["metadata"]["creationTimestamp"])


def _as_session(application: Application) -> Application:
    """An application that runs once, now, whatever runs its driver otherwise."""
    return replace(
        application, target="kubectl", restart="Never", retries=0, suspend=False, schedule=None, history=None
    )


def _of_run(item: Object, run: str) -> Object:
    """A ConfigMap under the name of one of the run's: the tuning has the application's."""
    metadata = item["metadata"]
    end = metadata["name"].rpartition("-")[2]
    return {**item, "metadata": {**metadata, "name": f"{run}-{end}"}}


def _marked(item: Object) -> Object:
    """An object that is seen to be a session's."""
    metadata = item["metadata"]
    return {
        **item,
        "metadata": {
            **metadata,
            "labels": {**metadata["labels"], contract.LABEL_COMPONENT: contract.SESSION},
        },
    }


def _job(workload: Object, run: str, asked: AskedSession) -> Object:
    metadata, spec = workload["metadata"], workload["spec"]
    job: Object = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": asked.name,
            "namespace": metadata["namespace"],
            "labels": {**kept_labels(metadata), contract.LABEL_RUN: asked.name, REQUESTED: "true"},
            "annotations": kept_annotations(metadata),
        },
        "spec": {
            # Restarts of the container are counted: its allocator goes on where the one before it was.
            "backoffLimit": RESTARTS,
            "podReplacementPolicy": "Failed",
            "activeDeadlineSeconds": spec.get("activeDeadlineSeconds", DEADLINE_SECONDS),
            "ttlSecondsAfterFinished": KEPT_SECONDS,
            "suspend": True,
            "template": _pod(spec["template"], run, asked),
        },
    }
    return _marked(job)


def _pod(template: Object, run: str, asked: AskedSession) -> Object:
    """The driver's pod with its allocator alone."""
    given = renamed(template, run, asked.name)
    inside = given["spec"]
    sidecar = next(one for one in inside["initContainers"] if one["name"] == contract.ALLOCATOR_CONTAINER)
    container = {key: value for key, value in sidecar.items() if key not in _OF_SIDECARS}
    own = [
        {"name": contract.ENV_SESSIONS, "value": contract.SESSIONS_CLIENT},
        {"name": contract.ENV_SESSION_TOKEN_HASH, "value": asked.token_hash},
    ]
    container["env"] = [*container["env"], *own]
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    volumes = [_volume(one, asked) for one in inside["volumes"] if one["name"] in mounted]
    labels = {**given["metadata"]["labels"], contract.LABEL_COMPONENT: contract.SESSION}
    return {
        "metadata": {**given["metadata"], "labels": labels},
        "spec": {
            **{field: inside[field] for field in _OF_POD if field in inside},
            "restartPolicy": "OnFailure",
            "securityContext": POD_SECURITY,
            "containers": [container],
            "volumes": volumes,
        },
    }


def _volume(volume: Object, asked: AskedSession) -> Object:
    if volume["name"] != contract.TUNING_VOLUME:
        return volume
    return {**volume, "configMap": {**volume["configMap"], "name": f"{asked.name}-tuning"}}
