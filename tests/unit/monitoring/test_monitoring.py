"""Alert rules and dashboard: every metric and every label's value in them is one that the allocator says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sparkgen.runtime.allocator.report import status
from sparkgen.runtime.allocator.values.observed import Cause, ExecutorState
from sparkgen.runtime.kubernetes.answers import Answer

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "monitoring"
METRICS = set(re.findall(r'"(sparkgen_[a-z_]+)"', Path(status.__file__).read_text(encoding="utf-8")))
# What Spark serves below /metrics/executors/prometheus (org.apache.spark.status.api.v1.PrometheusResource):
# 3.5.8 and 4.3.0 were asked.
SPARK = {
    "metrics_executor_activeTasks",
    "metrics_executor_completedTasks_total",
    "metrics_executor_failedTasks_total",
    "metrics_executor_maxTasks",
    "metrics_executor_totalDuration_seconds_total",
    "metrics_executor_totalGCTime_seconds_total",
    "metrics_executor_totalInputBytes_bytes_total",
    "metrics_executor_totalShuffleRead_bytes_total",
    "metrics_executor_totalShuffleWrite_bytes_total",
}
VALUES = {
    "answer": {answer.value for answer in Answer},
    "cause": {cause.value for cause in Cause},
    "state": {state.value for state in ExecutorState},
}
"""Label -> the values that the allocator gives it."""


def rules() -> list[dict[str, Any]]:
    """All alert rules."""
    groups = yaml.safe_load((FOLDER / "alerts.yaml").read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    """The dashboard's panels that show something."""
    dashboard = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def queries() -> Iterator[str]:
    """Every query of both, and of the dashboard's variables."""
    yield from (rule["expr"] for rule in rules())
    yield from (target["expr"] for panel in panels() for target in panel["targets"])
    dashboard = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))
    yield from (str(item["query"]) for item in dashboard["templating"]["list"])


def test_the_allocator_has_metrics() -> None:
    """The test itself finds them: an empty list would hold nothing."""
    assert len(METRICS) >= 10


def test_every_metric_exists() -> None:
    """A renamed metric would make an alert silent forever."""
    named = {name for query in queries() for name in re.findall(r"\b(?:sparkgen|metrics)_\w+", query)}
    assert named <= METRICS | SPARK
    assert named & METRICS
    assert named >= SPARK


@pytest.mark.parametrize("label", VALUES)
def test_every_value_of_a_label_exists(label: str) -> None:
    """So would a cause that is called otherwise."""
    found = [value for query in queries() for value in re.findall(rf'\b{label}=~?"([^"$]*)"', query)]
    assert found
    assert {part for value in found for part in value.split("|")} <= VALUES[label]


def test_every_alert_says_what_is_wrong_and_what_to_do() -> None:
    """In the form that all have: a name, a severity, a summary with the pod, a description."""
    for rule in rules():
        assert re.fullmatch(r"Sparkgen[A-Z]\w+", rule["alert"])
        assert rule["labels"]["severity"] in ("critical", "warning")
        assert "{{ $labels.pod }}" in rule["annotations"]["summary"]
        assert rule["annotations"]["description"]
    names = [rule["alert"] for rule in rules()]
    assert len(set(names)) == len(names)


def test_every_alert_is_in_the_page_for_operators() -> None:
    """Who is called at night finds the name there."""
    page = (ROOT / "docs" / "operate.md").read_text(encoding="utf-8")
    assert [rule["alert"] for rule in rules() if f"`{rule['alert']}`" not in page] == []


def test_every_metric_and_value_is_in_the_page_for_operators() -> None:
    """Who writes a query of their own finds what there is."""
    page = (ROOT / "docs" / "operate.md").read_text(encoding="utf-8")
    values = METRICS.union(*VALUES.values())
    assert [value for value in sorted(values) if f"`{value}`" not in page] == []


def test_panels_do_not_overlap() -> None:
    """Grafana would move them."""
    taken: set[tuple[int, int]] = set()
    for panel in panels():
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells


def test_the_pod_monitor_names_ports_and_labels_that_are_rendered() -> None:
    """It would find nothing otherwise."""
    from sparkgen import model, resources  # noqa: PLC0415
    from tests.unit.semantics.documents import application  # noqa: PLC0415

    spec = yaml.safe_load((FOLDER / "pod-monitor.yaml").read_text(encoding="utf-8"))["spec"]
    objects = resources.render(model.build(application({})))
    (template,) = (item["spec"]["template"] for item in objects if item["kind"] == "Job")
    assert spec["selector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    pod = template["spec"]
    containers = [*pod["initContainers"], *pod["containers"]]
    ports = {port["name"] for container in containers for port in container.get("ports", ())}
    assert {endpoint["port"] for endpoint in spec["podMetricsEndpoints"]} <= ports
