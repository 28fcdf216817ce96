"""The event log of an application: one field, and what follows from it."""

from __future__ import annotations

from typing import Any

import pytest

from sparkgen import contract
from sparkgen.model import build
from sparkgen.model.eventlog import local_path
from sparkgen.resources import render, run_name
from sparkgen.resources.conf import spark_properties
from sparkgen.resources.driver import driver_pod
from sparkgen.resources.executor import executor_pod

CLAIMED = {"dir": "file:///mnt/event-logs", "claim": "event-logs"}
MOUNT = {"name": contract.EVENT_LOG_VOLUME, "mountPath": "/mnt/event-logs"}
VOLUME = {"name": contract.EVENT_LOG_VOLUME, "persistentVolumeClaim": {"claimName": "event-logs"}}


def document(**spec: Any) -> dict[str, Any]:
    """A valid document with these fields."""
    least = {
        "type": "Python",
        "sparkVersion": "3.5.8",
        "image": "i:1",
        "mainApplicationFile": "local:///a.py",
    }
    return {"kind": "SparkApplication", "metadata": {"name": "a"}, "spec": {**least, **spec}}


def properties(**spec: Any) -> dict[str, str]:
    """The event log's properties in the driver's file, without their prefix."""
    prefix = "spark.eventLog."
    found = spark_properties(build(document(**spec)))
    return {name.removeprefix(prefix): text for name, text in found.items() if name.startswith(prefix)}


@pytest.mark.parametrize(
    ("directory", "path"),
    [
        ("file:///mnt/event-logs", "/mnt/event-logs"),
        ("file:/mnt/event-logs/", "/mnt/event-logs"),
        ("file://mnt/event-logs", None),
        ("file:event-logs", None),
        ("file:///", None),
        ("s3a://logs/spark", None),
    ],
)
def test_only_an_absolute_path_is_in_the_pod(directory: str, path: str | None) -> None:
    """Two slashes would be followed by a host, none by a path below the working directory."""
    assert local_path(directory) == path


def test_a_directory_is_enough() -> None:
    """The log is written in files that are complete one by one, and compressed."""
    assert properties(eventLog={"dir": "s3a://logs/spark"}) == {
        "enabled": "true",
        "dir": "s3a://logs/spark",
        "rolling.enabled": "true",
        "compress": "true",
    }
    assert properties() == {}


def test_fields_win_over_properties_and_properties_over_defaults() -> None:
    """A section that is there switches the log on, whatever a property says."""
    conf = {"spark.eventLog.enabled": "false", "spark.eventLog.compress": "false"}
    found = properties(eventLog={"dir": "s3a://a", "rolling": False}, sparkConf=conf)
    assert found == {"enabled": "true", "dir": "s3a://a", "rolling.enabled": "false", "compress": "false"}
    assert properties(eventLog={"dir": "s3a://a", "enabled": False})["enabled"] == "false"


def test_the_claim_is_in_the_driver_alone() -> None:
    """At the directory's path; its files are not handed to the group again at every start."""
    application = build(document(eventLog=CLAIMED))
    driver = driver_pod(application, "a-1")["spec"]
    (spark,) = driver["containers"]
    assert MOUNT in spark["volumeMounts"]
    assert VOLUME in driver["volumes"]
    assert driver["securityContext"]["fsGroupChangePolicy"] == "OnRootMismatch"
    assert not any(MOUNT in container.get("volumeMounts", []) for container in driver["initContainers"])
    assert contract.EVENT_LOG_VOLUME not in str(executor_pod(application, "a-1"))


def test_a_pod_security_context_wins_over_the_policy() -> None:
    """What the document says of the pod is what the pod has."""
    given = {"podSecurityContext": {"fsGroupChangePolicy": "Always"}}
    pod = driver_pod(build(document(eventLog=CLAIMED, driver=given)), "a-1")
    assert pod["spec"]["securityContext"]["fsGroupChangePolicy"] == "Always"


@pytest.mark.parametrize("section", [{**CLAIMED, "enabled": False}, {"dir": "s3a://logs/spark"}])
def test_nothing_is_mounted_without_a_log_or_a_claim(section: dict[str, Any]) -> None:
    """A claim that is switched off need not exist."""
    assert contract.EVENT_LOG_VOLUME not in str(render(build(document(eventLog=section))))


def test_an_event_log_is_another_run() -> None:
    """It is read when the driver starts."""
    assert run_name(build(document(eventLog=CLAIMED))) != run_name(build(document()))
