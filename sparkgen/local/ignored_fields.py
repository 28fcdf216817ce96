"""Fields of a document that have no meaning on one machine: a table with what happens instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sparkgen import contract
from sparkgen.errors import Path

NO_PODS = "there are no pods"
_ROLES = ("driver", "executor")

_POD_FIELDS = {
    "coreRequest": "nothing limits CPU here",
    "coreLimit": "nothing limits CPU here",
    "gpu": "executors use this machine's GPUs, if any",
    "image": "the local Spark is used",
    "imagePullPolicy": "no image is pulled",
    "envFrom": "ConfigMaps and Secrets are in the cluster; set the variables in your shell",
    "secrets": "Secrets are in the cluster",
    "configMaps": "ConfigMaps are in the cluster; to use local files instead, add --map",
    "volumeMounts": "nothing is mounted",
    "initContainers": NO_PODS,
    "sidecars": NO_PODS,
    "hostAliases": NO_PODS,
    "dnsConfig": NO_PODS,
    "labels": NO_PODS,
    "annotations": NO_PODS,
    "nodeSelector": "there is one machine",
    "affinity": "there is one machine",
    "tolerations": "there is one machine",
    "topologySpreadConstraints": "there is one machine",
    "pools": "there is one machine",
    "priorityClassName": NO_PODS,
    "schedulerName": NO_PODS,
    "securityContext": "processes run as you",
    "podSecurityContext": "processes run as you",
    "lifecycle": NO_PODS,
    "serviceAccount": "there is no Kubernetes API",
    "ports": "free ports on 127.0.0.1 are used",
    "template": NO_PODS,
}

_FIELDS = {
    "image": "the local Spark is used",
    "imagePullPolicy": "no image is pulled",
    "imagePullSecrets": "no image is pulled",
    "allocator": "sparkgen starts the executors itself",
    "runtimeImage": "sparkgen starts the executors itself",
    "runtimeConfigMap": "sparkgen starts the executors itself",
    "pythonImage": "sparkgen starts the executors itself",
    "volumes": "nothing is mounted",
    "delivery": "files are read where they are",
    "artifacts": "files are read where they are",
    "restartPolicy": "it runs once",
    "activeDeadlineSeconds": "it runs until it ends; Ctrl-C stops it",
    "timeToLiveSeconds": "nothing is left behind",
    "suspend": "it runs now",
    "concurrencyPolicy": "it runs now, beside runs in the cluster",
    "batchScheduler": "there are no queues here",
    "batchSchedulerOptions": "there are no queues here",
    "run": "the application runs now; run IDs and `expiresAt` do not apply",
    "serviceAccount": "there is no Kubernetes API",
    "rbac": "there is no Kubernetes API",
    "networkPolicy": "everything listens on 127.0.0.1",
    "podDisruptionBudget": NO_PODS,
    "eventLog": "the event log's directory is in the cluster; use the UI while the application runs",
    "hadoopConfigMap": "ConfigMaps are in the cluster; configure Hadoop here with `hadoopConf`",
    "kerberos": "Secrets are in the cluster; log in with kinit before you start it",
    "shuffleService": "executors keep their own shuffle data",
    "sparkUIOptions": "the UI is at 127.0.0.1",
}

_REACHED = dict.fromkeys(
    ("serviceType", "servicePort", "serviceAnnotations", "serviceLabels", "ingress", "route"),
    "clients on this machine connect to localhost",
)
_CONNECT_FIELDS = {
    "ingressFrom": "there is no network policy: it listens only on this machine",
    "token": f"Secrets are in the cluster; to set the token, set {contract.ENV_CONNECT_TOKEN} in your shell",
    **_REACHED,
}
_NOTEBOOK_FIELDS = {
    "token": "Secrets are in the cluster; to choose the token, set JUPYTER_TOKEN in your shell",
    "claim": "nothing is mounted: notebooks are in the current folder",
    **_REACHED,
}

_FILE_IN_CLUSTER = f"the file is in the cluster; to use a local copy, add --map {contract.CONF_DIR}=FOLDER"

_SCHEDULE_FIELDS = (
    "schedule",
    "timeZone",
    "concurrencyPolicy",
    "suspend",
    "startingDeadlineSeconds",
    "successfulRunHistoryLimit",
    "failedRunHistoryLimit",
)


def ignored_fields(document: Mapping[str, Any]) -> list[tuple[Path, str]]:
    """Each field of a valid document that has no meaning here, and what happens instead."""
    return list(_all(document))


def _all(document: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    for field in ("namespace", "labels", "annotations"):
        if field in document["metadata"]:
            yield ("metadata", field), "there are no Kubernetes objects"
    yield from schedule_fields(document)
    outer, spec = section(document)
    yield from given(spec, outer, _FIELDS)
    allocation = spec.get("allocation") or {}
    if "memoryOverheadRecovery" in allocation:
        yield (*outer, "allocation", "memoryOverheadRecovery"), "nothing limits an executor's memory here"
    if "hold" in allocation:
        yield (*outer, "allocation", "hold"), "the application has its executors in one process"
    if "resources" in allocation:
        yield (*outer, "allocation", "resources"), "sparkgen starts the executors itself"
    if "archive" in (spec.get("logging") or {}):
        yield (*outer, "logging", "archive"), "logs are printed here"
    yield from given(spec.get("connect") or {}, (*outer, "connect"), _CONNECT_FIELDS)
    yield from given(spec.get("notebook") or {}, (*outer, "notebook"), _NOTEBOOK_FIELDS)
    yield from referenced_files(spec, outer)
    for role in _ROLES:
        yield from given(spec.get(role) or {}, (*outer, role), _POD_FIELDS)
        yield from _variables(spec.get(role) or {}, (*outer, role))
    for name in spec.get("sparkConf") or {}:
        if name.startswith("spark.kubernetes.") and not name.startswith("spark.kubernetes.allocation."):
            yield (*outer, "sparkConf", name), "there is no Kubernetes"


def section(document: Mapping[str, Any]) -> tuple[Path, Mapping[str, Any]]:
    """The path and content of the section that describes the application."""
    if document["kind"] == "ScheduledSparkApplication":
        return ("spec", "template"), document["spec"]["template"]
    return ("spec",), document["spec"]


def schedule_fields(document: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    """The fields of a document's schedule, each with what happens instead."""
    if document["kind"] == "ScheduledSparkApplication":
        for field in _SCHEDULE_FIELDS:
            if field in document["spec"]:
                yield ("spec", field), "it runs once, now"


def referenced_files(
    spec: Mapping[str, Any], outer: Path, why: str = _FILE_IN_CLUSTER
) -> Iterator[tuple[Path, str]]:
    """Files of Spark's configuration folder that are in other objects, each with `why` it is missing."""
    for name, file in (spec.get("sparkConfFiles") or {}).items():
        if not isinstance(file, str):
            yield (*outer, "sparkConfFiles", name), why


def given(spec: Mapping[str, Any], path: Path, table: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    """The fields of a table that a document sets, each with the text from the table."""
    return (((*path, field), why) for field, why in table.items() if field in spec)


def _variables(role: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    for index, variable in enumerate(role.get("env") or ()):
        if "valueFrom" in variable and "fieldRef" not in variable["valueFrom"]:
            here = f"its value is in the cluster; to set it here, set {variable['name']} in your shell"
            yield (*path, "env", index), here
