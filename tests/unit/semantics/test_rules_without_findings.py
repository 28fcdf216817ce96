"""What the rules must let pass: the cases of allowed.yaml look suspicious and are right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.unit.semantics.documents import application, codes, scheduled

CASES = yaml.safe_load(Path(__file__).with_name("allowed.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['rule']}: {case['why']}")
def test_what_is_right_is_left_alone(case: dict[str, Any]) -> None:
    """The rule that is named stays silent; another may have its own opinion."""
    assert case["rule"] not in codes(application(case["spec"]))


@pytest.mark.parametrize(
    ("rule", "schedule"),
    [("SG180", "0 3 * * mon-fri"), ("SG180", "@weekly"), ("SG181", "0 0 31 * *"), ("SG188", "0 3 * * *")],
)
def test_schedules_that_are_right_are_left_alone(rule: str, schedule: str) -> None:
    """A CronJob makes its Jobs itself: a time to live (SG188) does no harm there."""
    value = scheduled({"schedule": schedule, "template": {"timeToLiveSeconds": 9}})
    assert rule not in codes(value)


def test_a_document_without_anything_special_has_no_findings() -> None:
    """The document that a beginner writes."""
    spec = {"driver": {"memory": "1g"}, "executor": {"instances": 2, "cores": 2, "memory": "4g"}}
    assert codes(application(spec)) == set()
