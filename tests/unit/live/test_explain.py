"""Why a run does not get on: the ways to fail of cases.py, and when nothing is to be said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sparkgen.live.explain import explain
from tests.unit.live import cases
from tests.unit.live.cases import CASES, NOW, Case, event, running
from tests.unit.live.objects import driver, ends, executor, job, runs

PAGE = Path(__file__).parents[3] / "docs" / "troubleshooting.md"
BEGIN, END = (
    "<!-- cases: made from tests/unit/live/cases.py by `make golden` -->\n",
    "<!-- end of cases -->\n",
)


@pytest.mark.parametrize("name", CASES)
def test_each_way_to_fail_has_its_cause_and_next_step(name: str) -> None:
    """With words of the cluster's own in the first, and a field or command in the second."""
    case = CASES[name]
    reason = case.reason()
    assert reason.code == case.code
    assert case.cause in reason.cause
    assert case.step in reason.next_step
    assert "\n" not in reason.text
    assert len(reason.text) < 700


def test_what_gets_on_needs_no_words() -> None:
    """All executors there; some still on their way; a run that went well."""
    pods = [executor(driver(job()), id_) for id_ in (1, 2)]
    settled = "2026-11-22T01:10:00.000Z info    2 of 2 executors (2 registered)\n"
    for case in (
        Case("", "", "", "", running(*pods), {"target": 2, "allocator_log": settled}),
        Case("", "", "", "", running(pods[0]), {"target": 2}),
        Case("", "", "", "", [job(), driver(job())], {}),
        Case("", "", "", "", [job(ended="Complete"), driver(job(), state=ends())], {}),
        Case("", "", "", "", [job(), driver(job(), state=ends(), phase="Running")], {}),
    ):
        assert explain(case.facts(), NOW) is None


def test_an_executor_lost_long_ago_is_no_news() -> None:
    """Nor one that nobody is to blame for."""
    old = event("ExecutorLost", "executor 3 was killed: out of memory", last="2026-11-22T00:12:00Z")
    normal = event("ExecutorLost", "executor 3 was evicted", "Normal")
    for one in (old, normal):
        assert explain(Case("", "", "", "", running(), {"events": (one,), "target": 0}).facts(), NOW) is None


def test_events_tell_where_the_log_cannot_be_read() -> None:
    """Of the allocator; and pods, where neither can."""
    told = event("ExecutorsRefused", f"cannot create an executor: it is forbidden: {cases.QUOTA}")
    reason = explain(Case("", "", "", "", running(), {"events": (told,), "target": 2}).facts(), NOW)
    assert reason is not None
    assert reason.code == "quota"
    pod = executor(
        driver(job()),
        1,
        "Pending",
        conditions=[
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/2 nodes"}
        ],
    )
    reason = explain(Case("", "", "", "", running(pod), {}).facts(), NOW)
    assert reason is not None
    assert reason.code == "no-node"


def test_an_earlier_run_that_still_runs_is_called_so() -> None:
    """With the name of the latest."""
    facts = Case("", "", "", "", [job(), driver(job(), state=runs())], {"target": 0}).facts()
    reason = explain(replace(facts, next_run="pi-2b3c4d5e"), NOW)
    assert reason is not None
    assert reason.text == "an earlier run, beside pi-2b3c4d5e"


def test_the_page_has_each_case_in_the_words_of_status(golden: Callable[[Path, str], None]) -> None:
    """The table of docs/troubleshooting.md is made from the cases."""
    text = PAGE.read_text()
    head, _, rest = text.partition(BEGIN)
    tail = rest.partition(END)[2]
    rows = [
        f"| {case.what} | {_cell(case.reason().cause)} | {_cell(case.reason().next_step)} |"
        for case in CASES.values()
        if case.table
    ]
    table = ["| what has happened | `sparkgen status` says | and what to do |", "|---|---|---|", *rows]
    golden(PAGE, f"{head}{BEGIN}\n" + "\n".join(table) + f"\n\n{END}{tail}")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
