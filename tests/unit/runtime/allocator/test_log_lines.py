"""What is told of a round: log lines, notices, status and metrics."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sparkgen.codes import Code, Hindrance
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.report import log_lines, status
from sparkgen.runtime.allocator.report.event_recorder import EventRecorder
from sparkgen.runtime.allocator.report.log import Log
from sparkgen.runtime.allocator.report.log_form import LogEvent, LogLevel, LogLine
from sparkgen.runtime.allocator.report.notices import notices
from sparkgen.runtime.allocator.report.status import StatusFacts
from sparkgen.runtime.allocator.values.actions import ActionOutcome, Create, Delete
from sparkgen.runtime.allocator.values.backend import Notice
from sparkgen.runtime.allocator.values.decision import AllocationDecision
from sparkgen.runtime.allocator.values.memory import AllocatorMemory, Backoff
from sparkgen.runtime.allocator.values.observed import (
    Cause,
    ExecutorState,
    ListFailure,
    Loss,
    ObservedExecutor,
    PodPhase,
    Snapshot,
    Waiting,
)
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget
from sparkgen.runtime.kubernetes.answers import Answer

RUNNING = DriverTarget(
    phase=DriverPhase.RUNNING, session="s", revision=1, application_id="pi-1", dynamic=True, executors={0: 2}
)
QUOTA = Hindrance(Code.QUOTA_EXCEEDED, "quota")
NO_IMAGE = Hindrance(Code.IMAGE_PULL_BACK_OFF, "no image")
QUIET = AllocationDecision(AllocatorMemory(), "2 of 2 executors", counts={0: {ExecutorState.REGISTERED: 2}})


def made(decision: AllocationDecision = QUIET, target: DriverTarget = RUNNING, **more: Any) -> Round:
    """A round at time 100."""
    return Round(
        100.0, more.pop("snapshot", Snapshot()), target, AllocationSettings(dynamic=True, **more), decision
    )


def texts(before: Round | None, now: Round, *outcomes: ActionOutcome) -> list[str]:
    """The log's lines."""
    return [line.text for line in log_lines.lines(before, now, outcomes)]


def test_a_round_that_changes_nothing_is_not_told() -> None:
    """Nor are executors that come along."""
    moving = replace(QUIET, counts={0: {ExecutorState.PENDING: 1, ExecutorState.RUNNING: 1}})
    more = replace(QUIET, counts={0: {ExecutorState.RUNNING: 2}})
    assert texts(made(), made()) == []
    assert texts(made(moving), made(more)) == []


def test_the_driver_comes_wants_and_goes() -> None:
    """Each is a line of its own, once."""
    silent = made(target=DriverTarget())
    assert texts(silent, made())[:2] == ["the driver runs as pi-1", "the driver's target: 2 wanted"]
    two = replace(RUNNING, executors={0: 1, 1: 2})
    assert texts(made(), made(target=two)) == [
        "the driver's target: 3 wanted (1 of profile 0, 2 of profile 1)"
    ]
    stopped = replace(RUNNING, phase=DriverPhase.STOPPED)
    assert texts(made(), made(target=stopped)) == ["the driver has stopped: executors are no longer needed"]
    assert texts(made(target=stopped), made(target=stopped)) == []


def test_actions_are_told_with_the_reason() -> None:
    """The decision's own words, and the ids for machines."""
    decision = replace(QUIET, reason="creating 3; removing 1", actions=(Create(3, 0), Delete(1)))
    (line,) = log_lines.lines(made(), made(decision), ())
    assert (line.text, line.facts["create"], line.facts["delete"]) == ("creating 3; removing 1", [3], [1])


def test_what_is_wanted_is_there() -> None:
    """The end of a change is told, once."""
    moving = replace(QUIET, counts={0: {ExecutorState.PENDING: 1}})
    assert texts(made(moving), made()) == ["2 of 2 executors"]


