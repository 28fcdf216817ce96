"""Laws of the rules: they never fail, whatever a valid document holds, and they are functions of it."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sparkgen.errors import Severity
from sparkgen.model import build
from sparkgen.semantics import rules_sizes
from sparkgen.semantics.registry import RULES, findings_of
from tests.property.strategies import documents

TEXT = st.text(max_size=12) | st.text("0123456789.,-+%gGmMiks:/_${}= ", max_size=12)
NAMES = st.sampled_from(["a", "b", "sparkgen-a", "install", "spark-local-dir-1"])
PROPERTIES = st.dictionaries(
    st.sampled_from(
        [
            "spark.executor.memory",
            "spark.driver.memoryOverhead",
            "spark.kubernetes.memoryOverheadFactor",
            "spark.executor.memoryOverheadFactor",
            "spark.kubernetes.executor.limit.cores",
            "spark.executor.cores",
            "spark.task.cpus",
            "spark.executor.instances",
            "spark.dynamicAllocation.enabled",
            "spark.dynamicAllocation.maxExecutors",
            "spark.dynamicAllocation.schedulerBacklogTimeout",
            "spark.network.timeout",
            "spark.memory.fraction",
            "spark.memory.offHeap.size",
            "spark.memory.offHeap.enabled",
            "spark.jars.packages",
            "spark.executor.resource.gpu.amount",
            "spark.executor.resource.gpu.vendor",
            "spark.kubernetes.driver.label.x",
            "spark.app.id",
        ]
    )
    | TEXT,
    TEXT,
    max_size=6,
)
NUMERIC = st.from_regex(r"[ +-]?[0-9_]{0,4}[.,]?[0-9]{0,2}[a-zA-Z%]{0,2} ?", fullmatch=True)
COMPUTED = sorted(
    {
        *rules_sizes.MEMORY_SETTINGS,
        *rules_sizes.CPU_SETTINGS,
        *rules_sizes.DURATION_SETTINGS,
        *rules_sizes.FACTOR_SETTINGS,
        *rules_sizes.COUNT_SETTINGS,
    }
)
ROLE = st.fixed_dictionaries(
    {},
    optional={
        "memory": TEXT,
        "memoryOverhead": TEXT,
        "coreRequest": TEXT,
        "coreLimit": TEXT,
        "javaOptions": TEXT,
        "env": st.lists(st.fixed_dictionaries({"name": TEXT}, optional={"value": TEXT}), max_size=3),
        "volumeMounts": st.lists(st.fixed_dictionaries({"name": NAMES, "mountPath": TEXT}), max_size=3),
        "sidecars": st.lists(st.fixed_dictionaries({"name": NAMES, "image": TEXT}), max_size=3),
        "template": st.fixed_dictionaries(
            {},
            optional={
                "metadata": st.fixed_dictionaries({"labels": st.dictionaries(TEXT, TEXT, max_size=2)}),
                "spec": st.fixed_dictionaries(
                    {},
                    optional={
                        "containers": st.lists(
                            st.fixed_dictionaries(
                                {"name": NAMES},
                                optional={"resources": st.just({"limits": {"memory": "1x", "cpu": 1}})},
                            ),
                            max_size=2,
                        ),
                        "volumes": st.lists(st.fixed_dictionaries({"name": NAMES, "emptyDir": st.just({})})),
                    },
                ),
            },
        ),
    },
)
SPEC = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["Java", "Scala", "Python", "R"]),
        "sparkVersion": st.from_regex(r"[0-9]{1,2}\.[0-9]{1,2}(\.[0-9])?(-[a-z]+)?", fullmatch=True),
        "image": st.text(min_size=1, max_size=20),
        "mainApplicationFile": st.text(min_size=1, max_size=20),
    },
    optional={
        "sparkConf": PROPERTIES,
        "hadoopConf": st.dictionaries(TEXT, TEXT, max_size=2),
        "memoryOverheadFactor": TEXT,
        "arguments": st.lists(TEXT, max_size=4),
        "deps": st.fixed_dictionaries(
            {},
            optional={name: st.lists(TEXT, max_size=3) for name in ("jars", "packages", "excludePackages")},
        ),
        "volumes": st.lists(st.fixed_dictionaries({"name": NAMES, "emptyDir": st.just({})}), max_size=3),
        "driver": ROLE,
        "executor": ROLE,
        "run": st.fixed_dictionaries({"expiresAt": TEXT}),
    },
)


def _document(spec: dict[str, Any], schedule: str | None, zone: str) -> dict[str, Any]:
    kind = "SparkApplication" if schedule is None else "ScheduledSparkApplication"
    outer = spec if schedule is None else {"schedule": schedule, "timeZone": zone, "template": spec}
    return {"apiVersion": "sparkgen.dev/v1alpha1", "kind": kind, "metadata": {"name": "a"}, "spec": outer}


@given(spec=SPEC, schedule=st.none() | TEXT, zone=TEXT)
def test_rules_never_fail(spec: dict[str, Any], schedule: str | None, zone: str) -> None:
    """Whatever texts a document holds: a rule that cannot judge one says nothing."""
    value = _document(spec, schedule, zone)
    before = copy.deepcopy(value)
    first = [(rule.code, finding) for rule, finding in findings_of(value)]
    assert value == before
    assert first == [(rule.code, finding) for rule, finding in findings_of(value)]


@given(
    conf=st.dictionaries(st.sampled_from(COMPUTED), NUMERIC, max_size=3),
    driver=st.dictionaries(st.sampled_from(["memory", "memoryOverhead", "coreRequest"]), NUMERIC, max_size=1),
    factor=st.just("0.2") | NUMERIC,
)
def test_what_no_rule_refuses_can_be_built(conf: dict[str, str], driver: dict[str, str], factor: str) -> None:
    """The model computes with sizes, durations and numbers: a text that it cannot read is an error before."""
    spec = {
        "type": "Python",
        "sparkVersion": "3.5.8",
        "image": "example.com/a:1",
        "mainApplicationFile": "local:///a.py",
        "sparkConf": {**conf, "spark.memory.offHeap.enabled": "true"},
        "driver": driver,
        "memoryOverheadFactor": factor,
    }
    value = _document(spec, None, "")
    if not any(rule.severity is Severity.ERROR for rule, _ in findings_of(value)):
        build(value)


@given(value=documents())
def test_every_finding_says_something_and_what_to_do(value: dict[str, Any]) -> None:
    """On documents made from the schema, with every field that it has."""
    for rule, finding in findings_of(value):
        assert rule in RULES
        assert finding.message
        assert finding.next_step
        assert finding.path[0] in ("metadata", "spec")
