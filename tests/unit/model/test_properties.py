"""Typed fields as Spark properties: one table, one order of precedence, and the schema says the same."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sparkgen.model import kerberos
from sparkgen.model.properties import (
    EVENT_LOG_DEFAULTS,
    TUNABLE,
    TYPED_PROPERTIES,
    effective_properties,
    is_true,
    property_text,
)

SCHEMA = json.loads(
    Path(__file__).parents[3].joinpath("schemas", "spark-application.schema.json").read_text("utf-8")
)

BECOMES = re.compile(r"Becomes `(spark\.[A-Za-z.]+)`(?: or `(spark\.[A-Za-z.]+)`)?")


def nested(path: tuple[str, ...], value: object) -> dict[str, Any]:
    """A spec with one value at a path."""
    for key in reversed(path):
        value = {key: value}
    assert isinstance(value, dict)
    return value


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    """What a `$ref` into this schema points at, with the keywords beside it."""
    found: Any = SCHEMA
    for part in schema.get("$ref", "#").removeprefix("#").strip("/").split("/"):
        found = found.get(part, {}) if part else {}
    return {**found, **schema}


def described(schema: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """(path below spec, the property that the schema's description says the field becomes)."""
    for name, reference in schema.get("properties", {}).items():
        field = resolved(reference)
        found = BECOMES.search(field.get("description", ""))
        if found:
            both = [text for text in found.groups() if text]
            yield (*path, name), next(text for text in both if len(both) == 1 or path[0] in text)
        yield from described(field, (*path, name))


def test_the_schema_names_the_same_properties() -> None:
    """What the reference tells people and what the generator does is one and the same."""
    assert dict(described(SCHEMA["$defs"]["applicationSpec"])) == TYPED_PROPERTIES


@pytest.mark.parametrize(("path", "name"), TYPED_PROPERTIES.items(), ids=lambda value: str(value))
def test_every_typed_field_wins_over_its_property(path: tuple[str, ...], name: str) -> None:
    """A typed field becomes its property, and wins over the same property in sparkConf."""
    spec = {"sparkConf": {name: "from sparkConf", "spark.other": "stays"}, **nested(path, "typed")}
    log = {**EVENT_LOG_DEFAULTS, "spark.eventLog.enabled": "true"} if path[0] == "eventLog" else {}
    login = kerberos.default_properties(spec)
    assert effective_properties(spec) == {**log, **login, name: "typed", "spark.other": "stays"}


def test_hadoop_conf_wins_over_spark_conf() -> None:
    """`X` of hadoopConf is `spark.hadoop.X`, which overrides Hadoop's files, and that of sparkConf."""
    spec = {
        "sparkConf": {"spark.hadoop.fs.a": "1", "spark.hadoop.fs.b": "2", "fs.a": "3"},
        "hadoopConf": {"fs.a": "4"},
    }
    assert effective_properties(spec) == {
        "spark.hadoop.fs.a": "4",
        "spark.hadoop.fs.b": "2",
        "fs.a": "3",
    }


def test_nothing_asked_for_is_no_property() -> None:
    """Absent sections, nulls and empty lists say nothing."""
    spec = {"sparkConf": None, "deps": {"jars": [], "packages": None}, "driver": None, "executor": {}}
    assert effective_properties(spec) == {}


def test_an_empty_list_keeps_the_property() -> None:
    """An empty typed list does not wipe what sparkConf says."""
    spec = {"sparkConf": {"spark.jars": "a.jar"}, "deps": {"jars": []}}
    assert effective_properties(spec) == {"spark.jars": "a.jar"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (False, "false"),
        (0, "0"),
        (1.0, "1"),
        (0.25, "0.25"),
        (0.00001, "0.00001"),
        ("4g", "4g"),
        (["a", "b"], "a,b"),
        (["a"], "a"),
    ],
)
def test_values_as_spark_writes_them(value: object, text: str) -> None:
    """Booleans are lower case, lists have commas, and whole numbers no fraction."""
    assert property_text(value) == text


@pytest.mark.parametrize(("timeout", "text"), [(120000, "120000ms"), ("5min", "5min")])
def test_a_number_is_milliseconds_for_shuffle_tracking(timeout: object, text: str) -> None:
    """A number, kubeflow's milliseconds, does not turn into Spark's seconds."""
    spec = {"dynamicAllocation": {"shuffleTrackingTimeout": timeout}}
    assert effective_properties(spec) == {"spark.dynamicAllocation.shuffleTracking.timeout": text}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", True),
        (" TRUE ", True),
        ("True", True),
        ("false", False),
        ("1", False),
        ("yes", False),
        ("\u00a0true", False),
    ],
)
def test_booleans_as_spark_reads_them(text: str, expected: bool) -> None:
    """Only the word true, in any case, is true."""
    assert is_true({"p": text}, "p") is expected


def test_tunable_properties_are_those_the_schema_marks() -> None:
    """Every field that the schema calls changeable without a new run lands outside the run's files."""
    executor = SCHEMA["$defs"]["executor"]
    sections = {name: SCHEMA["$defs"][name] for name in ("dynamicAllocation", "allocation")}
    marked = {
        TYPED_PROPERTIES[(section, name)]
        for section, schema in {**sections, "executor": executor}.items()
        for name, field in schema["properties"].items()
        if field.get("x-sparkgen-tunable") and (section, name) in TYPED_PROPERTIES
    }
    assert {name for name in marked if not name.startswith("spark.kubernetes.")} == TUNABLE