def test_losses_are_told_once_and_killed_ones_not() -> None:
    """What Spark asked for is no news."""
    losses = {1: Loss(Cause.OOM, "out of memory", True, 137), 2: Loss(Cause.KILLED, "was removed")}
    decision = replace(QUIET, memory=AllocatorMemory(losses=losses))
    (line,) = log_lines.lines(made(), made(decision), ())
    assert (line.text, line.level) == ("executor 1 is gone (oom): out of memory", LogLevel.WARNING)
    assert texts(made(decision), made(decision)) == []


def test_the_same_hindrance_is_told_once() -> None:
    """Its count-down in the reason is no news; that it got worse is."""
    first = replace(QUIET, memory=AllocatorMemory(refusals=Backoff(1, 110.0, QUOTA)), reason="in 10 s: quota")
    later = replace(first, reason="in 9 s: quota")
    worse = replace(QUIET, memory=AllocatorMemory(refusals=Backoff(2, 130.0, QUOTA)), reason="in 30 s: quota")
    assert texts(made(), made(first)) == ["in 10 s: quota"]
    assert texts(made(first), made(later)) == []
    assert texts(made(later), made(worse)) == ["in 30 s: quota"]


def test_answers_of_one_kind_are_one_line() -> None:
    """A thousand refusals are not a thousand lines."""
    refused = [ActionOutcome(Create(id_, 0), Answer.REFUSED, QUOTA) for id_ in range(1, 8)]
    fine = ActionOutcome(Delete(9), Answer.DONE)
    expected = ["creating executor 1, 2, 3, 4, 5 and 2 more: refused: quota"]
    assert texts(made(), made(), *refused, fine) == expected


def test_a_failure_is_an_error_and_a_notice() -> None:
    """Told once in the log."""
    failed = replace(QUIET, failure=NO_IMAGE)
    lines = log_lines.lines(made(), made(failed), ())
    assert lines[0].facts == {"hindrance": NO_IMAGE.facts}
    assert (lines[0].text, lines[0].level) == ("stopping the application: no image", LogLevel.ERROR)
    assert notices(made(), made(failed)) == [Notice("ApplicationFailed", NO_IMAGE, warning=True)]
    assert texts(made(failed), made(failed)) == []


def test_what_a_user_must_know() -> None:
    """Refusals, bad starts, losses that nobody asked for, and pods that are pending for long."""
    waiting = Waiting("Unschedulable", "0/2 nodes are available")
    stuck = ObservedExecutor(3, 0, "e-3", "u", PodPhase.PENDING, since=60.0, waiting=waiting)
    loss, no_right = Loss(Cause.EXITED, "exit code 1", True, 1), Hindrance(Code.FORBIDDEN, "no right")
    memory = AllocatorMemory(
        refusals=Backoff(1, 0.0, QUOTA),
        bad_starts=Backoff(1, 0.0, loss.hindrance),
        losses={1: Loss(Cause.EVICTED, "evicted"), 2: Loss(Cause.KILLED, "killed")},
    )
    now = made(
        replace(QUIET, memory=memory),
        snapshot=Snapshot(executors={3: stuck}, list_failure=ListFailure(no_right, 1)),
    )
    pending = waiting.hindering("executors have been pending for more than 30 s: ")
    assert notices(made(), now) == [
        Notice("ExecutorsNotShown", no_right, warning=True),
        Notice("ExecutorsRefused", QUOTA, warning=True),
        Notice("ExecutorsFailToStart", loss.hindrance, warning=True),
        Notice("ExecutorLost", Hindrance(Code.EVICTED, "evicted")),
        Notice("ExecutorsPending", pending),
    ]


