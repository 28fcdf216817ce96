"""Older names of Spark's properties: what Spark reads of them is what sparkgen reads."""

from __future__ import annotations

from typing import Any

import pytest

from sparkgen import model
from sparkgen.model.properties import TYPED_PROPERTIES, effective_properties
from sparkgen.properties.older import (
    new_name,
    older_names,
    overruled_names,
    under_new_names,
    written_name,
)
from sparkgen.semantics.facts import DocumentFacts

OFF_HEAP, OLD_OFF_HEAP = "spark.memory.offHeap.enabled", "spark.unsafe.offHeap"
SYSTEMS = "spark.kerberos.access.hadoopFileSystems"


def document(**conf: str) -> dict[str, Any]:
    """A small application with these properties; `__` stands for a dot."""
    spec = {
        "type": "Scala",
        "sparkVersion": "4.3.0",
        "image": "i",
        "mainClass": "A",
        "mainApplicationFile": "local:///a.jar",
        "executor": {"memory": "4g"},
        "sparkConf": {name.replace("__", "."): text for name, text in conf.items()},
    }
    return {"kind": "SparkApplication", "metadata": {"name": "a"}, "spec": spec}


@pytest.mark.parametrize(
    ("older", "new"),
    [
        ("spark.yarn.executor.memoryOverhead", "spark.executor.memoryOverhead"),
        ("spark.yarn.driver.memoryOverhead", "spark.driver.memoryOverhead"),
        ("spark.yarn.max.executor.failures", "spark.executor.maxNumFailures"),
        ("spark.yarn.executor.failuresValidityInterval", "spark.executor.failuresValidityInterval"),
        ("spark.yarn.access.hadoopFileSystems", SYSTEMS),
        ("spark.yarn.access.namenodes", SYSTEMS),
        ("spark.yarn.keytab", "spark.kerberos.keytab"),
        ("spark.yarn.principal", "spark.kerberos.principal"),
        (OLD_OFF_HEAP, OFF_HEAP),
        ("spark.history.fs.cleaner.maxAge.seconds", "spark.history.fs.cleaner.maxAge"),
    ],
)
def test_older_names(older: str, new: str) -> None:
    """Each is put under the new name, with its value."""
    assert new_name(older) == new
    assert under_new_names({older: "x", "spark.other": "y"}) == {new: "x", "spark.other": "y"}


def test_the_new_name_wins() -> None:
    """As in Spark, wherever the two stand."""
    assert under_new_names({OLD_OFF_HEAP: "true", OFF_HEAP: "false"}) == {OFF_HEAP: "false"}
    assert overruled_names({OLD_OFF_HEAP: "true", OFF_HEAP: "false"}) == {OLD_OFF_HEAP: OFF_HEAP}


def test_spark_s_order_decides_between_two_older_names() -> None:
    """Spark asks for `namenodes` first, though `hadoopFileSystems` is the newer of the two."""
    given = {"spark.yarn.access.hadoopFileSystems": "b", "spark.yarn.access.namenodes": "a"}
    assert under_new_names(given) == {SYSTEMS: "a"}
    assert written_name(given, SYSTEMS) == "spark.yarn.access.namenodes"


def test_names_of_yarn_s_own_properties_stay() -> None:
    """Spark asks for the older name of an older name only where it asks for that: here nobody does."""
    given = {"spark.yarn.max.worker.failures": "3", "spark.yarn.jar": "hdfs:///spark.jar"}
    assert under_new_names(given) == given


def test_no_older_name_is_a_new_one() -> None:
    """One step is enough."""
    older = {name for names in older_names().values() for name in names}
    assert not older & older_names().keys()
    assert not older & set(TYPED_PROPERTIES.values())


def test_the_pods_have_the_sizes_of_older_names() -> None:
    """4096 MiB of heap and 2048 of overhead, as on YARN: not the default of a tenth."""
    application = model.build(document(spark__yarn__executor__memoryOverhead="2048"))
    assert application.executor.memory.total == 6144
    typed = document(spark__yarn__executor__memoryOverhead="2048")
    typed["spec"]["executor"]["memoryOverhead"] = "1g"
    assert model.build(typed).executor.memory.total == 5120


def test_rules_see_new_names_and_point_at_the_written_ones() -> None:
    """A finding about the new name has the position of what the document says."""
    facts = DocumentFacts.of(document(spark__unsafe__offHeap="maybe"))
    assert facts.conf == {OFF_HEAP: "maybe"}
    assert facts.path("sparkConf", OFF_HEAP) == ("spec", "sparkConf", OLD_OFF_HEAP)
    assert facts.path("sparkConf", "spark.other") == ("spec", "sparkConf", "spark.other")


def test_properties_of_a_spec() -> None:
    """The one place that decides precedence knows them, and typed fields win."""
    conf = {"spark.yarn.driver.memoryOverhead": "1g"}
    assert effective_properties({"sparkConf": conf}) == {"spark.driver.memoryOverhead": "1g"}
    typed = {"sparkConf": conf, "driver": {"memoryOverhead": "2g"}}
    assert effective_properties(typed) == {"spark.driver.memoryOverhead": "2g"}
