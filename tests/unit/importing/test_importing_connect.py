"""What is decided of a SparkConnect: which image, how much memory, which executors, and who may connect."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

from sparkgen.importing import Choices, Imported, Outcome, import_all
from sparkgen.usecases.validate import examine

IMAGE = "docker.io/apache/spark:4.0.1"


def imported(choices: Choices = Choices(), **spec: Any) -> Imported:  # noqa: B008 - a value
    """What becomes of a SparkConnect with this spec."""
    given = {
        "apiVersion": "sparkoperator.k8s.io/v1alpha1",
        "kind": "SparkConnect",
        "metadata": {"name": "team-a"},
        "spec": {"sparkVersion": "4.0.1", "image": IMAGE, **spec},
    }
    (item,) = import_all(["-"], choices, examine, lambda: json.dumps(given).encode()).imported
    return item


def spec_of(item: Imported) -> dict[str, Any]:
    """The spec of the document that is written."""
    value = yaml.safe_load(item.text)
    assert value["kind"] == "SparkConnectServer"
    spec: dict[str, Any] = value["spec"]
    return spec


def said(item: Imported, source: str) -> Outcome:
    """What is reported of a value, by its place."""
    (entry,) = [entry for entry in item.entries if ".".join(map(str, entry.source)) == source]
    return entry.outcome


def server(**container: Any) -> dict[str, Any]:
    """A server whose template has one container."""
    return {"template": {"spec": {"containers": [{"name": "spark-kubernetes-driver", **container}]}}}


@pytest.mark.parametrize(
    ("given", "properties", "enabled", "instances"),
    [
        (None, {}, False, 2),
        ({"enabled": False, "maxExecutors": 3}, {}, False, 2),
        ({"maxExecutors": 3}, {}, False, 2),
        ({"enabled": True}, {}, True, None),
        (None, {"spark.dynamicAllocation.enabled": "true"}, True, None),
        ({"enabled": False}, {"spark.dynamicAllocation.enabled": "true"}, True, None),
        ({"enabled": False}, {"spark.executor.instances": "5"}, False, 5),
    ],
)
def test_dynamic_allocation_is_off_unless_something_enables_it(
    given: dict[str, Any] | None, properties: dict[str, str], enabled: bool, instances: int | None
) -> None:
    """As the operator reads it: `enabled: false` sets nothing, and properties decide then."""
    spec = spec_of(imported(dynamicAllocation=given, sparkConf=properties))
    assert spec["dynamicAllocation"]["enabled"] is enabled
    assert "maxExecutors" not in spec["dynamicAllocation"]
    assert (spec.get("executor") or {}).get("instances") == instances


def test_the_scheduler_stays_what_spark_makes_it() -> None:
    """FIFO is Spark's default, unless the properties say something."""
    assert spec_of(imported())["sparkConf"] == {"spark.scheduler.mode": "FIFO"}
    fair = {"spark.scheduler.mode": "FAIR"}
    assert spec_of(imported(sparkConf=fair))["sparkConf"] == fair


@pytest.mark.parametrize(
    ("both", "driver", "executor", "expected"),
    [
        (IMAGE, None, None, (IMAGE, None, None)),
        (None, "a:1", "a:1", ("a:1", None, None)),
        (None, "a:1", "b:1", ("a:1", None, "b:1")),
        (IMAGE, "a:1", None, (IMAGE, "a:1", None)),
        (IMAGE, IMAGE, "b:1", (IMAGE, None, "b:1")),
    ],
)
def test_an_image_of_a_template_is_the_document_s_unless_there_is_another(
    both: str | None, driver: str | None, executor: str | None, expected: tuple[str | None, ...]
) -> None:
    """One image where all is one, and a role's own where it differs."""
    spec = spec_of(
        imported(
            image=both,
            server=server(**({"image": driver} if driver else {})),
            executor=server(**({"image": executor} if executor else {})),
        )
    )
    roles = [(spec.get(role) or {}).get("image") for role in ("driver", "executor")]
    assert (spec["image"], *roles) == expected


@pytest.mark.parametrize(
    ("size", "heap", "overhead", "outcome"),
    [
        ("4Gi", "2g", "2048m", Outcome.REWRITTEN),
        ("4Gi", None, "3072m", Outcome.REWRITTEN),
        ("1408Mi", "1g", None, Outcome.NEEDLESS),
        ("1Gi", "1g", None, Outcome.LOST),
        ("1Gb", "1g", None, Outcome.LOST),
        ("4Gi", "1 lot", None, Outcome.LOST),
    ],
)
def test_memory_of_the_server_s_pod_becomes_overhead_where_it_is_enough(
    size: str, heap: str | None, overhead: str | None, outcome: Outcome
) -> None:
    """The pod is as large as it was, and never smaller than heap and overhead."""
    given = server(resources={"limits": {"memory": size}})
    item = imported(server={**given, **({"memory": heap} if heap else {})})
    driver = spec_of(item)["driver"]
    assert driver.get("memoryOverhead") == overhead
    assert "resources" not in driver["template"]["spec"]["containers"][0]
    assert said(item, "spec.server.template.spec.containers.0.resources.limits.memory") is outcome


def test_a_token_of_a_secret_gets_its_field_and_an_open_one_stays() -> None:
    """What a Secret has is named; a text in the template is the variable that it was."""
    secret = {"name": "team-a", "key": "token"}
    token = {"name": "SPARK_CONNECT_AUTHENTICATE_TOKEN", "valueFrom": {"secretKeyRef": secret}}
    spec = spec_of(imported(server=server(env=[token])))
    assert spec["connect"]["token"] == secret
    assert "env" not in spec["driver"]["template"]["spec"]["containers"][0]
    optional = {**token, "valueFrom": {"secretKeyRef": {**secret, "optional": True}}}
    kept = spec_of(imported(server=server(env=[optional])))
    assert "connect" not in kept
    assert kept["driver"]["template"]["spec"]["containers"][0]["env"] == [optional]


def test_the_name_of_the_service_is_a_finding_where_it_changes() -> None:
    """Clients have the address in their programs."""
    assert said(imported(), "kind") is Outcome.CHANGED
    same = {"service": {"metadata": {"name": "team-a-connect"}}}
    assert said(imported(server=same), "kind") is Outcome.REWRITTEN
    assert said(imported(Choices(name="b"), server=same), "kind") is Outcome.CHANGED


def test_labels_of_the_operator_are_kept_on_request() -> None:
    """--keep-labels: those of a Connect server, whose name is under a key of its own."""
    spec = spec_of(imported(Choices(labels=True)))
    for role in ("driver", "executor"):
        assert spec[role]["labels"]["sparkoperator.k8s.io/connect-name"] == "team-a"
        assert "sparkoperator.k8s.io/app-name" not in spec[role]["labels"]
