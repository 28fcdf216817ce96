"""From a document's value to an application: defaults, and what wins over what."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from sparkgen import contract
from sparkgen.model import build
from sparkgen.model.application import Account, Application, Executors
from sparkgen.model.runtime import Runtime

SPEC: dict[str, Any] = {
    "type": "Scala",
    "sparkVersion": "3.5.8",
    "image": "spark:3.5.8",
    "mainClass": "Main",
    "mainApplicationFile": "local:///app.jar",
}


def application(namespace: str | None = None, **spec: Any) -> Application:
    """The application of a small document with these fields in its spec."""
    value = {"kind": "SparkApplication", "metadata": {"name": "pi"}, "spec": {**SPEC, **spec}}
    return build(value, namespace)


def test_defaults() -> None:
    """A minimal document: one executor, one core, 1g, a Job that is not retried, rights of its own."""
    made = application()
    assert (made.namespace, made.labels, made.annotations) == ("default", {}, {})
    assert (made.restart, made.retries, made.suspend) == ("Never", 0, False)
    assert (made.deadline_seconds, made.ttl_seconds, made.schedule) == (None, None, None)
    assert (made.runtime, made.on_mismatch) == (Runtime(contract.RUNTIME_IMAGE), "fail")
    assert (made.log_level, made.loggers, made.metrics_properties) == ("INFO", {}, None)
    assert made.executors == Executors(dynamic=False, instances=1, minimum=1, initial=1, maximum=1)
    assert made.tuning == {}
    assert made.run == {}
    assert made.account == Account("pi", create=True, annotations={}, rbac=True)
    assert (made.network_policy, made.disruption_budget, made.ui) == (None, None, {})
    for role in (made.driver, made.executor):
        assert (role.cores, role.core_request, role.core_limit) == (1, "1", None)
        assert (role.image, role.image_pull_policy, role.memory.heap) == ("spark:3.5.8", None, 1024)


def test_an_application_is_a_value() -> None:
    """Building twice gives equal values, and nothing can be set on one."""
    assert application() == application()
    with pytest.raises(dataclasses.FrozenInstanceError):
        application().name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("own", "given", "expected"),
    [
        ("mine", "theirs", "mine"),
        (None, "theirs", "theirs"),
        (None, None, "default"),
        ("", "theirs", "theirs"),
    ],
)
def test_namespace(own: str | None, given: str | None, expected: str) -> None:
    """The document's namespace, or else the caller's, or else `default`."""
    value = {"kind": "SparkApplication", "metadata": {"name": "pi", "namespace": own}, "spec": SPEC}
    assert build(value, given).namespace == expected


@pytest.mark.parametrize(
    ("version", "scala"),
    [("3.4.4", "2.12"), ("3.5.8", "2.12"), ("4.0.1", "2.13"), ("4.3.0", "2.13"), ("5.0", "2.13")],
)
def test_scala_line(version: str, scala: str) -> None:
    """Spark 3 is taken for Scala 2.12, later ones for 2.13; the document may say otherwise."""
    assert application(sparkVersion=version).scala_version == scala
    assert application(sparkVersion=version, scalaVersion="2.13").scala_version == "2.13"


@pytest.mark.parametrize(
    ("restart", "expected"),
    [
        (None, ("Never", 0)),
        ({}, ("Never", 0)),
        ({"type": "Never", "onFailureRetries": 3}, ("Never", 0)),
        ({"type": "OnFailure"}, ("OnFailure", 0)),
        ({"type": "OnFailure", "onFailureRetries": 3}, ("OnFailure", 3)),
        ({"type": "Always", "onFailureRetries": 3}, ("Always", 0)),
    ],
)
def test_retries(restart: dict[str, Any] | None, expected: tuple[str, int]) -> None:
    """Only OnFailure with a number retries, as in kubeflow's operator."""
    made = application(restartPolicy=restart)
    assert (made.restart, made.retries) == expected


DYNAMIC = {"enabled": True}

EXECUTORS = (
    ({"executor": {"instances": 3}}, Executors(False, 3, 3, 3, 3)),
    ({"executor": {"instances": 0}}, Executors(False, 0, 0, 0, 0)),
    ({"sparkConf": {"spark.executor.instances": "4"}}, Executors(False, 4, 4, 4, 4)),
    (
        {"sparkConf": {"spark.executor.instances": "4"}, "executor": {"instances": 2}},
        Executors(False, 2, 2, 2, 2),
    ),
    # Bounds mean nothing without `enabled`.
    ({"dynamicAllocation": {"minExecutors": 5}}, Executors(False, 1, 1, 1, 1)),
    ({"dynamicAllocation": DYNAMIC}, Executors(True, 0, 0, 0, None)),
    ({"dynamicAllocation": {**DYNAMIC, "minExecutors": 2}}, Executors(True, 0, 2, 2, None)),
    (
        {"dynamicAllocation": {**DYNAMIC, "minExecutors": 2, "initialExecutors": 5, "maxExecutors": 9}},
        Executors(True, 0, 2, 5, 9),
    ),
    # The largest of minimum, initial and instances starts.
    (
        {"dynamicAllocation": {**DYNAMIC, "minExecutors": 4, "initialExecutors": 2}},
        Executors(True, 0, 4, 4, None),
    ),
    (
        {"dynamicAllocation": {**DYNAMIC, "initialExecutors": 2}, "executor": {"instances": 6}},
        Executors(True, 6, 0, 6, None),
    ),
    ({"sparkConf": {"spark.dynamicAllocation.enabled": "TRUE"}}, Executors(True, 0, 0, 0, None)),
)


@pytest.mark.parametrize(("spec", "expected"), EXECUTORS)
def test_executors(spec: dict[str, Any], expected: Executors) -> None:
    """Numbers and bounds, as Utils.getDynamicAllocationInitialExecutors computes them."""
    assert application(**spec).executors == expected


