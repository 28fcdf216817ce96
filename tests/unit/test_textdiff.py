"""Diffs and similar names: those of difflib, with work that grows as the text does."""

from __future__ import annotations

import difflib
import random
from collections.abc import Iterator

import pytest

from sparkgen import textdiff
from sparkgen.textdiff import LONGEST_NAME, MOST_NAMES, nearest, unified
from tests.unit.bounds.work import work


def hostile(lines: int, changed: str) -> list[str]:
    """Every second line is in each text: difflib finds one after the other, and compares all for each."""
    return [f"c{number % 70}\n" if number % 2 else f"{changed}{number}\n" for number in range(lines)]


@pytest.fixture
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few that short texts have too many."""
    monkeypatch.setattr(textdiff, "_STEPS_A_LINE", 50)


def applied(old: list[str], diff: list[str]) -> list[str]:
    """The new text, from the old one and a diff in one hunk."""
    start = int(diff[2].split(",")[0].removeprefix("@@ -")) - 1
    kept = [line[1:] for line in diff[3:] if line[0] in " -"]
    assert old[start : start + len(kept)] == kept
    return [*old[:start], *(line[1:] for line in diff[3:] if line[0] in " +"), *old[start + len(kept) :]]


@pytest.mark.parametrize("size", [0, 1, 5, 150, 1200])
@pytest.mark.parametrize("changes", [1, 7, 40])
def test_ordinary_texts_differ_as_difflib_says(size: int, changes: int) -> None:
    """Byte for byte, also where many lines are equal, as in YAML."""
    chance = random.Random(size * 100 + changes)  # noqa: S311 - no secret
    old = [chance.choice(("- name: x\n", "  value: y\n", f"key{number}: z\n")) for number in range(size)]
    new = [*old]
    for _ in range(changes):
        place = chance.randrange(len(new) + 1)
        new[place : place + chance.randrange(3)] = ["new: line\n"] * chance.randrange(3)
    assert [*unified(old, new, "a", "b")] == [*difflib.unified_diff(old, new, "a", "b")]
    bare_old, bare_new = ([line.rstrip("\n") for line in text] for text in (old, new))
    assert [*unified(bare_old, bare_new, "a", "b", "")] == [
        *difflib.unified_diff(bare_old, bare_new, "a", "b", lineterm="")
    ]


@pytest.mark.usefixtures("few_steps")
def test_texts_that_keep_difflib_busy_make_one_hunk() -> None:
    """It is complete, and begins and ends with the context of a change."""
    same = ["a\n", "b\n", "c\n", "d\n"]
    old, new = [*same, *hostile(900, "x"), *same], [*same, *hostile(900, "y"), "end\n", *same]
    diff = [*unified(old, new, "a", "b")]
    assert diff[:7] == ["--- a\n", "+++ b\n", "@@ -2,906 +2,907 @@\n", " b\n", " c\n", " d\n", "-x0\n"]
    assert diff[-5:] == ["+c59\n", "+end\n", " a\n", " b\n", " c\n"]
    assert applied(old, diff) == new


@pytest.mark.parametrize("seed", range(40))
def test_one_hunk_is_complete(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the texts differ, also at an end, or by many lines."""
    monkeypatch.setattr(textdiff, "_MOST_STEPS", 0)
    chance = random.Random(seed)  # noqa: S311 - no secret
    old = chance.choices(["a\n", "b\n", "c\n"], k=1 + seed % 9)
    new = [*old]
    new[chance.randrange(len(old)) : chance.randrange(len(old) + 1)] = chance.choices(
        ["a\n", "d\n"], k=seed % 4
    )
    if new and new != old:
        assert applied(old, [*unified(old, new, "a", "b")]) == new


@pytest.mark.usefixtures("few_steps")
def test_the_work_grows_as_the_text_does() -> None:
    """Counted: twice the lines take about twice the steps, and not eight times."""
    small, large = (work(lambda size=size: list(changes(size))) for size in (400, 800))
    assert large < 3 * small


def changes(size: int) -> Iterator[str]:
    """A diff of two texts of so many lines."""
    return unified(hostile(size, "x"), hostile(size, "y"), "a", "b")


def test_no_text_takes_more_steps_than_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it is."""
    monkeypatch.setattr(textdiff, "_MOST_STEPS", 1_000)
    assert sum(line.startswith("@@") for line in changes(800)) == 1


def test_names() -> None:
    """The most similar one, unless it takes long to find."""
    assert nearest("drivr", ["driver", "executor"]) == "driver"
    assert nearest("zzz", ["driver", "executor"]) == ""
    assert nearest("drivr", ["driver", "executor"], cutoff=0.99) == ""
    assert nearest("ab" * LONGEST_NAME, ["ab" * LONGEST_NAME]) == ""
    assert nearest("ab", ["abc", "ab" * LONGEST_NAME]) == "abc"
    assert nearest("ab", [f"ab{number}" for number in range(MOST_NAMES + 1)]) == ""
