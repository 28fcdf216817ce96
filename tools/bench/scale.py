"""`make bench-scale`: what grows with the number of executors or of applications, measured without a cluster.

`decide` and the view are measured by tools/simulator/scale.py; whole lives, with all the allocator's threads
and its memory, by tools/bench/one_life.py in a process of their own.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from bench import pages
from bench.folders import FOLDER, ROOT
from bench.pages import Page
from common.command import run
from simulator.scale import SIZES, applications, measured

RESULTS = FOLDER / "scale.md"
LIVES = (1_000, 5_000, 10_000)
DECIDE_GOAL = 20.0
"""Milliseconds at 10,000 executors."""
MEMORY_GOAL = 100.0
"""MiB at 10,000 executors."""


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the page, and keep it with `--write`; 1 when a goal is missed."""
    parser = pages.parser(__doc__, RESULTS)
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=list(SIZES), help="numbers of executors for a single decision"
    )
    parser.add_argument(
        "--lives",
        type=int,
        nargs="+",
        default=list(LIVES),
        help="numbers of executors for a whole life cycle",
    )
    parser.add_argument(
        "--applications",
        type=int,
        default=10_000,
        help="number of small applications to simulate (default 10000)",
    )
    options = parser.parse_args(arguments)
    rows = [asdict(measured(size)) for size in options.sizes]
    seconds, calls = applications(options.applications)
    each = {"count": options.applications, "seconds_each": seconds, "calls_each": calls}
    found = {"rows": rows, "lives": [life(count) for count in options.lives], "applications": each}
    pages.show(RESULTS, page(found), found, write=options.write)
    return 0 if _reached(found) else 1


def life(count: int) -> dict[str, Any]:
    """One life, in a process of its own."""
    command = (sys.executable, str(ROOT / "tools" / "bench"), "one_life", str(count))
    found: dict[str, Any] = json.loads(run(*command, failed=f"the life of {count} executors"))
    print(f"{count} executors: {found}", file=sys.stderr, flush=True)
    return found


def _reached(found: dict[str, Any]) -> bool:
    decide = [row["decide_ms"] for row in found["rows"] if row["executors"] == 10_000]
    memory = [one["memory_most"] for one in found["lives"] if one["executors"] == 10_000]
    return max(decide, default=0) <= DECIDE_GOAL and max(memory, default=0) <= MEMORY_GOAL


def page(found: dict[str, Any]) -> str:
    """The page: three tables."""
    each = found["applications"]
    page = Page(RESULTS.name)
    page.setting(f"Python {platform.python_version()}")
    page.rows(map(_round, found["rows"]))
    page.rows(map(_life, found["lives"]), number=1)
    page.say("The simulator ran ", f"{each['count']:,} applications of 4 executors from start to end.")
    page.say(
        "On this machine, each took ",
        f"{1e3 * each['seconds_each']:.1f} ms and {each['calls_each']:.1f} API calls.",
    )
    return page.text()


def _round(row: Mapping[str, Any]) -> tuple[str, ...]:
    each = 1e3 * row["decide_ms"] / row["executors"]
    decide = (f"{row['decide_ms']:.2f}", f"{each:.2f}", f"{row['snapshot_ms']:.2f}")
    return f"{row['executors']:,}", *decide, f"{row['event_us']:.0f}", f"{row['view_mib']:.1f}"


def _life(one: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        f"{one['executors']:,}",
        *(f"{one[name]:.1f}" for name in ("created", "ended")),
        *(f"{one[name]:.2f}" for name in ("cpu_up", "cpu_steady", "cpu_down")),
        *(
            str(one["rounds"]),
            ", ".join(f"{one[f'memory_{when}']:.0f}" for when in ("before", "steady", "most")),
        ),
    )
