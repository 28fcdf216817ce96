"""Rules about Connect servers."""

from __future__ import annotations

import pytest

from sparkgen.semantics.registry import findings_of
from tests.unit.semantics.documents import whole

SERVER = "kind: SparkConnectServer\nspec: "
NAMED = "connect: {token: {name: a, key: token}}"
OLD = "sparkVersion: 3.5.8, image: 'registry.example.com/notebooks:3.5.8'"
PROPERTY = "spark.connect.authenticate.token"
VARIABLE = "{name: SPARK_CONNECT_AUTHENTICATE_TOKEN, valueFrom: {secretKeyRef: {name: a, key: token}}}"


def codes(spec: str) -> list[str]:
    """What is found in a Connect server, but for SG303, which says that most of these let everybody in."""
    return [rule.code for rule, _ in findings_of(whole(SERVER + spec)) if rule.code != "SG303"]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (f"{{{NAMED}}}", []),
        (f"{{{NAMED}, {OLD}}}", ["SG198"]),
        (f"{{sparkConf: {{{PROPERTY}: '${{env:A}}'}}, {OLD}}}", ["SG198"]),
        (f"{{driver: {{env: [{VARIABLE}]}}, {OLD}}}", ["SG198"]),
        (f"{{driver: {{template: {{spec: {{containers: [{{env: [{VARIABLE}]}}]}}}}}}, {OLD}}}", ["SG198"]),
        (f"{{executor: {{env: [{VARIABLE}]}}, {OLD}}}", []),
        (f"{{sparkConf: {{{PROPERTY}: ''}}, {OLD}}}", []),
        (f"{{{NAMED}, sparkConf: {{{PROPERTY}: '${{env:A}}'}}}}", ["SG199"]),
        ("{sparkConf: {spark.connect.grpc.binding.port: '15002'}}", []),
        ("{sparkConf: {spark.connect.grpc.binding.port: '443'}}", ["SG199"]),
        ("{sparkConf: {spark.connect.grpc.binding.address: 127.0.0.1}}", ["SG199"]),
        ("{sparkConf: {spark.connect.authenticate.token: abc-def-123}}", ["SG117"]),
        ("{connect: {ingressFrom: [{podSelector: {}}]}}", ["SG199"]),
        ("{connect: {ingressFrom: []}, networkPolicy: {enabled: false}}", ["SG199"]),
        ("{connect: {ingressFrom: []}, networkPolicy: {}}", []),
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


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("image: 'docker.io/apache/spark:3.5.8'", ["spec.image"]),
        ("image: 'spark:3.5.8-python3@sha256:abc'", ["spec.image"]),
        ("image: 'a:1', driver: {image: 'mirror.example.com:5000/spark:3.5.8'}", ["spec.driver.image"]),
        ("image: 'apache/spark:3.5.8', driver: {image: 'notebooks:1'}", []),
        ("image: 'apache/spark:3.5.8', deps: {packages: ['org.apache.spark:spark-connect_2.12:3.5.8']}", []),
        ("image: 'apache/spark:3.5.8', deps: {jars: ['s3a://a/spark-connect_2.12-3.5.8.jar']}", []),
        ("image: 'apache/spark:3.5.8', sparkConf: {spark.jars.packages: 'a:b:1,c:spark-connect_2.12:1'}", []),
        (
            "image: 'apache/spark:3.5.8', "
            "sparkConf: {spark.driver.extraClassPath: /opt/x/spark-connect_2.12-3.5.8.jar}",
            [],
        ),
    ],
)
def test_the_package_of_spark_3(spec: str, expected: list[str]) -> None:
    """Its own images have no server; in others it may be."""
    found = findings_of(whole(f"{SERVER}{{sparkVersion: 3.5.8, {spec}}}"))
    assert [".".join(map(str, finding.path)) for rule, finding in found if rule.code == "SG301"] == expected


@pytest.mark.parametrize(
    ("spec", "step"),
    [
        ("{}", "name a Secret"),
        (f"{{{OLD}}}", "use Spark 4"),
        ("{networkPolicy: {enabled: false}}", "name a Secret"),
        ("{networkPolicy: {}}", ""),
        (f"{{{NAMED}}}", ""),
        (f"{{driver: {{env: [{VARIABLE}]}}}}", ""),
    ],
)
def test_a_server_for_everybody(spec: str, step: str) -> None:
    """Either a token or a network policy keeps others out; `lint` asks for the token."""
    found = [finding for rule, finding in findings_of(whole(SERVER + spec)) if rule.code == "SG303"]
    assert [finding.next_step.startswith(step) for finding in found] == ([True] if step else [])


def test_a_token_in_plain_text_has_a_field() -> None:
    """The value stands in no message."""
    found = findings_of(whole(f"{SERVER}{{sparkConf: {{{PROPERTY}: abc-def-123}}}}"))
    (finding,) = [finding for rule, finding in found if rule.code == "SG117"]
    assert "connect: {token:" in finding.next_step
    assert "abc-def" not in repr(finding)


def test_every_finding_is_about_what_the_document_has() -> None:
    """A Connect server is completed to an application: no finding is about what was added."""
    for _, finding in findings_of(whole(SERVER + "{}")):
        assert finding.path[1] not in ("type", "mainClass", "mainApplicationFile", "restartPolicy")


def test_an_application_may_name_that_port() -> None:
    """Connect as a plugin of an application is its own affair."""
    conf = "spec: {sparkConf: {spark.connect.grpc.binding.port: '443'}}"
    assert [rule.code for rule, _ in findings_of(whole(conf)) if rule.code == "SG199"] == []
