"""What the programs and the pages of benchmarks have in common."""

from __future__ import annotations

import argparse
import json
import os
import statistics
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "benchmarks"


def parser(description: str | None, page: Path, rounds: int, what: str = "") -> argparse.ArgumentParser:
    """The options that all benchmarks have: how many rounds, and whether to write the page.

    `what` says in the help what a round is.
    """
    made = argparse.ArgumentParser(
        prog=f"bench {page.stem}", description=description, formatter_class=argparse.RawTextHelpFormatter
    )
    what = what or "number of rounds, each with every side"
    made.add_argument("--rounds", type=int, default=rounds, help=f"{what} (default {rounds})")
    made.add_argument("--write", action="store_true", help=f"write the result to docs/benchmarks/{page.name}")
    return made


def opening(title: str, lead: str, what: str, target: str, data: str = "") -> list[str]:
    """The first lines of a page, as a paragraph that goes on.

    `what` was measured, such as "Spark 4.3.0, the test cluster of this repository", by `make` and `target`.
    `data`: the name of the raw data's file, without its suffix; "" when there is none.
    """
    raw = f"; the raw data is in [`{data}.json`]({data}.json)" if data else ""
    machine = f"{os.cpu_count()} cores, {datetime.now(UTC):%Y-%m-%d}"
    return [
        *(f"# {title}", "", lead, "", f"{what}, {machine}."),
        f"Measured with `make {target}`{raw}.",
    ]


def table(rows: Iterable[Sequence[str]], numbers_from: int | None = None) -> str:
    """A table of Markdown; the first row is its head. Columns from `numbers_from` on are right-aligned."""
    head, *rest = rows
    left = len(head) if numbers_from is None else numbers_from
    rule = ("---",) * left + ("---:",) * (len(head) - left)
    return "\n".join(f"| {' | '.join(row)} |".replace("|  |", "| |") for row in (head, rule, *rest))


def by_round(found: Iterable[Sequence[str]]) -> list[tuple[str, ...]]:
    """The rows of a table whose first column is the number of the round."""
    return [(str(number), *cells) for number, cells in enumerate(found, start=1)]


def median(values: Iterable[float | None], digits: int = 1) -> str:
    """The median of the values that are there; "" when none is."""
    known = [value for value in values if value is not None]
    return f"{statistics.median(known):.{digits}f}" if known else ""


def keep(page: Path, text: str, data: Mapping[str, Any]) -> None:
    """Write a page, and beside it the raw data as JSON."""
    page.write_text(text)
    page.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n")
