"""Which of the slow end-to-end tests a commit plays: each within `SHARES` commits.

A test is slow when its last measured time is above `SLOW` seconds, or when it has the mark `full`.
All others are played at every commit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from common.share import SHARES

SLOW = 20.0
"""Seconds that a test may take and still be played at every commit."""
UNMEASURED = 120.0
"""Seconds that a test with the mark `full` is taken to last until it has been measured."""
TABLE = Path(__file__).parent / "durations.json"
"""Seconds of each test, its fixtures included; `make e2e-full RECORD=1` writes them."""


def measured(table: Path = TABLE) -> dict[str, float]:
    """The recorded seconds of each test by its id; none where there is no record."""
    return dict(json.loads(table.read_text())) if table.is_file() else {}


def record(seconds: Mapping[str, float], table: Path = TABLE) -> None:
    """Put the seconds of a run into the table: what was not played keeps its entry."""
    known = measured(table) | {name: round(took, 1) for name, took in seconds.items()}
    table.write_text(json.dumps(dict(sorted(known.items())), indent=0) + "\n")


def slow(seconds: Mapping[str, float], full: frozenset[str], names: frozenset[str]) -> dict[str, float]:
    """The slow ones of `names`, with their seconds; `full` are those with that mark."""
    wanted = {name: seconds.get(name, UNMEASURED if name in full else 0.0) for name in names}
    return {name: took for name, took in wanted.items() if took > SLOW or name in full}


def pack(seconds: Mapping[str, float], shares: int = SHARES) -> dict[str, int]:
    """The share of each test, 0 to `shares` - 1: the longest first, each into the shortest share."""
    totals, found = [0.0] * shares, {}
    for name, took in sorted(seconds.items(), key=lambda item: (-item[1], item[0])):
        share = min(range(shares), key=lambda number: (totals[number], number))
        totals[share] += took
        found[name] = share
    return found
