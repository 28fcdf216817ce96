"""The table of verdicts: complete, and each verdict with what its readers need."""

from __future__ import annotations

import pytest

from sparkgen.model.properties import TYPED_PROPERTIES
from sparkgen.properties.classes import BACKEND_CLASSES, backend_classes, without_backend_classes
from sparkgen.properties.known import known
from sparkgen.properties.table import CATCH_ALL, judgement, judgements, passed, same_fields
from sparkgen.properties.verdicts import Judgement, Verdict
from sparkgen.spark_versions import TESTED

ROLL = "org.apache.spark.scheduler.cluster.k8s.ExecutorRollPlugin"


def judged(name: str) -> Judgement:
    """The judgement on a name that has one."""
    found = judgement(name)
    assert found is not None
    return found


def test_every_property_has_a_verdict() -> None:
    """All that Spark's Kubernetes module and spark-submit read; the names of a new Spark fail here."""
    typed = set(TYPED_PROPERTIES.values())
    read = [one.name for one in known().values() if one.readers and one.readers != ("plugin",)]
    assert len(read) > 200
    found = {name: judgement(name) for name in read if name not in typed}
    assert [name for name, one in found.items() if one is None or one.name in CATCH_ALL] == []


def test_every_class_has_a_verdict() -> None:
    """Plugins of Spark's Kubernetes module need its scheduler backend."""
    assert {one.name for one in known().values() if one.readers == ("plugin",)} == BACKEND_CLASSES.keys()


def test_the_list_is_of_the_tested_versions() -> None:
    """Whoever adds a Spark runs the tool."""
    assert {version for one in known().values() for version in one.versions} == {
        tested.version for tested in TESTED
    }


def test_verdicts_say_what_their_readers_need() -> None:
    """A field has a step; what has no effect has a reason, and a step if something is lost."""
    for name, row in judgements().items():
        assert not f"{row.reason} {row.step}".endswith("."), name
        if row.verdict is Verdict.FIELD:
            assert row.step, name
        elif row.verdict not in (Verdict.PASSED, Verdict.READ):
            assert row.reason, name
            assert not row.fields, name
        assert not row.lost or row.step, name
        assert not row.same or row.lost, name


def test_the_longest_prefix_decides() -> None:
    """Exact names win over prefixes, and long prefixes over short ones."""
    assert judged("spark.kubernetes.driver.label.team").name == "spark.kubernetes.driver.label."
    assert judged("spark.kubernetes.driver.pod.name").verdict is Verdict.NO_EFFECT
    assert judged("spark.kubernetes.allocation.batch.size").verdict is Verdict.READ
    assert judged("spark.kubernetes.allocation.of.later").name == "spark.kubernetes.allocation."
    assert judged("spark.kubernetes.of.later").name == "spark.kubernetes."
    assert judgement("spark.sql.shuffle.partitions") is None


def test_prefixes_with_a_field_have_no_exceptions() -> None:
    """The chart knows the prefixes of fields only."""
    fields = [name for name, row in judgements().items() if row.verdict is Verdict.FIELD]
    prefixes = tuple(name for name in fields if name.endswith("."))
    others = judgements().keys() - set(fields)
    assert [name for name in others if name.startswith(prefixes)] == []


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("spark.kubernetes.executor.terminationGracePeriodSeconds", "executor.terminationGracePeriodSeconds"),
        (
            "spark.kubernetes.driver.securityContext.allowPrivilegeEscalation",
            "driver.securityContext.allowPrivilegeEscalation",
        ),
        ("spark.kubernetes.appKillPodDeletionGracePeriod", "driver.terminationGracePeriodSeconds"),
        ("spark.kubernetes.scheduler.volcano.podGroupTemplateFile", "batchSchedulerOptions"),
        ("spark.kubernetes.allocation.maximum", "dynamicAllocation.maxExecutors"),
        ("spark.kubernetes.allocation.maxPendingPodsPerRp", "allocation.maxPendingPods"),
    ],
)
def test_properties_that_have_a_field_name_it(name: str, field: str) -> None:
    """Nobody is told to delete what the document can say."""
    assert judged(name).verdict is Verdict.FIELD
    assert field in judged(name).step


def test_what_spark_submit_reads_in_the_driver_is_passed_on() -> None:
    """`callSystemExitOnMainExit` has an effect, and so has one name of `spark.kubernetes.`."""
    assert judged("spark.submit.callSystemExitOnMainExit").verdict in (Verdict.PASSED, Verdict.READ)
    assert passed("spark.kubernetes.") == ("spark.kubernetes.jars.avoidDownloadSchemes",)
    for name in ("spark.kubernetes.driver.annotateExitException", "spark.submit.waitForCompletion"):
        assert judged(name).verdict not in (Verdict.PASSED, Verdict.READ)


def test_fields_that_take_the_very_value() -> None:
    """Not those that several fields share, or that mean something else here."""
    assert same_fields()["spark.kubernetes.driver.label."] == ("driver", "labels")
    assert same_fields()["spark.kubernetes.container.image"] == ("image",)
    assert "spark.kubernetes.scheduler.name" not in same_fields()
    assert "spark.kubernetes.driver.service.label." not in same_fields()


def test_classes_without_effect() -> None:
    """Others beside them stay."""
    assert list(backend_classes({"spark.plugins": f"a.B, {ROLL}", "spark.x": ROLL})) == [
        ("spark.plugins", ROLL)
    ]
    assert without_backend_classes("spark.plugins", f"a.B, {ROLL}") == "a.B"
    assert without_backend_classes("spark.plugins", ROLL) == ""
    assert without_backend_classes("spark.plugins", "a.B, c.D") == "a.B, c.D"
