"""The pages of benchmarks (tools/bench/pages.py): their words are written by people, their numbers kept."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bench import (
    delivery,
    dynamic,
    executors,
    locality_page,
    pages,
    pi,
    protection,
    quota,
    scale,
    sessions,
    shuffle,
    submissions,
)
from bench.folders import FOLDER
from bench.pages import Page
from common.cachedir import ToolError


def of_sides(kind: Callable[..., Any], data: Any) -> list[Any]:
    """The rounds in a file of numbers, with a value of the class for each side."""
    return [{side: kind(**run) for side, run in one.items()} for one in data["rounds"]]


def locality(data: Any) -> str:
    """Rounds have a level more: where the data is."""
    found = [
        {
            where: {side: locality_page.Scan(**scan) for side, scan in sides.items()}
            for where, sides in one.items()
        }
        for one in data["rounds"]
    ]
    plan = locality_page.Plan(data["version"], data["files"], data["rate"], len(found))
    return locality_page.page(found, plan)


PAGES: dict[str, Callable[[Any], str]] = {
    "delivery": lambda data: delivery.page(of_sides(delivery.Run, data), data["version"]),
    "dynamic": lambda data: dynamic.page(of_sides(dynamic.Result, data), data["version"]),
    "executors": lambda _: executors.page(executors.kept(), "4.3.0"),
    "locality": locality,
    "pi": lambda data: pi.page(of_sides(pi.Run, data), data["version"]),
    "protection": lambda data: protection.page(of_sides(protection.Read, data)),
    "quota": lambda data: quota.page(of_sides(quota.Result, data), data["version"]),
    "scale": scale.page,
    "sessions": lambda data: sessions.page(of_sides(sessions.Session, data), data["version"]),
    "shuffle": lambda data: shuffle.page(of_sides(shuffle.Run, data), shuffle.Job(**data["job"])),
    "submissions": lambda data: submissions.page(
        of_sides(submissions.Result, data), data["version"], data["applications"]
    ),
}
MACHINE = re.compile(r"^.*, \d+ cores, \d{4}-\d\d-\d\d\.$|(?<= on )\d+ cores", re.MULTILINE)
"""The machine and the day of a measurement are in no file of numbers."""


def test_each_file_of_numbers_is_the_source_of_a_page() -> None:
    """None is forgotten here."""
    assert {path.stem for path in FOLDER.glob("*.json")} == set(PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_what_its_numbers_say(name: str) -> None:
    """Filled in again from the numbers that are kept, it is the same page."""
    data = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    page = (FOLDER / f"{name}.md").read_text("utf-8")
    assert MACHINE.sub("", PAGES[name](data)) == MACHINE.sub("", page)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dynamic", f"The job has {dynamic.TASKS} tasks of a second each"),
        ("dynamic", f"up to {dynamic.MOST}; an executor that is idle for {dynamic.IDLE} s leaves."),
        ("executors", f"with {executors.RAW_THREADS} threads and the same library as sparkgen"),
        ("protection", f"reads a file of {protection.BLOCK >> 20} MiB twice"),
        ("quota", f"of {quota.ROOM + 1} pods leaves room for {quota.ROOM} of {quota.WANTED} executors."),
        ("quota", f"counts calls for {quota.WINDOW} s from"),
        ("locality", f"Each file is one block of {locality_page.BLOCK >> 20} MiB"),
        ("locality", f"Dynamic allocation uses 0 to {locality_page.EXECUTORS} executors"),
        ("scale", f"decide takes at most {scale.DECIDE_GOAL:.0f} ms"),
        ("scale", f"Goal at 10,000: at most {scale.MEMORY_GOAL:.0f} MiB."),
        ("sessions", f"and a driver of {sessions.MEMORY['driver']}."),
        (
            "sessions",
            f"of 0 to {sessions.EXECUTORS} executors of one core and {sessions.MEMORY['executor']}, "
            f"which leave after {sessions.IDLE_SECONDS} s without work.",
        ),
    ],
)
def test_the_words_of_a_page_have_the_constants_of_its_program(name: str, words: str) -> None:
    """Whoever changes one changes the other."""
    assert words in (FOLDER / f"{name}.md").read_text("utf-8")


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Page:
    """A page with a place for everything."""
    table = "| a | b |\n|---|---:|\n| 1 | 2 |\n"
    text = f"# T\n\nSpark 1, 9 cores, 2020-01-01.\nMedian: 1\nand 2\n\n{table}\n## P\n\nold\n"
    (tmp_path / "x.md").write_text(text)
    monkeypatch.setattr(pages, "FOLDER", tmp_path)
    return Page("x.md")


def test_what_is_measured_is_filled_in(page: Page) -> None:
    """All else stays, also how the columns of a table are aligned."""
    page.say("Median: ", "3\nand 4", lines=2)
    page.rows([("3", ""), ("4", "x|y")])
    page.rest("## P", ["## P", "", "new"])
    lines = page.text().splitlines()
    assert lines[3:5] == ["Median: 3", "and 4"]
    assert lines[6:10] == ["| a | b |", "|---|---:|", "| 3 | |", "| 4 | x\\|y |"]
    assert lines[-1] == "new"


def test_a_head_is_filled_in_where_it_is_measured(page: Page) -> None:
    """Such as a column for each round."""
    page.rows([("x", "1", "2")], head=("", "r", "s"))
    assert "| | r | s |\n|---|---|---|\n| x | 1 | 2 |\n" in page.text()


def test_a_block_comes_and_goes(page: Page) -> None:
    """Before the same line, and never twice."""
    before = page.text()
    for _ in range(2):
        page.optional("It gave up.", "", before="## P", wanted=True)
        assert page.text().count("It gave up.\n\n## P") == 1
    page.optional("It gave up.", "", before="## P", wanted=False)
    assert page.text() == before


@pytest.mark.parametrize(
    ("fill", "message"),
    [
        (lambda page: page.say("Mean: ", "1"), "has no line that starts with 'Mean: '"),
        (lambda page: page.rows([], number=1), "has 1 tables, and no table 2"),
        (lambda page: page.rows([("1",)]), "table 1 has 2 columns, but a row ('1',)"),
    ],
)
def test_what_has_no_place_is_refused(page: Page, fill: Callable[[Page], None], message: str) -> None:
    """A page that somebody has rewritten says nothing that was not measured."""
    with pytest.raises(ToolError, match=re.escape(message)):
        fill(page)