def test_a_closed_gate_is_told_once_and_by_its_field() -> None:
    """In the log, in the Event about pods that wait, and in the status."""
    waiting = Waiting("Unschedulable", "0/2 nodes are available")
    stuck = ObservedExecutor(3, 0, "e-3", "u", PodPhase.PENDING, since=60.0, waiting=waiting)
    held = replace(QUIET, reason="1 of 2 executors; 1 has no node", held=("maxUnschedulablePods",))
    before = made(snapshot=Snapshot(executors={3: stuck}), max_unschedulable=1)
    now = made(held, snapshot=Snapshot(executors={3: stuck}), max_unschedulable=1)
    assert texts(before, now) == [held.reason]
    assert texts(now, now) == []
    (notice,) = notices(before, now)
    assert "no more are created (spec.allocation.maxUnschedulablePods is 1)" in notice.hindrance.message
    assert (notice.hindrance.code, notice.hindrance.detail) == (Code.UNSCHEDULABLE, waiting.message)
    body = status.status_body(StatusFacts({"run": "pi-1"}, 105.0, now, {}, {}, 0, 0))
    assert body["heldBy"] == ["maxUnschedulablePods"]


def test_the_log_in_text_and_json() -> None:
    """One line each, whatever is in the text; warnings are kept for the status, in words alone."""
    line = LogLine(LogEvent.GAP, "two\nlines", LogLevel.WARNING, {"executors": [1]})
    for as_json in (False, True):
        stream = io.StringIO()
        log = Log(stream, lambda: datetime(2026, 1, 2, tzinfo=UTC), as_json)
        log.write(line)
        log.say(LogEvent.START, "hello")
        first, second = stream.getvalue().splitlines()
        if as_json:
            assert json.loads(first)["message"] == "two\nlines"
            assert json.loads(first)["executors"] == [1]
            assert json.loads(second)["event"] == "start"
        else:
            facts = '{"codes":1,"event":"gap","executors":[1]}'
            assert first == f"2026-01-02T00:00:00.000Z warning two lines\t{facts}"
            assert second == '2026-01-02T00:00:00.000Z info    hello\t{"codes":1,"event":"start"}'
        assert list(log.troubles) == ["2026-01-02T00:00:00.000Z warning two lines"]
        assert len(log.recent) == 2


def test_a_decision_has_what_is_wanted_and_what_hinders() -> None:
    """For programs: numbers by resource profile, and each hindrance by its code."""
    told = replace(QUIET, actions=(Create(3, 0),), hindrances=(QUOTA, NO_IMAGE))
    (line,) = log_lines.lines(made(), made(told), ())
    assert line.event is LogEvent.DECISION
    assert line.facts == {
        "wanted": {"0": 2},
        "create": [3],
        "delete": [],
        "counts": {"0": {"registered": 2}},
        "hindrances": [
            {"code": "QuotaExceeded", "message": "quota"},
            {"code": "ImagePullBackOff", "message": "no image"},
        ],
    }


def test_notices_are_not_repeated() -> None:
    """The same one after ten minutes again, others of its kind after ten seconds, other kinds at once."""
    now = [0.0]
    recorder = EventRecorder(lambda _: True, lambda: now[0])
    lost, other = Notice("Lost", Hindrance(Code.KILLED, "1")), Notice("Lost", Hindrance(Code.KILLED, "2"))
    assert recorder.notice(lost)
    assert not recorder.notice(lost)
    assert not recorder.notice(other)
    assert recorder.notice(Notice("Refused", Hindrance(Code.KILLED, "quota")))
    now[0] = 11.0
    assert recorder.notice(other)
    assert not recorder.notice(lost)
    now[0] = 601.0
    assert recorder.notice(lost)


def test_a_notice_that_could_not_be_sent_is_sent_again() -> None:
    """Within a minute, while the API server is away; once it was taken, no more; never forever."""
    now, sent, away = [0.0], list[tuple[float, str]](), [True]

    def send(notice: Notice) -> bool:
        sent.append((now[0], notice.hindrance.message))
        return not away[0]

    recorder = EventRecorder(send, lambda: now[0])
    assert recorder.notice(Notice("Lost", Hindrance(Code.KILLED, "1")))
    recorder.step()
    now[0] = 20.0
    assert recorder.notice(Notice("Lost", Hindrance(Code.KILLED, "2")))
    recorder.step()  # what is new does not wait for what failed
    now[0], away[0] = 31.0, False
    recorder.step()
    now[0] = 51.0
    recorder.step()
    assert sent == [(0.0, "1"), (20.0, "2"), (31.0, "1"), (51.0, "2")]

    away[0] = True
    assert recorder.notice(Notice("Refused", Hindrance(Code.KILLED, "quota")))
    for _ in range(20):
        recorder.step()
        now[0] += 30.0
        if not recorder.waits:
            break
    assert not recorder.waits
    assert now[0] <= 51.0 + 600.0


