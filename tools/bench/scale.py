"""`make bench-scale`: what grows with the number of executors or of applications, measured without a cluster.

`decide` and the view are measured as `python -m simulator scale` does it; whole lives, with all the
allocator's threads and its memory, by tools/bench/one_life.py in a process of their own.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from bench.pages import FOLDER, ROOT, keep, opening, table
from simulator.scale import SIZES, applications, measured

RESULTS = FOLDER / "scale.md"
LIVES = (1_000, 5_000, 10_000)
DECIDE_GOAL = 20.0
"""Milliseconds at 10,000 executors."""
MEMORY_GOAL = 100.0
"""MiB at 10,000 executors."""


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the page, and keep it with `--write`; 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
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
    parser.add_argument(
        "--write", action="store_true", help=f"write the result to {RESULTS.relative_to(ROOT)}"
    )
    options = parser.parse_args(arguments)
    rows = [asdict(measured(size)) for size in options.sizes]
    seconds, calls, _ = applications(options.applications)
    each = {"count": options.applications, "seconds_each": seconds, "calls_each": calls}
    found = {"rows": rows, "lives": [life(count) for count in options.lives], "applications": each}
    text = page(found)
    print(text)
    if options.write:
        keep(RESULTS, text, found)
    return 0 if _reached(found) else 1


def life(count: int) -> dict[str, Any]:
    """One life, in a process of its own."""
    command = [sys.executable, str(ROOT / "tools" / "bench"), "one_life", str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"error: the life of {count} executors: {done.stderr.strip()[-1000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    print(f"{count} executors: {found}", file=sys.stderr, flush=True)
    return found


def _reached(found: dict[str, Any]) -> bool:
    decide = [row["decide_ms"] for row in found["rows"] if row["executors"] == 10_000]
    memory = [one["memory_most"] for one in found["lives"] if one["executors"] == 10_000]
    return max(decide, default=0) <= DECIDE_GOAL and max(memory, default=0) <= MEMORY_GOAL


def page(found: dict[str, Any]) -> str:
    """The page: three tables."""
    each = found["applications"]
    lines = [
        *opening(
            "What grows with size",
            "This page shows how the allocator's time and memory grow with the number of executors.",
            f"Python {platform.python_version()}",
            *("bench-scale", "scale"),
        ),
        "",
        "## A round of the loop",
        "",
        "In this round, the allocator finds nothing to do, so the table shows the minimum cost of a round.",
        "Each time is the best of five measurements.",
        "",
        "- *decide* computes which pods to create and delete.",
        "- *snapshot* prepares what the allocator knows about the pods for such a decision.",
        "- *one event* is the time to take in one event of the watch of the pods.",
        "- *view* is the memory of what the allocator knows about the pods.",
        "",
        table([ROUND, *map(_round, found["rows"])], 0),
        "",
        f"Goal at 10,000: decide takes at most {DECIDE_GOAL:.0f} ms, and its time grows no faster than the "
        "number of executors.",
        "",
        "## A whole life",
        "",
        "An allocator runs in its own process, with its threads but without TLS.",
        "A server in another process answers its calls at once, and stores nothing "
        "(`tools/bench/one_life.py`).",
        "All executors start and register; for ten seconds, nothing happens; then all executors are removed.",
        "The memory is the process's resident memory, including `python` with all modules.",
        "",
        table([LIFE, *map(_life, found["lives"])], 0),
        "",
        f"Goal at 10,000: at most {MEMORY_GOAL:.0f} MiB.",
        "",
        "## Many applications",
        "",
        f"The simulator ran {each['count']:,} applications of 4 executors from start to end.",
        f"On this machine, each took {1e3 * each['seconds_each']:.1f} ms and {each['calls_each']:.1f} API "
        "calls.",
        "Applications share nothing but the API server, so twice as many applications make twice as many "
        "calls.",
    ]
    return "\n".join(lines) + "\n"


ROUND = (
    *("executors", "decide (ms)", "decide, for each executor (us)", "snapshot (ms)", "one event (us)"),
    "view (MiB)",
)
LIFE = (
    *("executors", "all created (s)", "all removed (s)", "CPU until all have registered (s)"),
    *("CPU of ten seconds at rest (s)", "CPU of the removal (s)", "rounds of the loop"),
    "memory before, at rest, at most (MiB)",
)


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
