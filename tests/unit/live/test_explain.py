"""Why a run is stuck: the ways to fail of cases.py, and when nothing is to be said."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sparkgen.codes import Code, Hindrance
from sparkgen.live.explain import explain
from sparkgen.live.reason import Reason
from sparkgen.runtime.allocator.report.log_form import LogEvent, LogLevel, LogLine
from tests.unit.live import cases
from tests.unit.live.cases import (
    CASES,
    NOW,
    Case,
    event,
    event_of,
    failed,
    hinders,
    install_ended,
    log_of,
    refuses,
    running,
    told,
)
from tests.unit.live.objects import Object, driver, ends, executor, job, runs

PAGE = Path(__file__).parents[3] / "docs" / "troubleshooting.md"
BEGIN, END = (
    "<!-- cases: made from tests/unit/live/cases.py by `make golden` -->\n",
    "<!-- end of cases -->\n",
)


PASSING_BY = (
    Hindrance(Code.CONTAINER_CREATING, "1 pending, ContainerCreating"),
    Hindrance(Code.MAX_PENDING_PODS, "maxPendingPods is 1"),
    Hindrance(Code.API_SERVER_SLOW, "the API server is slow: next call in 1.0 s"),
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
    for case in (
        Case("", "", "", "", running(*pods), hinders()),
        Case("", "", "", "", running(pods[0]), {"target": 2}),
        Case("", "", "", "", running(pods[0]), hinders(*PASSING_BY)),
        Case("", "", "", "", [job(), driver(job())], {}),
        Case("", "", "", "", [job(ended="Complete"), driver(job(), state=ends())], {}),
        Case("", "", "", "", [job(), driver(job(), state=ends(), phase="Running")], {}),
    ):
        assert explain(case.facts(), NOW) is None


def test_an_executor_lost_long_ago_is_no_news() -> None:
    """Nor one that nobody is to blame for."""
    memory = Hindrance(Code.OUT_OF_MEMORY, "executor 3 was killed")
    old = event_of("ExecutorLost", memory, last="2026-11-22T00:12:00Z")
    normal = event_of("ExecutorLost", Hindrance(Code.EVICTED, "executor 3 was evicted"), "Normal")
    for one in (old, normal):
        assert explain(Case("", "", "", "", running(), {"events": (one,), "target": 0}).facts(), NOW) is None


def test_events_tell_where_the_log_cannot_be_read() -> None:
    """Of the allocator; and pods, where neither can."""
    event = event_of("ExecutorsRefused", refuses(403, cases.QUOTA))
    reason = explain(Case("", "", "", "", running(), {"events": (event,), "target": 2}).facts(), NOW)
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


def explained(objects: Sequence[Object], more: Mapping[str, Any]) -> Reason:
    """What is made of objects and the facts beside them."""
    reason = explain(Case("", "", "", "", objects, more).facts(), NOW)
    assert reason is not None
    return reason


def test_a_hindrance_is_known_by_its_code_alone() -> None:
    """Whatever the sentence says, after what passes by itself; a later release's code is told in words."""
    gate = Hindrance(Code.MAX_UNSCHEDULABLE_PODS, "100 have no node")
    reason = explained(running(), hinders(*PASSING_BY, gate, refuses(403, cases.QUOTA)))
    assert (reason.code, reason.cause) == ("executors", "executors are not created (100 have no node)")
    lies = Hindrance(Code.NODE_AVOIDED, "cannot create: exceeded quota, Unschedulable, out of memory")
    assert explain(Case("", "", "", "", running(), hinders(lies)).facts(), NOW) is None
    later = explained(running(), hinders(Hindrance("OfTomorrow", "the moon is full: out of memory")))
    assert later.cause == "executors are not created (the moon is full: out of memory)"


def test_the_allocator_says_why_it_ended_the_application() -> None:
    """In its log, in an Event, or in what the driver logs: by the code, and in the same words."""
    failure = refuses(403, f'pods is forbidden: {cases.SERVICE_ACCOUNT} create resource "pods"')
    line = LogLine(LogEvent.FAILURE, "so", LogLevel.ERROR, {"hindrance": failure.facts})
    jar = f"26/11/22 01:02:40 ERROR SparkgenSchedulerBackend: sparkgen: [{failure.code}] {failure}\n"
    event = event_of("ApplicationFailed", failure)
    sources = ({"allocator_log": told(line)}, {"events": (event,)}, log_of(jar))
    reasons = {explained(failed(ends(1)), more) for more in sources}
    assert len(reasons) == 1
    assert reasons.pop().code == "rights"
    # A driver that came after it fails for a reason of its own.
    another = told(line) + told(LogLine(LogEvent.DRIVER, "the driver runs as pi-2"))
    more = {"allocator_log": another, **log_of(cases.PROGRAM)}
    assert explained(failed(ends(1)), more).code == "program"


OLD_LOG = "2026-11-22T01:10:00.000Z info    0 of 2 executors; refused, retrying in 8 s: exceeded quota: few\n"
OLD_JSON = '{"event": "decision", "level": "info", "message": "0 of 2 executors", "time": "2026-11-22"}\n'


@pytest.mark.parametrize("log", [OLD_LOG, OLD_JSON])
def test_an_older_image_leaves_unknown_what_it_gives_no_code_for(log: str) -> None:
    """That is said, with why and where to look; its sentences are not searched for words."""
    reason = explained(running(), {"allocator_log": log, "target": 2})
    assert reason.code == "unknown"
    assert reason.cause == (
        "cannot tell why executors are missing: the runtime image is older than this sparkgen, and "
        "the allocator's log has no codes"
    )
    assert reason.next_step == "read it: sparkgen logs pi -n analytics --allocator"
    reason = explained(running(), {"allocator_log": log})
    assert reason.cause.startswith("cannot tell how many executors are wanted and why executors are missing")
    pod = executor(driver(job()), 1, "Pending", conditions=[{"type": "PodScheduled", "status": "False"}])
    assert explained(running(pod), {"allocator_log": log}).code == "no-node", "pods speak for themselves"


def test_an_older_image_is_quoted_where_it_ended_something() -> None:
    """Its Events, its word to the driver and its termination message have no code: they are shown as is."""
    text = "no executor can start: exceeded quota: few"
    for more in ({"events": (event("ApplicationFailed", text),)}, log_of(f"Error: sparkgen: {text}\n")):
        reason = explained(failed(ends(1)), more)
        assert (reason.code, reason.cause) == ("stopped", text)
        assert reason.next_step
    gone = event("ExecutorLost", "executor 3 was killed: out of memory")
    assert explained(running(), {"events": (gone,), "target": 0}).code == "executor-lost"
    refused = explained(install_ended("this run expired at noon. To run it, render again"), {})
    assert refused.cause == (
        "install does not start the driver (this run expired at noon. To run it, render again)"
    )


def test_an_earlier_run_that_still_runs_is_called_so() -> None:
    """With the name of the latest."""
    facts = Case("", "", "", "", [job(), driver(job(), state=runs())], {"target": 0}).facts()
    reason = explain(replace(facts, next_run="pi-2b3c4d5e"), NOW)
    assert reason is not None
    assert reason.text == "an earlier run that still runs beside pi-2b3c4d5e"


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
    """As a cell of the page, whose end may be missing: the rest of a long message says nothing more."""
    return textwrap.shorten(text, 140, placeholder=" ...").replace("|", "\\|").replace("<", "&lt;")
