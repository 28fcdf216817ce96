"""What Spark is told: the driver's properties and the tuning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sparkgen.model import build
from sparkgen.resources.conf import spark_properties

CONTRACT = {
    "spark.master": "sparkgen://127.0.0.1:7090",
    "spark.submit.deployMode": "client",
    "spark.driver.extraClassPath": "/opt/sparkgen/lib/scheduler.jar",
    "spark.driver.port": "7078",
    "spark.driver.blockManager.port": "7079",
    "spark.blockManager.port": "7079",
    "spark.ui.port": "4040",
    "spark.sparkgen.allocation.onMismatch": "fail",
}

SIZES = {
    "spark.driver.cores": "1",
    "spark.driver.memory": "1024m",
    "spark.driver.memoryOverhead": "384m",
    "spark.executor.cores": "1",
    "spark.executor.memory": "1024m",
    "spark.executor.memoryOverhead": "384m",
}

DEFAULTS = {"spark.app.name": "pi", "spark.authenticate": "true"}


def properties(**spec: Any) -> dict[str, str]:
    """The driver's properties of a small document."""
    fixed = {"type": "Scala", "sparkVersion": "3.5.8", "image": "i", "mainApplicationFile": "local:///a.jar"}
    value = {"kind": "SparkApplication", "metadata": {"name": "pi"}, "spec": {**fixed, **spec}}
    return spark_properties(build(value))


def test_the_least() -> None:
    """A minimal document: defaults, the contract, and the sizes that the pods have."""
    assert properties() == {**DEFAULTS, **CONTRACT, **SIZES}
    assert list(properties()) == sorted(properties())


def test_the_document_wins_over_defaults() -> None:
    """Defaults are what sparkgen would like, not more."""
    conf = {"spark.app.name": "Report", "spark.authenticate": "false"}
    assert {name: properties(sparkConf=conf)[name] for name in conf} == conf


@pytest.mark.parametrize("name", sorted(CONTRACT.keys() - {"spark.driver.extraClassPath"}))
def test_the_contract_wins_over_the_document(name: str) -> None:
    """What the containers agreed on cannot be changed by a property."""
    assert properties(sparkConf={name: "other"})[name] == CONTRACT[name]


def test_class_path_is_extended() -> None:
    """The scheduler's jar comes first, the document's class path after it."""
    conf = {"spark.driver.extraClassPath": "/opt/lib/*"}
    assert properties(sparkConf=conf)["spark.driver.extraClassPath"] == (
        "/opt/sparkgen/lib/scheduler.jar:/opt/lib/*"
    )


def test_sizes_are_those_of_the_pod() -> None:
    """Spark computes its resource profiles with what the pods really have."""
    made = properties(type="Python", driver={"memory": "2g"}, executor={"cores": 2, "memory": "4g"})
    assert made["spark.driver.memory"] == "2048m"
    assert made["spark.driver.memoryOverhead"] == "819m"
    assert made["spark.executor.cores"] == "2"
    assert made["spark.executor.memory"] == "4096m"
    assert made["spark.executor.memoryOverhead"] == "1638m"


@pytest.mark.parametrize(
    "name",
    [
        "spark.executor.instances",
        "spark.dynamicAllocation.minExecutors",
        "spark.dynamicAllocation.initialExecutors",
        "spark.dynamicAllocation.maxExecutors",
        "spark.executor.maxNumFailures",
        "spark.executor.failuresValidityInterval",
        "spark.kubernetes.allocation.batch.size",
        "spark.kubernetes.namespace",
        "spark.kubernetes.memoryOverheadFactor",
    ],
)
def test_what_the_driver_is_not_told(name: str) -> None:
    """Tunable properties come from the allocator, and spark.kubernetes has no reader in the driver."""
    assert name not in properties(sparkConf={name: "1"})


def test_dynamic_allocation_tracks_shuffles() -> None:
    """Spark refuses dynamic allocation without a shuffle service or tracking, so tracking is the default."""
    name = "spark.dynamicAllocation.shuffleTracking.enabled"
    assert properties(dynamicAllocation={"enabled": True})[name] == "true"
    assert properties(dynamicAllocation={"enabled": True, "shuffleTrackingEnabled": False})[name] == "false"
    assert name not in properties()


def test_packages_have_a_place_to_be_put() -> None:
    """The stock image's user has no home, so Ivy gets a directory; the document may name another."""
    packages = {"packages": ["org:lib:1"]}
    assert properties(deps=packages)["spark.jars.ivy"] == "/tmp/.ivy2"  # noqa: S108 - in the pod
    assert properties(deps=packages, sparkConf={"spark.jars.ivy": "/x"})["spark.jars.ivy"] == "/x"
    assert "spark.jars.ivy" not in properties()


def test_tuning_without_dynamic_allocation(rendered: Callable[..., Any]) -> None:
    """A fixed number of executors; whatever is not said is not there."""
    assert rendered(executor={"instances": 3}).tuning == {
        "version": 1,
        "executors": {"instances": 3},
        "allocation": {},
        "run": {},
    }


def test_tuning_with_everything(rendered: Callable[..., Any]) -> None:
    """Bounds, allocation in counts and milliseconds, and how long runs may start and are kept."""
    made = rendered(
        dynamicAllocation={"enabled": True, "minExecutors": 1, "maxExecutors": 9},
        allocation={
            "batchSize": 5,
            "batchDelay": "1s",
            "maxPendingPods": 6,
            "maxUnschedulablePods": 7,
            "waitForRegistration": False,
            "hold": True,
            "locality": {"enabled": False, "hosts": {"dn-0": "node-b", "10.0.0.1": "node-a"}},
            "executorTimeout": "2m",
            "pendingTimeout": "3m",
            "maxExecutorFailures": 4,
            "executorFailuresValidityInterval": "1h",
        },
        run={"expiresAt": "2026-01-01T00:00:00Z", "history": {"succeeded": 0, "failed": 2}},
    )
    assert made.tuning == {
        "version": 1,
        "executors": {"minimum": 1, "initial": 1, "maximum": 9},
        "allocation": {
            "batchSize": 5,
            "batchDelayMs": 1000,
            "maxPendingPods": 6,
            "maxUnschedulablePods": 7,
            "waitForRegistration": False,
            "hold": True,
            "locality": {"enabled": False, "hosts": {"10.0.0.1": "node-a", "dn-0": "node-b"}},
            "executorTimeoutMs": 120_000,
            "pendingTimeoutMs": 180_000,
            "maxExecutorFailures": 4,
            "executorFailuresValidityIntervalMs": 3_600_000,
        },
        "run": {"expiresAt": "2026-01-01T00:00:00Z", "history": {"succeeded": 0, "failed": 2}},
    }


def test_no_maximum_is_no_key(rendered: Callable[..., Any]) -> None:
    """Dynamic allocation without an upper bound has none in the file."""
    assert rendered(dynamicAllocation={"enabled": True}).tuning["executors"] == {"minimum": 0, "initial": 0}
