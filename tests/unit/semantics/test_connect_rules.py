"""Rules about Connect servers."""

from __future__ import annotations

import pytest

from sparkgen.semantics.registry import findings_of
from tests.unit.semantics.documents import whole

SERVER = "kind: SparkConnectServer\nspec: "
NAMED = "connect: {token: {name: a, key: token}}"


def codes(spec: str) -> list[str]:
    """What is found in a Connect server."""
    return [rule.code for rule, _ in findings_of(whole(SERVER + spec))]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (f"{{{NAMED}}}", []),
        (f"{{{NAMED}, sparkVersion: 3.5.8, image: 'registry.example.com/spark:3.5.8'}}", ["SG198"]),
        ("{sparkConf: {spark.connect.grpc.binding.port: '15002'}}", []),
        ("{sparkConf: {spark.connect.grpc.binding.port: '443'}}", ["SG199"]),
        ("{sparkConf: {spark.connect.grpc.binding.address: 127.0.0.1}}", ["SG199"]),
        ("{sparkConf: {spark.connect.authenticate.token: abc-def-123}}", ["SG117"]),
        ("{connect: {idleTimeout: 30m}}", []),
        ("{connect: {idleTimeout: 1h30m}}", ["SG103"]),
        ("{connect: {idleTimeout: 0s}}", ["SG199"]),
        ("{connect: {idleTimeout: '30'}}", ["SG199"]),
        ("{connect: {serviceLabels: {a..b/x: v}}}", ["SG171"]),
        ("{connect: {serviceAnnotations: {a..b/x: v}}}", ["SG171"]),
        ("{driver: {ports: [{name: connect, containerPort: 8888}]}}", ["SG161"]),
        ("{driver: {sidecars: [{name: a, image: b, ports: [{containerPort: 15002}]}]}}", ["SG162"]),
        (
            f"{{{NAMED}, driver: {{env: [{{name: SPARK_CONNECT_AUTHENTICATE_TOKEN, value: a}}]}}}}",
            ["SG118", "SG163"],
        ),
        ("{driver: {template: {spec: {containers: [{name: a, readinessProbe: {exec: {}}}]}}}}", ["SG199"]),
        ("{executor: {memory: 4Gi}}", ["SG101"]),
        ("{dynamicAllocation: {minExecutors: 3, maxExecutors: 2}}", ["SG111"]),
    ],
)
def test_what_is_found(spec: str, expected: list[str]) -> None:
    """Those of Connect servers, and those of every application."""
    assert codes(spec) == expected


def test_every_finding_is_about_what_the_document_has() -> None:
    """A Connect server is completed to an application: no finding is about what was added."""
    for _, finding in findings_of(whole(SERVER + "{}")):
        assert finding.path[1] not in ("type", "mainClass", "mainApplicationFile", "restartPolicy")


def test_an_application_may_name_that_port() -> None:
    """Connect as a plugin of an application is its own affair."""
    conf = "spec: {sparkConf: {spark.connect.grpc.binding.port: '443'}}"
    assert [rule.code for rule, _ in findings_of(whole(conf)) if rule.code == "SG199"] == []