ACCOUNTS: tuple[tuple[dict[str, Any], Account], ...] = (
    ({"serviceAccount": {"name": "jobs"}}, Account("jobs", True, {}, True)),
    ({"serviceAccount": {"create": False, "name": "jobs"}}, Account("jobs", False, {}, True)),
    ({"serviceAccount": {"annotations": {"a": "b"}}}, Account("pi", True, {"a": "b"}, True)),
    ({"rbac": {"create": False}}, Account("pi", True, {}, False)),
    # kubeflow's field names an account that exists.
    ({"driver": {"serviceAccount": "spark"}}, Account("spark", False, {}, True)),
    (
        {"driver": {"serviceAccount": "spark"}, "serviceAccount": {"create": True}},
        Account("spark", True, {}, True),
    ),
)


@pytest.mark.parametrize(("spec", "expected"), ACCOUNTS)
def test_account(spec: dict[str, Any], expected: Account) -> None:
    """Whose account it is, and who makes it and its rights."""
    assert application(**spec).account == expected


def test_tuning_is_in_counts_and_milliseconds() -> None:
    """Durations become milliseconds; a bare number of them is one of milliseconds, as in Spark."""
    made = application(
        allocation={
            "batchSize": 20,
            "batchDelay": "500ms",
            "maxPendingPods": 50,
            "executorTimeout": "2m",
            "pendingTimeout": "1h",
            "maxExecutorFailures": 7,
            "executorFailuresValidityInterval": "60000",
            "maxUnschedulablePods": 30,
            "waitForRegistration": True,
            "locality": {"enabled": False},
            "memoryOverheadRecovery": {"step": "512m", "maxIncrease": "2G"},
        }
    )
    assert made.tuning == {
        "batchSize": 20,
        "batchDelayMs": 500,
        "maxPendingPods": 50,
        "executorTimeoutMs": 120_000,
        "pendingTimeoutMs": 3_600_000,
        "maxExecutorFailures": 7,
        "executorFailuresValidityIntervalMs": 60_000,
        "maxUnschedulablePods": 30,
        "waitForRegistration": True,
        "locality": {"enabled": False},
        "memoryOverheadRecovery": {"stepMiB": 512, "maxIncreaseMiB": 2048},
    }


def test_tuning_from_spark_conf() -> None:
    """Spark's own properties mean the same, and typed fields win over them."""
    conf = {"spark.kubernetes.allocation.batch.size": "10", "spark.kubernetes.allocation.batch.delay": "2s"}
    made = application(sparkConf=conf, allocation={"batchSize": 30})
    assert made.tuning == {"batchSize": 30, "batchDelayMs": 2000}


@pytest.mark.parametrize("section", ["networkPolicy", "podDisruptionBudget"])
@pytest.mark.parametrize(
    ("given", "expected"),
    [(None, None), ({}, {}), ({"enabled": True}, {"enabled": True}), ({"enabled": False}, None)],
)
def test_optional_objects(
    section: str, given: dict[str, Any] | None, expected: dict[str, Any] | None
) -> None:
    """A section that is there is on, unless it says that it is off."""
    made = application(**{section: given})
    assert (made.network_policy if section == "networkPolicy" else made.disruption_budget) == expected


def test_roles_inherit_and_overrule() -> None:
    """Image and pull policy of a role win over the application's; CPU goes through Spark's properties."""
    made = application(
        imagePullPolicy="Always",
        driver={"image": "own", "imagePullPolicy": "Never", "cores": 2, "coreRequest": "500m"},
        executor={"cores": 4, "coreLimit": "6"},
    )
    assert (made.driver.image, made.driver.image_pull_policy) == ("own", "Never")
    assert (made.executor.image, made.executor.image_pull_policy) == ("spark:3.5.8", "Always")
    assert (made.driver.cores, made.driver.core_request, made.driver.core_limit) == (2, "500m", None)
    assert (made.executor.cores, made.executor.core_request, made.executor.core_limit) == (4, "4", "6")


@pytest.mark.parametrize(
    ("default", "extra", "expected"),
    [("-Da=1", "-Db=2", "-Da=1 -Db=2"), ("-Da=1", None, "-Da=1"), (None, "-Db=2", "-Db=2"), (None, None, "")],
)
def test_default_java_options_come_first(default: str | None, extra: str | None, expected: str) -> None:
    """Spark prepends them to the user's own, for executors as for drivers."""
    given = {"spark.executor.defaultJavaOptions": default, "spark.executor.extraJavaOptions": extra}
    conf = {name: text for name, text in given.items() if text is not None}
    assert application(sparkConf=conf).executor.java_options == expected


def test_scheduled() -> None:
    """A scheduled document nests the application's spec in `template`; one run at a time is the default."""
    value = {
        "kind": "ScheduledSparkApplication",
        "metadata": {"name": "nightly"},
        "spec": {
            "schedule": "@daily",
            "timeZone": "Etc/UTC",
            "suspend": True,
            "startingDeadlineSeconds": 60,
            "successfulRunHistoryLimit": 0,
            "failedRunHistoryLimit": 2,
            "template": {**SPEC, "restartPolicy": {"type": "OnFailure", "onFailureRetries": 1}},
        },
    }
    made = build(value)
    assert made.schedule == {**value["spec"], "concurrencyPolicy": "Forbid"}
    assert (made.image_pull_secrets, made.retries, made.suspend) == ((), 1, False)


def test_run() -> None:
    """`run` says what makes a run new, until when it may start, and what is kept."""
    run = {"id": "7", "expiresAt": "2026-01-01T00:00:00Z", "history": {"succeeded": 0, "failed": 3}}
    assert application(run=run).run == run
