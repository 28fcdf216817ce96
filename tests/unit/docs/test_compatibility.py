"""The oldest versions stand in one table for users, and every check that refuses or warns agrees with it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import kubernetes_module
from sparkgen.preflight.judge import OLDEST
from sparkgen.schema import manifests
from sparkgen.semantics import rules_versions
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


def test_the_oldest_spark_is_one_version() -> None:
    """What is older gets a warning."""
    assert oldest("Spark") == rules_versions.LOWEST_TESTED


@pytest.mark.parametrize("subject", ["Kubernetes", "Spark"])
def test_the_oldest_versions_were_run(subject: str) -> None:
    """The tables of what was tried have a row of each."""
    tried = (ROOT / "docs" / "test-cluster.md").read_text(encoding="utf-8")
    major, minor = oldest(subject)
    assert re.search(rf"^\| {subject} {major}\.{minor}\.\d+ \| .*passed", tried, flags=re.MULTILINE)