def test_status_and_metrics_before_the_first_round() -> None:
    """Somebody may ask early."""
    facts = StatusFacts({"run": "pi-1"}, 5.0, None, {}, {}, 0, 0)
    assert status.status_body(facts)["run"] == "pi-1"
    text = status.metrics_text(facts)
    assert "sparkgen_rounds_total 0\n" in text
    # Prometheus sees no increase in a counter that begins with its first event.
    assert 'sparkgen_executors_lost_total{cause="oom"} 0\n' in text
    assert 'sparkgen_answers_total{action="delete",answer="refused"} 0\n' in text


def test_status_has_every_set_and_no_surprise() -> None:
    """It can be written as JSON, and names sets, pods, pauses and the last lines."""
    pod = ObservedExecutor(1, 0, "e-1", "u", PodPhase.RUNNING, since=90.0, node="n1")
    memory = AllocatorMemory(next_id=2, refusals=Backoff(2, 130.0, QUOTA))
    now = made(replace(QUIET, memory=memory), snapshot=Snapshot(True, {1: pod}, 1.0), maximum=7)
    facts = StatusFacts({"run": "pi-1"}, 105.0, now, {("create", "done"): 1}, {"oom": 2}, 1, 9, ("line",), ())
    body = json.loads(json.dumps(status.status_body(facts)))
    assert body["executors"] == {"running": [1]}
    assert body["wanted"] == {"0": 2}
    assert body["refused"] == {"rounds": 2, "secondsLeft": 30.0, "hindrance": QUOTA.facts}
    assert body["pods"][0]["seconds"] == 10.0
    assert body["secondsSinceDecision"] == 5.0
    assert body["settings"]["maximum"] == 7
    text = status.metrics_text(facts)
    assert 'sparkgen_executors_lost_total{cause="oom"} 2\n' in text
    assert 'sparkgen_executors{profile="0",state="registered"} 2\n' in text
    assert "sparkgen_backoff_seconds 30\n" in text


def test_pods_that_are_pending_for_long_are_told_in_the_log_once() -> None:
    """With the reason that Kubernetes gives; not again while it stays the same."""
    waiting = Waiting("Unschedulable", "0/2 nodes are available")
    stuck = ObservedExecutor(1, 0, "e1", "u1", PodPhase.PENDING, since=60.0, waiting=waiting)
    fresh = replace(stuck, since=95.0)
    text = "1 of 1 executors (1 pending); 1 pending, Unschedulable: 0/2 nodes are available"
    decision = replace(QUIET, reason=text, counts={0: {ExecutorState.PENDING: 1}})
    before = made(decision, snapshot=Snapshot(executors={1: fresh}))
    now = made(decision, snapshot=Snapshot(executors={1: stuck}))
    assert texts(before, now) == [text]
    assert texts(now, now) == []


def test_a_hold_is_told_when_it_begins_and_when_it_ends() -> None:
    """In the log, also if nothing is created or removed, and as Events."""
    held, free = made(hold=True), made()
    assert texts(free, held) == ["the driver's target: 0 wanted", "2 of 2 executors"]
    assert texts(held, held) == []
    assert "2 of 2 executors" in texts(held, free)
    assert [notice.reason for notice in notices(free, held)] == ["Held"]
    assert [notice.reason for notice in notices(held, free)] == ["Resumed"]
    assert "held, so none for now" in log_lines.settings(held.settings)
