"""`make whatif-proof`: compares what `sparkgen whatif` predicts with what then happens.

Ten applications of different shapes are recorded under one configuration, on the test cluster. The recording
predicts other configurations, which are then run as well. Beside the replay stands the classic formula: the
critical path, or the driver's time and the tasks' time over all cores, whichever is longer.

What was measured is kept in build/whatif-proof.json: a run that is broken off goes on where it was. Delete
the file to measure again.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench import pages
from bench.folders import FOLDER, ROOT
from bench.whatif_page import CONFIGURATIONS, RECORDED, SHAPES, Kept, text
from bench.whatif_runs import Runner, on_cluster
from common.cachedir import ToolError
from common.command import tells_errors
from sparkgen.spark_versions import NEWEST

RESULTS = FOLDER / "whatif.md"
FILES = ROOT / "build" / "whatif-proof"


@tells_errors
def main(arguments: list[str] | None = None) -> int:
    """Measure what is missing, and print the table; keep the page with `--write`."""
    parser = pages.parser(__doc__, RESULTS)
    parser.add_argument(
        "--minutes", type=float, default=120, help="start no run after this many minutes (default 120)"
    )
    parser.add_argument("--spark", default=NEWEST.version, help="Spark version")
    options = parser.parse_args(arguments)
    kept = measure(options.spark, options.minutes * 60)
    pages.show(RESULTS, text(kept, options.spark), write=options.write)
    return 0


def order() -> Iterator[tuple[str, str]]:
    """A shape's recording before its predictions; all shapes' first prediction before a second one."""
    others = [name for name in CONFIGURATIONS if name != RECORDED]
    for shape in SHAPES:
        yield from ((shape, name) for name in (RECORDED, others[0]))
    for name in others[1:]:
        yield from ((shape, name) for shape in SHAPES)


def measure(version: str, seconds: float) -> Kept:
    """All that was measured, after what is missing was run for so many seconds."""
    file = FILES.with_suffix(".json")
    kept: Kept = json.loads(file.read_text("utf-8")) if file.exists() else {}
    missing = [(shape, name) for shape, name in order() if name not in kept.get(shape, {})]
    if not missing or seconds <= 0:
        return kept
    until = time.monotonic() + seconds
    FILES.mkdir(parents=True, exist_ok=True)
    with on_cluster(version) as runner:
        for shape, name in missing:
            if time.monotonic() >= until:
                break
            if name == RECORDED or RECORDED in kept.get(shape, {}):
                measured(shape, name, runner, kept)
                file.write_text(json.dumps(kept, indent=1), "utf-8")
    return kept


def measured(shape: str, name: str, runner: Runner, kept: Kept) -> None:
    """Run a shape under a configuration, and note its log, and how busy the processors were."""
    print(f"{shape}, {name} ...", file=sys.stderr, flush=True)
    began, before = time.monotonic(), processor_times()
    own = FILES / shape / name.replace(" ", "-").replace(",", "")
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir(parents=True)
    try:
        log = runner.run(shape.replace("_", "-"), [shape], CONFIGURATIONS[name], own)
    except (ToolError, subprocess.SubprocessError, OSError) as error:
        print(f"  failed: {error}", file=sys.stderr)
        return
    busy, total = (now - then for now, then in zip(processor_times(), before, strict=True))
    kept.setdefault(shape, {})[name] = {"busy": busy / total, "log": str(log)}
    print(f"  {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


def processor_times() -> tuple[int, int]:
    """Of all processors of this machine since it began, in ticks: busy, and all (man 5 proc_stat)."""
    ticks = [int(word) for word in Path("/proc/stat").read_text("utf-8").split("\n", 1)[0].split()[1:9]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)
