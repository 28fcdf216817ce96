"""`make whatif-proof`: what `sparkgen whatif` predicts, beside what then happens.

Ten applications of different shapes are recorded under one configuration, by `sparkgen run --local`: Spark's
own processes as driver and executors, and the production allocator. The recording predicts other
configurations, which are then run as well. Beside the replay stands the classic formula: the critical path,
or the driver's time and the tasks' time over all cores, whichever is longer.

What was measured is kept in build/whatif-proof.json: a run that is broken off goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

if __name__ == "__main__":  # as a script: its neighbours are the tools
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sparkgen.eventlog import Recording, read_recording
from sparkgen.spark_versions import NEWEST
from sparkgen.whatif.candidates import from_sets
from sparkgen.whatif.configuration import configuration
from sparkgen.whatif.findings import facts
from sparkgen.whatif.outcome import Outcome, recorded
from sparkgen.whatif.recorded import recorded_properties, work_of
from sparkgen.whatif.replay import replay

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tools" / "bench" / "jobs" / "shapes.py"
KEPT = ROOT / "build" / "whatif-proof.json"
RESULTS = ROOT / "docs" / "benchmarks" / "whatif.md"
SHAPES = (
    *("skewed", "many_short_stages", "wide_shuffle", "caching", "idle_gaps", "driver_computes"),
    *("adaptive_sql", "micro_batches", "failing_tasks", "python_udfs"),
)
RECORDED = "2 executors"
CONFIGURATIONS: Mapping[str, tuple[str, ...]] = {
    RECORDED: ("spec.executor.instances=2",),
    "1 executor": ("spec.executor.instances=1",),
    "4 executors": ("spec.executor.instances=4",),
    "dynamic, up to 3": (
        "spec.dynamicAllocation.enabled=true",
        "spec.dynamicAllocation.maxExecutors=3",
        "spec.dynamicAllocation.executorIdleTimeout=5s",
    ),
}
"""The sets of each. All of them are laid on a document without a number of executors."""
LONGEST = 900
"""Seconds that a run may take."""
Kept = dict[str, dict[str, Any]]


def main(arguments: list[str] | None = None) -> int:
    """Measure what is missing, and print the table; keep the page with `--write`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--minutes", type=float, default=120, help="begin no further run after so long")
    parser.add_argument("--shapes", nargs="*", default=SHAPES, choices=SHAPES)
    parser.add_argument("--spark", default=NEWEST.version, help="version of Spark")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.relative_to(ROOT)}")
    options = parser.parse_args(arguments)
    kept: Kept = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    until = time.monotonic() + options.minutes * 60
    for shape, name in order(options.shapes):
        if time.monotonic() >= until:
            break
        if name not in kept.get(shape, {}) and (name == RECORDED or RECORDED in kept.get(shape, {})):
            measured(shape, name, options.spark, kept)
            KEPT.parent.mkdir(exist_ok=True)
            KEPT.write_text(json.dumps(kept, indent=1), "utf-8")
    page = text(kept, options.spark)
    print(page)
    if options.write:
        RESULTS.write_text(page, "utf-8")
    return 0


