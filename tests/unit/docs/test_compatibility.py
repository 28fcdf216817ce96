"""The oldest versions stand in one table for users, and every check that refuses or warns agrees with it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gotools import kubernetes_module
from sparkgen import spark_versions
from sparkgen.preflight.judge import OLDEST
from sparkgen.schema import manifests
from tests import reading

ROOT = Path(__file__).resolve().parents[3]


def oldest(subject: str) -> tuple[int, int]:
    """The version that the table says of a subject first."""
    table = (ROOT / "docs" / "compatibility.md").read_text(encoding="utf-8")
    found = re.search(rf"^\| {subject} \| (\d+)\.(\d+) and ", table, flags=re.MULTILINE)
    assert found is not None
    return int(found[1]), int(found[2])


def test_the_oldest_kubernetes_is_one_version() -> None:
    """That of the checks before an apply, the chart, the schemas and the test cluster."""
    chart = reading.load((ROOT / "charts" / "spark-app" / "Chart.yaml").read_text(encoding="utf-8"))
    table = oldest("Kubernetes")
    assert table == OLDEST == kubernetes_module.OLDEST
    assert chart["kubeVersion"] == f">={table[0]}.{table[1]}.0-0"
    assert manifests.minors()[0] == f"{table[0]}.{table[1]}"


def row(subject: str) -> str:
    """What the table says of a subject."""
    table = (ROOT / "docs" / "compatibility.md").read_text(encoding="utf-8")
    (line,) = (line for line in table.splitlines() if line.startswith(f"| {subject} |"))
    return line


def test_what_is_said_of_spark_is_the_table_of_versions() -> None:
    """The oldest line, the two versions that the end-to-end tests run on, the Scala lines, and Java."""
    assert oldest("Spark") == spark_versions.OLDEST.line
    said = f"on Spark {spark_versions.OLDEST.version} and {spark_versions.NEWEST.version} on the test cluster"
    assert said in row("Spark")
    assert row("Scala").startswith(f"| Scala | {' and '.join(spark_versions.COMPILED)} |")
    java = row("Java, in Spark's image, for `sparkgen run --local`, and to build the jar")
    assert f" | {' or '.join(map(str, spark_versions.JAVA))} | " in java


@pytest.mark.parametrize("subject", ["Kubernetes", "Spark"])
def test_the_oldest_versions_were_run(subject: str) -> None:
    """The tables of what was tried have a row of each."""
    tried = (ROOT / "docs" / "test-cluster.md").read_text(encoding="utf-8")
    major, minor = oldest(subject)
    assert re.search(rf"^\| {subject} {major}\.{minor}\.\d+ \| .*passed", tried, flags=re.MULTILINE)
