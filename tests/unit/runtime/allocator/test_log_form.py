"""What is read of a line of the log is what was written, whatever texts of others are in it."""

from __future__ import annotations

import json
import re
import string
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from sparkgen.codes import Code, Hindrance, hindrance_of, marked, unmarked
from sparkgen.runtime.allocator.report.log_form import (
    LogEvent,
    LogLevel,
    LogLine,
    entries,
    json_line,
    read,
    text_line,
)

OPERATE = Path(__file__).parents[4] / "docs" / "operate.md"
TIME = "2026-11-22T01:10:00.000Z"
LINE = text_line(TIME, LogLine(LogEvent.FAILURE, "a line of ours", LogLevel.ERROR, {"wanted": {"0": 9}}))
HOSTILE = st.one_of(
    st.text(),
    st.text(alphabet='\t\n\r\x0b\x1c\x85\u2028\u202e\x7f\ud800 "\\\\{}[],:\x1b' + string.ascii_letters),
    st.lists(st.sampled_from(["\t", "\n", " ", LINE, LINE.partition("\t")[2], '"', "x", "[Killed] "])).map(
        "".join
    ),
)
HINDRANCES = st.builds(Hindrance, st.sampled_from(Code), HOSTILE, HOSTILE)
LINES = st.builds(
    lambda event, text, level, wanted, hindrances, one: LogLine(
        event,
        text,
        level,
        {"wanted": wanted, "hindrances": [each.facts for each in hindrances], "hindrance": one.facts},
    ),
    st.sampled_from(LogEvent),
    HOSTILE,
    st.sampled_from(LogLevel),
    st.dictionaries(st.integers(0, 99).map(str), st.integers(0, 10_000), max_size=3),
    st.lists(HINDRANCES, max_size=3),
    HINDRANCES,
)


@given(st.lists(LINES, min_size=1, max_size=3))
def test_what_is_read_is_what_was_written(lines: list[LogLine]) -> None:
    """A line stays one line for every reader, and has its event, its facts and its codes: in both forms."""
    for form in (text_line, json_line):
        log = "".join(form(TIME, line) + "\n" for line in lines)
        assert len(log.splitlines()) == len(lines)
        log.encode()
        found = list(entries(log))
        assert [entry.event for entry in found] == [line.event for line in lines]
        for entry, line in zip(found, lines, strict=True):
            assert {name: entry.facts[name] for name in line.facts} == line.facts
            assert entry.wanted == sum(line.facts["wanted"].values())
            assert [each.facts for each in entry.hindrances] == line.facts["hindrances"]
            assert entry.hindrance == hindrance_of(line.facts["hindrance"])
            assert form is text_line or entry.text == line.text


@given(st.sampled_from(Code), HOSTILE)
def test_a_code_before_a_text_is_read_as_it_was_written(code: Code, text: str) -> None:
    """Whatever follows it. A text alone is at most taken for one with a code if it begins like one."""
    assert unmarked(marked(code, text)) == (code, text)


@given(HOSTILE)
@example("[]")
@example("[" * 100_000)
@example('x\t{"codes":1,"event":7}')
@example('{"codes":1,"event":"gap","message":7}')
def test_any_line_can_be_read(text: str) -> None:
    """Of an older release, of another program, cut off: there are facts, or there are none."""
    for line in (text, json.dumps({"codes": 1, "event": "gap", "message": "m", "wanted": text})):
        entry = read(line)
        if entry is not None:
            assert isinstance(entry.text, str)
            assert isinstance(entry.wanted, int | None)
            assert all(isinstance(one, Hindrance) for one in (*entry.hindrances, entry.hindrance) if one)


def test_the_page_has_codes_and_a_line_as_they_are() -> None:
    """docs/operate.md, for those who read the log by a program."""
    text = OPERATE.read_text()
    (entry,) = entries(text)
    assert (entry.event, entry.wanted, entry.hindrances) == (LogEvent.DECISION, 1, ())
    _, _, table = text.partition("| the log says | code |")
    rows = [row.split(" | ") for row in table.partition("\n\n")[0].split("\n")[2:]]
    named = {code for row in rows for code in re.findall(r"`(\w+)`", row[1])}
    assert len(rows) > 10
    assert named <= {*Code}


def test_a_person_reads_the_sentence_first() -> None:
    """The facts come after it, behind a tab."""
    line = LogLine(LogEvent.TARGET, "the driver's target:\t1 wanted", facts={"wanted": {"0": 1}})
    facts = '{"codes":1,"event":"target","wanted":{"0":1}}'
    assert text_line(TIME, line) == f"{TIME} info    the driver's target: 1 wanted\t{facts}"
