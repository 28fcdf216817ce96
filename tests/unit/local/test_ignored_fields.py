"""What of a document has no meaning on one machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sparkgen.local.ignored_fields import ignored_fields

SCHEMA = Path(__file__).parents[3] / "schemas" / "spark-application.schema.json"

MEANT = {
    "type",
    "sparkVersion",
    "scalaVersion",
    "mainClass",
    "mainApplicationFile",
    "arguments",
    "proxyUser",
    "sparkConf",
    "hadoopConf",
    "sparkConfFiles",
    "memoryOverheadFactor",
    "deps",
    "driver",
    "executor",
    "dynamicAllocation",
    "allocation",
    "logging",
    "monitoring",
}
"""Fields of an application that do what they say here, too."""
MEANT_OF_SECTIONS = {"connect": {"idleTimeout"}, "notebook": {"kernelIdleTimeout"}}
MEANT_OF_ROLES = {
    "cores",
    "memory",
    "memoryOverhead",
    "env",
    "javaOptions",
    "instances",
    "terminationGracePeriodSeconds",
}


def _document(spec: dict[str, Any], kind: str = "SparkApplication", **metadata: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": "a", **metadata}, "spec": spec}


def _paths(document: dict[str, Any]) -> set[tuple[str | int, ...]]:
    return {path for path, _ in ignored_fields(document)}


def test_every_field_of_the_schema_means_something_or_is_listed() -> None:
    """A new field has to be decided on here: it is in one of the two tables, and never in both."""
    schema = json.loads(SCHEMA.read_text())["$defs"]
    fields = set(schema["applicationSpec"]["properties"])
    listed = {path[-1] for path in _paths(_document(dict.fromkeys(fields - {"driver", "executor"})))}
    assert listed | MEANT == fields
    assert not listed & MEANT
    for section, kind in (("connect", "connectServerSpec"), ("notebook", "notebookSpec")):
        assert set(schema[kind]["properties"]) - {section} <= fields
        of_section = set(schema[section]["properties"])
        listed = {path[-1] for path in _paths(_document({section: dict.fromkeys(of_section)}))}
        assert listed | MEANT_OF_SECTIONS[section] == of_section
        assert not listed & MEANT_OF_SECTIONS[section]
    role_fields = set(schema["executor"]["properties"]) | set(schema["driver"]["properties"])
    roles = _paths(_document({"executor": dict.fromkeys(role_fields)}))
    listed = {path[-1] for path in roles}
    assert listed | MEANT_OF_ROLES == role_fields
    assert not listed & MEANT_OF_ROLES


def test_a_schedule_is_run_once() -> None:
    """What belongs to the schedule is listed, and the paths into the template are right."""
    document = _document(
        {"schedule": "@daily", "timeZone": "UTC", "template": {"image": "x", "driver": {"labels": {}}}},
        "ScheduledSparkApplication",
        namespace="jobs",
    )
    assert _paths(document) == {
        ("metadata", "namespace"),
        ("spec", "schedule"),
        ("spec", "timeZone"),
        ("spec", "template", "image"),
        ("spec", "template", "driver", "labels"),
    }


def test_only_what_the_cluster_knows_of_variables_and_properties_is_listed() -> None:
    """Plain values work; those of Secrets do not. The allocator's own properties work."""
    secret = {"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}
    field = {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
    spec = {
        "driver": {"env": [{"name": "MODE", "value": "fast"}, secret, field]},
        "sparkConf": {
            "spark.kubernetes.executor.podNamePrefix": "x",
            "spark.kubernetes.allocation.batch.size": "5",
            "spark.sql.shuffle.partitions": "4",
        },
    }
    assert _paths(_document(spec)) == {
        ("spec", "driver", "env", 1),
        ("spec", "sparkConf", "spark.kubernetes.executor.podNamePrefix"),
    }


def test_files_of_other_objects_are_listed_and_texts_are_not() -> None:
    """A text is written here as well."""
    files = {"a.xml": "<a/>", "b.xml": {"configMapKeyRef": {"name": "b", "key": "b"}}}
    assert _paths(_document({"sparkConfFiles": files})) == {("spec", "sparkConfFiles", "b.xml")}
