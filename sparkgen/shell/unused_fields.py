"""The fields of a document that have no meaning in a session, whose driver is a process of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sparkgen.errors import Path
from sparkgen.local.ignored_fields import given, referenced_files, schedule_fields, section

_NO_POD = "the driver has no pod"
_COMMAND = "the command runs instead"
_FIELDS = {
    "mainApplicationFile": _COMMAND,
    "mainClass": _COMMAND,
    "arguments": _COMMAND,
    "proxyUser": "the driver runs as you",
    "hadoopConfigMap": "only executors get its files; the driver uses HADOOP_CONF_DIR of your shell",
    "kerberos": "executors get krb5.conf; the driver uses your own ticket: run kinit",
    "restartPolicy": "a session never restarts",
    "timeToLiveSeconds": "a session is deleted a minute after its end",
    "suspend": "a session starts now",
    "run": "a session is not a run of the document",
    "podDisruptionBudget": _NO_POD,
    "sparkUIOptions": "the UI is at localhost",
}
_DRIVER_FIELDS = {
    **dict.fromkeys(
        (
            "memoryOverhead",
            "coreRequest",
            "coreLimit",
            "gpu",
            "imagePullPolicy",
            "initContainers",
            "sidecars",
            "hostAliases",
            "dnsConfig",
            "affinity",
            "topologySpreadConstraints",
            "securityContext",
            "podSecurityContext",
            "terminationGracePeriodSeconds",
            "lifecycle",
            "ports",
            "template",
        ),
        _NO_POD,
    ),
    "image": "the driver uses the Spark of this machine",
    "env": "the driver gets the variables of your shell",
    "envFrom": "the driver gets the variables of your shell",
    "secrets": "Secrets exist only in the cluster",
    "configMaps": "ConfigMaps exist only in the cluster",
    "volumeMounts": "nothing is mounted",
}


def unused_fields(document: Mapping[str, Any]) -> list[tuple[Path, str]]:
    """Returns the fields of a valid document without a meaning in a session, and what happens instead."""
    return list(_all(document))


def _all(document: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    yield from schedule_fields(document)
    outer, spec = section(document)
    yield from given(spec, outer, _FIELDS)
    if "claim" in (spec.get("eventLog") or {}):
        yield (*outer, "eventLog"), "the claim is mounted only in pods, so no event log is written"
    if "archive" in (spec.get("logging") or {}):
        yield (*outer, "logging", "archive"), "the logs of a session are not archived"
    yield from referenced_files(spec, outer, "it exists only in the cluster, and executors get it")
    yield from given(spec.get("driver") or {}, (*outer, "driver"), _DRIVER_FIELDS)
