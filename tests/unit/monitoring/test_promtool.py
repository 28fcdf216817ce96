"""What Prometheus itself says of alert rules, their tests, the dashboard and the allocator's numbers."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from gotools import gotools
from sparkgen.runtime.allocator.report import status
from tests.unit.monitoring.test_monitoring import FOLDER, panels, rules

VARIABLE = re.compile(r"label_values\((.*), \w+\)")
"""What Grafana wraps around the selector of a variable's query."""


@pytest.fixture(scope="module")
def promtool() -> Path:
    """The path of promtool where it is built: that takes minutes, and `make test` does not."""
    found = gotools.built("promtool")
    if found is None:
        pytest.skip("promtool is not built: .venv/bin/python tools/gotools/gotools.py build promtool (3 min)")
    return found


def said(promtool: Path, *arguments: str | Path, text: str = "") -> str:
    """What promtool prints; the test fails with it if promtool finds anything."""
    done = subprocess.run([promtool, *arguments], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def queries() -> dict[str, str]:
    """Every query of the dashboard, its variables' among them, by a name for it."""
    dashboard = json.loads((FOLDER / "dashboard.json").read_text(encoding="utf-8"))
    found = {
        f"panel_{panel['id']}_{index}": target["expr"]
        for panel in panels()
        for index, target in enumerate(panel["targets"])
    }
    for item in dashboard["templating"]["list"]:
        if item["type"] == "query":
            wrapped = VARIABLE.fullmatch(item["query"])
            assert wrapped, item["query"]
            found[f"variable_{item['name']}"] = wrapped[1]
    return found


def test_the_alert_rules_are_rules(promtool: Path) -> None:
    """With every complaint that promtool knows."""
    shown = said(promtool, "check", "rules", "--lint=all", "--lint-fatal", FOLDER / "alerts.yaml")
    assert f"{len(rules())} rules found" in shown


def test_each_alert_fires_when_it_should_and_only_then(promtool: Path) -> None:
    """monitoring/alerts-test.yaml plays series to them; it is for people who change a threshold, too."""
    said(promtool, "test", "rules", FOLDER / "alerts-test.yaml")


def test_every_alert_is_played_both_ways() -> None:
    """An alert without a series for which it fires, or without one for which it does not, is not tested."""
    played = yaml.safe_load((FOLDER / "alerts-test.yaml").read_text(encoding="utf-8"))["tests"]
    ways = {
        (case["alertname"], bool(case["exp_alerts"])) for test in played for case in test["alert_rule_test"]
    }
    assert ways == {(rule["alert"], fires) for rule in rules() for fires in (True, False)}


def test_every_query_of_the_dashboard_is_promql(promtool: Path, tmp_path: Path) -> None:
    """A panel with a typing error is empty, and says so only to who opens it. Recording rules parse alike."""
    records = [{"record": name, "expr": text} for name, text in queries().items()]
    file = tmp_path / "queries.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": records}]}))
    assert len(records) > 15
    assert f"{len(records)} rules found" in said(promtool, "check", "rules", "--lint=none", file)


def test_the_allocators_numbers_are_as_prometheus_wants_them(promtool: Path) -> None:
    """Names, types, help and units; promtool says what a reader of metrics would stumble over."""
    from tests.unit.runtime.allocator.test_log_lines import (  # noqa: PLC0415 - the round that those tests use
        QUIET,
        made,
    )

    facts = status.StatusFacts({"run": "pi-1"}, 105.0, made(QUIET), {}, {"oom": 2}, 1, 9)
    assert said(promtool, "check", "metrics", text=status.metrics_text(facts)) == ""
