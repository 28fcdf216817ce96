"""SG259: a Connect server that asks nobody for a token, wherever a document may say one."""

from __future__ import annotations

import pytest

from sparkgen.lint.rules_hardening import open_connect_server
from sparkgen.lint.settings import Settings
from sparkgen.lint.subject import Subject
from tests.unit.semantics.documents import whole

PROPERTY = "spark.connect.authenticate.token"
VARIABLE = "{name: SPARK_CONNECT_AUTHENTICATE_TOKEN, valueFrom: {secretKeyRef: {name: a, key: token}}}"


@pytest.mark.parametrize(
    ("spec", "steps"),
    [
        ("", ["set a Secret"]),
        ("sparkVersion: 3.5.8", ["use Spark 4"]),
        ("connect: {token: {name: a, key: token}}", []),
        (f"sparkConf: {{{PROPERTY}: '${{env:TOKEN}}'}}", []),
        (f"sparkConf: {{{PROPERTY}: ''}}", ["set a Secret"]),
        (f"driver: {{env: [{VARIABLE}]}}", []),
        (f"executor: {{env: [{VARIABLE}]}}", ["set a Secret"]),
    ],
)
def test_an_open_server(spec: str, steps: list[str]) -> None:
    """Spark takes a token from its property or its variable as well."""
    value = whole(f"kind: SparkConnectServer\nspec: {{{spec}}}")
    found = list(open_connect_server.check(Subject.of(value, Settings())))
    assert [finding.next_step.split(":")[0].split(",")[0] for finding in found] == steps