def order(shapes: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """A shape's recording before its predictions; all shapes' first prediction before a second one."""
    others = [name for name in CONFIGURATIONS if name != RECORDED]
    for shape in shapes:
        yield from ((shape, name) for name in (RECORDED, others[0]))
    for name in others[1:]:
        yield from ((shape, name) for shape in shapes)


def measured(shape: str, name: str, version: str, kept: Kept) -> None:
    """Run a shape under a configuration, and keep what came of it, and what was predicted."""
    print(f"{shape}, {name} ...", file=sys.stderr, flush=True)
    folder = KEPT.parent / "whatif-proof" / shape / name.replace(" ", "-").replace(",", "")
    began = time.monotonic()
    try:
        log = run(shape, CONFIGURATIONS[name], version, folder)
    except (subprocess.SubprocessError, OSError) as error:
        print(f"  failed: {error}", file=sys.stderr)
        return
    kept.setdefault(shape, {})[name] = {"load": os.getloadavg()[0], "log": str(log)}
    print(f"  {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


@dataclass(frozen=True, slots=True)
class Row:
    """A run: what happened, and what was said of it. Times in seconds."""

    shape: str
    name: str
    load: float
    truth: Outcome
    replayed: Outcome
    formula: float

    def errors(self) -> tuple[float, float, float, float]:
        """Of wall, of wall from the first stage on, of executor-seconds, and of the formula's wall."""
        return (
            part(self.replayed.wall, self.truth.wall),
            part(_from_first_stage(self.replayed), _from_first_stage(self.truth)),
            part(self.replayed.executor_seconds, self.truth.executor_seconds),
            part(self.formula, self.truth.wall),
        )


def _from_first_stage(outcome: Outcome) -> float:
    return outcome.wall - min(stage.began for stage in outcome.stages)


def rows(kept: Kept) -> list[Row]:
    """All that was measured, each recording replayed anew."""
    found = []
    for shape in SHAPES:
        for name, run_ in kept.get(shape, {}).items():
            recording = read_recording(run_["log"])
            truth = recorded(recording, configuration(recorded_properties(recording)).slots)
            source = recording if name == RECORDED else read_recording(kept[shape][RECORDED]["log"])
            found.append(Row(shape, name, run_["load"], truth, *prediction(source, name)))
    return found


def prediction(recording: Recording, name: str) -> tuple[Outcome, float]:
    """What the replay says of a configuration, and what the classic formula does."""
    settings, work = work_of(recording)
    if name != RECORDED:
        (candidate,) = from_sets(CONFIGURATIONS[name])
        properties = recorded_properties(recording)
        if "spec.dynamicAllocation.enabled=true" in CONFIGURATIONS[name]:
            properties.pop("spark.executor.instances", None)  # the document of that run names none
        settings = configuration(candidate.properties(properties))
    alone = facts(recording, settings, work.critical_path, 1).driver_only
    most = settings.instances if settings.dynamic is None else settings.dynamic.maximum or 1
    cores = most * settings.slots
    return replay(work, settings), max(work.critical_path, alone + recording.task_seconds / cores)


def run(shape: str, sets: tuple[str, ...], version: str, folder: Path) -> Path:
    """The event log of one run."""
    logs = folder / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        document = Path(scratch) / "app.yaml"
        document.write_text(json.dumps(app(shape, version, logs)), "utf-8")
        command = [sys.executable, "-m", "sparkgen", "run", "--local", str(document)]
        subprocess.run(
            [*command, *(word for one in sets for word in ("--set", one))],
            stdout=subprocess.DEVNULL,
            stderr=(folder / "said.log").open("wb"),
            timeout=LONGEST,
            check=True,
            cwd=ROOT,
            env={**os.environ, "PYSPARK_PYTHON": sys.executable},
        )
    return max(logs.iterdir(), key=lambda path: path.stat().st_mtime)


def app(shape: str, version: str, logs: Path) -> Mapping[str, Any]:
    """The document of a shape."""
    return {
        "apiVersion": "sparkgen.dev/v1alpha1",
        "kind": "SparkApplication",
        "metadata": {"name": shape.replace("_", "-")},
        "spec": {
            "type": "Python",
            "sparkVersion": version,
            "image": f"spark:{version}",
            "mainApplicationFile": f"local://{PROGRAM}",
            "arguments": [shape],
            "driver": {"cores": 1, "memory": "600m"},
            "executor": {"cores": 1, "memory": "600m"},
            "sparkConf": {
                "spark.eventLog.enabled": "true",
                "spark.eventLog.dir": logs.as_uri(),
                "spark.ui.enabled": "false",
                "spark.sql.shuffle.partitions": "8",
            },
        },
    }


def text(kept: Kept, version: str) -> str:
    """The page."""
    found = rows(kept)
    own = [row for row in found if row.name == RECORDED]
    others = [row for row in found if row.name != RECORDED]
    lines = [
        "# What whatif predicts, and what happens",
        "",
        "Made by `make whatif-proof`; do not edit.",
        f"Measured on {datetime.now(UTC):%d %B %Y} with Spark {version}, without a cluster.",
        "`sparkgen run --local` ran them: Spark's own processes, and the production allocator.",
        f"The machine had {os.cpu_count()} cores and other work, whose load is in the table.",
        f"Each application is recorded with {RECORDED} of one core, and that recording predicts the others.",
        "What they do is in `tools/bench/jobs/shapes.py`: their tasks wait more than they compute.",
        "The classic formula is the longer of two: the critical path, and the driver's time with that of the "
        "tasks over all cores.",
        "A JVM starts as fast as the machine's other work lets it, which no log can tell: "
        "so the wall from the first stage on is compared as well.",
        "",
        "## Predictions",
        "",
        *table(others),
        "",
        *summary(others),
        "",
        "## The recorded configurations, replayed",
        "",
        *table(own),
        "",
        *summary(own),
    ]
    return "\n".join(lines) + "\n"


def table(found: list[Row]) -> list[str]:
    """Rows of what happened and what was said."""
    names = [
        "application",
        "configuration",
        "load",
        "wall",
        "replay",
        "error",
        "error from the first stage on",
    ]
    names += ["executor-s", "replay", "error", "formula", "error"]
    lines = [f"| {' | '.join(names)} |", "|---|---|" + "---:|" * (len(names) - 2)]
    for row in found:
        wall, later, executors, formula = (f"{error:+.0%}" for error in row.errors())
        cells = [row.shape.replace("_", " "), row.name, f"{row.load:.0f}"]
        cells += [f"{row.truth.wall:.1f} s", f"{row.replayed.wall:.1f} s", wall, later]
        cells += [f"{row.truth.executor_seconds:.0f}", f"{row.replayed.executor_seconds:.0f}", executors]
        lines.append(f"| {' | '.join([*cells, f'{row.formula:.1f} s', formula])} |")
    return lines


def summary(found: list[Row]) -> list[str]:
    """The median and the worst error of each."""
    if not found:
        return ["Nothing was measured."]
    lines = ["| error | median | worst |", "|---|---:|---:|"]
    titles = (
        *("wall, replay", "wall from the first stage on, replay"),
        *("executor-seconds, replay", "wall, classic formula"),
    )
    for title, errors in zip(titles, zip(*(row.errors() for row in found), strict=True), strict=True):
        sizes = [abs(error) for error in errors]
        lines.append(f"| {title} | {statistics.median(sizes):.0%} | {max(sizes):.0%} |")
    return [f"{len(found)} run{'s' * (len(found) > 1)}.", "", *lines]


def part(found: float, truth: float) -> float:
    """How wrong a number is, as a part of the truth."""
    return found / truth - 1 if truth > 0 else 0.0


if __name__ == "__main__":
    raise SystemExit(main())
