"""The objects of a session in client mode, made from the objects of an application. Pure.

The session's Job is the application's with only the allocator: no Spark runs in it, and nothing is installed.
Its files are those of the run; the Job owns them, so they are deleted with it. The session has its own
tuning, because it may start with other values than the application.
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
"""The longest time of a session in seconds, unless the document sets it: a limit for forgotten sessions."""
KEPT_SECONDS = 60
"""Seconds for which an ended session still exists, so that `status` and `logs` can show why it ended."""
RESTARTS = 6
"""How often the allocator's container is restarted before the Job fails."""
ABANDONED_AFTER = timedelta(minutes=10)
"""A session that is suspended for longer was abandoned: its command resumes it within seconds."""
_BASIS = ("ServiceAccount", "Role", "RoleBinding", "NetworkPolicy")
"""Kinds of the application's own objects that a session needs. They stay after it."""
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
"""The fields of the driver's pod that the session's pod has, too: its identity, and where it may run."""
_OF_SIDECARS = ("restartPolicy",)


@dataclass(frozen=True, slots=True)
class AskedSession:
    """A session to create. `id`: hexadecimal; `token_hash`: SHA-256 of its token, in hexadecimal."""

    application: str
    id: str
    token_hash: str

    @property
    def name(self) -> str:
        """The name of the session, its Job and its run."""
        return names.session_name(self.application, self.id)


@dataclass(frozen=True, slots=True)
class SessionObjects:
    """The objects of a session. `basis`: the application's, created if missing; `job`: suspended.

    `files`: the ConfigMaps of the run `run`, from which the Job's are copied; `policy`: whether a
    NetworkPolicy protects the pods.
    """

    basis: tuple[Object, ...]
    job: Object
    files: tuple[Object, ...]
    run: str
    policy: bool


def objects_of(application: Application, asked: AskedSession) -> SessionObjects:
    """Returns the objects for a session of an application."""
    rendered = resources.render(_as_session(application))
    workload = next(item for item in rendered if item["kind"] == "Job")
    run = run_of(workload)
    return SessionObjects(
        basis=tuple(item for item in rendered if item["kind"] in _BASIS),
        job=_job(_naming(workload, application), run, asked),
        files=tuple(item for item in rendered if item["kind"] == "ConfigMap"),
        run=run,
        policy=application.network_policy is not None,
    )


def config_maps(objects: SessionObjects, job: Mapping[str, Any]) -> list[Object]:
    """Returns the session's ConfigMaps. `job`: as the server has it; it owns them."""
    copies = [_marked(copied(_of_run(item, objects.run), objects.run, job)) for item in objects.files]
    return [{**item, "immutable": contract.TUNING_FILE not in item["data"]} for item in copies]


def network_policy(job: Mapping[str, Any], address: str) -> Object:
    """Returns a policy that lets the driver at `address`, outside the cluster, reach the session's pods.

    The driver fetches large results from executors, and tests with the allocator's port whether it can.
    """
    parsed = ipaddress.ip_address(address)
    labels = {**kept_labels(job["metadata"])}
    block = {"ipBlock": {"cidr": f"{parsed}/{parsed.max_prefixlen}"}}
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


def abandoned(jobs: Sequence[Object], created: Object) -> list[Object]:
    """Returns the sessions whose command was killed before it resumed them: their deadlines do not run.

    `jobs`: all with the label of a session; `created`: the new one, created now.
    """
    before = _born(created) - ABANDONED_AFTER
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
    """Returns the application as one that runs once and now, and archives no logs."""
    once = replace(application, target="kubectl", restart="Never", retries=0, suspend=False)
    return replace(once, schedule=None, history=None, log_archive=None)


def _naming(workload: Object, application: Application) -> Object:
    """Returns the run's object whose pods name the artifacts: a session's pod has no other part of them."""
    references = [one.reference for one in application.delivery.artifacts] if application.delivery else []
    if not references:
        return workload
    template = workload["spec"]["template"]
    annotations = {
        **template["metadata"].get("annotations", {}),
        contract.ANNOTATION_ARTIFACTS: ",".join(references),
    }
    named = {**template, "metadata": {**template["metadata"], "annotations": annotations}}
    return {**workload, "spec": {**workload["spec"], "template": named}}


def _of_run(item: Object, run: str) -> Object:
    """Returns a ConfigMap with a name of the run: the tuning is named after the application."""
    metadata = item["metadata"]
    end = metadata["name"].rpartition("-")[2]
    return {**item, "metadata": {**metadata, "name": f"{run}-{end}"}}


def _marked(item: Object) -> Object:
    """Returns an object with the label of a session."""
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
            # Restarts of the container count: the new allocator continues where the last one stopped.
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
    """Returns the driver's pod template with only its allocator."""
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
