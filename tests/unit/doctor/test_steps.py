"""What the lines of the doctor's application come to."""

from __future__ import annotations

import pytest

from sparkgen.doctor.steps import STEPS, Seen, deletions, policy_result, results, row_of
from sparkgen.doctor.values import Verdict

LOG = """\
26/11/27 WARN something
sparkgen-doctor {"step": "dns", "ok": true, "found": "fine"}
sparkgen-doctor {"step": "moved", "delete": "4"}
sparkgen-doctor {"step": "replaced", "delete": "3", "grace": 0}
sparkgen-doctor {"step": "moved", "ok": fal"""
STEP = {step.name: step for step in STEPS}


def test_lines_are_read_as_far_as_they_are_written() -> None:
    """A log is read while its program writes."""
    assert results(LOG) == {"dns": {"step": "dns", "ok": True, "found": "fine"}}
    assert {step: line.get("grace") for step, line in deletions(LOG).items()} == {
        "moved": None,
        "replaced": 0,
    }


def test_a_row_is_unknown_until_the_application_has_ended() -> None:
    """Then the reason is told."""
    step = STEP["pi"]
    assert row_of(step, Seen()) is None
    row = row_of(step, Seen(ended="not known within 3m", reason="the quota is full"))
    assert row is not None
    assert (row.verdict, row.found) == (Verdict.FAILS, "not known within 3m: the quota is full")


@pytest.mark.parametrize(
    ("name", "ok", "verdict"),
    [
        ("pi", True, Verdict.WORKS),
        ("pi", False, Verdict.FAILS),
        ("moved", False, Verdict.WARNS),
        ("moved", None, Verdict.UNKNOWN),
    ],
)
def test_results(name: str, ok: bool | None, verdict: Verdict) -> None:
    """Applications run without some of them: those warn."""
    row = row_of(STEP[name], Seen({name: {"ok": ok, "found": "so"}}))
    assert row is not None
    assert (row.verdict, row.found) == (verdict, "so")
    assert bool(row.meaning) == (verdict in (Verdict.FAILS, Verdict.WARNS))


def test_what_only_warns_is_unknown_if_it_was_not_seen() -> None:
    """It is nobody's fault that the application ended before."""
    row = row_of(STEP["network-policy"], Seen(ended="the application has ended (Failed)"))
    assert row is not None
    assert row.verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("line", "ok"),
    [
        ('{"api": true, "driver": false}', True),
        ('{"api": true, "driver": true}', False),
        ('{"api": false, "driver": false}', None),
    ],
)
def test_the_network_policy(line: str, ok: bool | None) -> None:
    """A pod that reaches nothing says nothing about policies."""
    found = policy_result(f"sparkgen-doctor {line}\n")
    assert found is not None
    assert found["ok"] is ok


def test_a_stranger_without_a_word() -> None:
    """Its pod failed."""
    assert policy_result("bash: python3: not found\n") is None
