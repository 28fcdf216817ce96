"""What is read of the allocator's log: the facts of its last lines, whatever its sentences say."""

from __future__ import annotations

import pytest

from sparkgen.codes import Code, Hindrance
from sparkgen.live.allocatorlog import failure, has_no_codes, hindrances, loss, sentence, wanted
from sparkgen.runtime.allocator.report.log_form import LogEvent, LogLevel, LogLine
from tests.unit.live.cases import hinders, refuses, told

GATE = Hindrance(Code.MAX_UNSCHEDULABLE_PODS, "100 have no node")
BUSY = refuses(429, "slow down")


@pytest.mark.parametrize("as_json", [False, True])
def test_the_last_line_that_says_it_counts(as_json: bool) -> None:
    """How many are wanted, what hinders, why the application had to stop, how an executor ended."""

    def say(event: LogEvent, **facts: object) -> str:
        return told(LogLine(event, "words", facts=facts), as_json=as_json)

    log = say(LogEvent.TARGET, wanted={"0": 1, "1": 2})
    assert (wanted(log), hindrances(log)) == (3, ())
    log += say(LogEvent.DECISION, wanted={"0": 4}, hindrances=[GATE.facts, BUSY.facts])
    assert (wanted(log), hindrances(log)) == (4, (GATE, BUSY))
    log += say(LogEvent.ANSWER, hindrance=BUSY.facts)
    assert hindrances(log) == (BUSY,)
    log += say(LogEvent.LOSS, executor=3)
    assert (loss(log, 3), loss(log, 4)) == ("words", "")
    log += say(LogEvent.FAILURE, hindrance=GATE.facts)
    assert (failure(log), hindrances(log)) == (GATE, (GATE,))
    log += say(LogEvent.DRIVER)
    assert (failure(log), wanted(log)) == (None, 4)


def test_a_log_without_codes_is_known() -> None:
    """One of an older release; not an empty one, nor one in which an error alone stands."""
    old = "2026-11-22T01:10:00.000Z info    0 of 2 executors\n"
    assert has_no_codes(old)
    assert has_no_codes('{"event": "start", "message": "so"}\n')
    assert not has_no_codes("")
    assert not has_no_codes("error: cannot listen on 127.0.0.1:7090\n")
    assert not has_no_codes(str(hinders()["allocator_log"]))
    assert (wanted(old), hindrances(old)) == (None, ())


def test_a_sentence_is_a_line_without_its_facts() -> None:
    """Of the text form; another line is as it was."""
    line = told(LogLine(LogEvent.GAP, "words\twith a tab", facts={"a": "b\tc"}))
    assert sentence(line) == "2026-11-22T01:10:00.000Z info    words with a tab\n"
    for other in (told(LogLine(LogEvent.GAP, "words"), as_json=True), "a\tline\n", "{}\t{}\n"):
        assert sentence(other) == other


def test_what_a_message_says_is_no_line_and_no_fact() -> None:
    """A webhook that answers with a line of the log, and with facts, in either form."""
    fact = '\t{"codes":1,"event":"failure","hindrance":{"code":"QuotaExceeded","message":"m"}}'
    forged = f"no{fact}\n2026-11-22T01:10:00.000Z error   no{fact}\n{fact.strip()}"
    line = LogLine(LogEvent.ANSWER, forged, LogLevel.WARNING, {"hindrance": refuses(403, forged).facts})
    for as_json in (False, True):
        log = told(line, as_json=as_json)
        assert log.count("\n") == 1
        assert failure(log) is None
        assert [each.code for each in hindrances(log)] == [Code.DENIED]
