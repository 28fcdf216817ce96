"""The pages of benchmarks: people write their words, and a benchmark fills in what it has measured."""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import plots
from bench.folders import FOLDER
from common.cachedir import ToolError

_SETTING = re.compile(r"(?P<what>.*), \d+ cores, \d{4}-\d\d-\d\d\.")
_RULE = re.compile(r"\|(\s*:?-+:?\s*\|)+")


def parser(description: str | None, page: Path, rounds: int = 0, what: str = "") -> argparse.ArgumentParser:
    """The options that all benchmarks have: how many rounds, and whether to write the page.

    `what` says in the help what a round is. Without a number of `rounds`, there is no such option.
    """
    made = argparse.ArgumentParser(
        prog=f"bench {page.stem}", description=description, formatter_class=argparse.RawTextHelpFormatter
    )
    what = what or "number of rounds, each with every side"
    if rounds:
        made.add_argument("--rounds", type=int, default=rounds, help=f"{what} (default {rounds})")
    made.add_argument("--write", action="store_true", help=f"write the result to docs/benchmarks/{page.name}")
    return made


class Page:
    """A page of docs/benchmarks whose measured parts are replaced. ToolError if it has no place for one."""

    def __init__(self, name: str) -> None:
        self._path = FOLDER / name
        self._lines = self._path.read_text("utf-8").splitlines()

    def setting(self, what: str) -> None:
        """Replace the line of the setting: `what`, such as "Spark 4.3.0", the machine and the day."""
        number = self._first(_SETTING, "of the setting")
        self._lines[number] = f"{what}, {os.cpu_count()} cores, {datetime.now(UTC):%Y-%m-%d}."

    def say(self, start: str, rest: str, lines: int = 1) -> None:
        """Replace the line that starts with `start`, or so many `lines` from there, by `start` and `rest`."""
        number = self._starts(start)
        self._lines[number : number + lines] = (start + rest).split("\n")

    def rows(self, rows: Iterable[Sequence[str]], number: int = 0, head: Sequence[str] = ()) -> None:
        """Replace the rows of a table, counted from 0, and its head if one is given."""
        rules = [place for place, line in enumerate(self._lines) if _RULE.fullmatch(line)]
        if number >= len(rules):
            raise ToolError(f"{self._path} has {len(rules)} tables, and no table {number + 1}: add it.")
        first = end = rules[number] + 1
        while end < len(self._lines) and self._lines[end].startswith("|"):
            end += 1
        rows = list(rows)
        columns = len(head) or self._lines[first - 1].count("|") - 1
        if wrong := next((each for each in rows if len(each) != columns), None):
            raise ToolError(f"{self._path}: table {number + 1} has {columns} columns, but a row {wrong}.")
        self._lines[first:end] = map(row, rows)
        if head:
            self._lines[first - 2 : first] = table([head])

    def optional(self, *block: str, before: str, wanted: bool) -> None:
        """Have a block of lines, or not; it stands before the line that starts with `before`."""
        place = self._starts(before)
        there = self._lines[place - len(block) : place] == [*block]
        self._lines[place - len(block) * there : place] = block if wanted else ()

    def rest(self, start: str, lines: Iterable[str]) -> None:
        """Replace all from the first line that starts with `start` to the end."""
        self._lines[self._starts(start) :] = lines

    def _starts(self, start: str) -> int:
        return self._first(re.compile(f"{re.escape(start)}.*"), f"that starts with {start!r}")

    def _first(self, wanted: re.Pattern[str], what: str) -> int:
        for number, line in enumerate(self._lines):
            if wanted.fullmatch(line):
                return number
        raise ToolError(f"{self._path} has no line {what}: add one, to be filled in.")

    def text(self) -> str:
        """The whole page."""
        return "\n".join(self._lines) + "\n"


def row(cells: Sequence[str]) -> str:
    """A row of a table of Markdown; a bar in a cell divides no cells."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |".replace("|  |", "| |")


def table(rows: Iterable[Sequence[str]], numbers_from: int | None = None) -> list[str]:
    """A table of Markdown; the first row is its head. Columns from `numbers_from` on are right-aligned."""
    head, *rest = rows
    left = len(head) if numbers_from is None else numbers_from
    return [row(head), "|" + "---|" * left + "---:|" * (len(head) - left), *map(row, rest)]


def by_round(found: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """The rows of a table whose first column is the number of the round."""
    return [(str(number), *cells) for number, cells in enumerate(found, start=1)]


def median(values: Iterable[float | None], digits: int = 1) -> str:
    """The median of the values that are there; "" when none is."""
    known = [value for value in values if value is not None]
    return f"{statistics.median(known):.{digits}f}" if known else ""


def show(
    page: Path,
    text: str,
    data: Mapping[str, Any] | None = None,
    *,
    write: bool,
    indent: int | None = 1,
) -> None:
    """Print a page; with `write`, keep it, and beside it the raw data as JSON, and a picture of that."""
    print(text)
    if write:
        page.write_text(text, "utf-8")
    if write and data is not None:
        page.with_suffix(".json").write_text(json.dumps(data, indent=indent, default=asdict) + "\n", "utf-8")
        plots.draw(page.stem, page.parent)
