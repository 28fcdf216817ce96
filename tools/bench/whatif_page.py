"""The page of the proof of `sparkgen whatif`: what was predicted of each run, beside what happened."""

from __future__ import annotations

import os
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bench.pages import Page, table
from sparkgen.eventlog import Recording, read_recording
from sparkgen.whatif.candidates import from_sets
from sparkgen.whatif.configuration import configuration
from sparkgen.whatif.findings import facts
from sparkgen.whatif.outcome import Outcome, recorded
from sparkgen.whatif.recorded import recorded_properties, understood
from sparkgen.whatif.replay import replay

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
Kept = dict[str, dict[str, Any]]
"""Application -> configuration -> its run: `log`, and how `busy` the processors were, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Row:
    """A run: what happened, and what was said of it. Times in seconds."""

    shape: str
    name: str
    busy: float
    """The part of the processors' time that was used meanwhile, from 0 to 1."""
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
            found.append(Row(shape, name, run_["busy"], truth, *prediction(source, name)))
    return found


def prediction(recording: Recording, name: str) -> tuple[Outcome, float]:
    """What the replay says of a configuration, and what the classic formula does."""
    found = understood(recording)
    settings, work = found.settings, found.work
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


def text(kept: Kept, version: str) -> str:
    """The page."""
    found = rows(kept)
    own = [row for row in found if row.name == RECORDED]
    others = [row for row in found if row.name != RECORDED]
    page = Page("whatif.md")
    page.say(
        "Measured on ",
        f"{datetime.now(UTC):%d %B %Y} with Spark {version}, on the test cluster of two nodes.",
    )
    page.say(
        "The machine had ", f"{os.cpu_count()} cores; the column `busy` shows how much of them was in use."
    )
    page.rest(
        "## Predictions",
        [
            *("## Predictions", "", *results(others), "", *summary(others), ""),
            *("## The recorded configurations, replayed", ""),
            *("Here, the replay has the same settings as the recorded run.", ""),
            *(*results(own), "", *summary(own)),
        ],
    )
    return page.text()


def results(found: list[Row]) -> list[str]:
    """A table of what happened and what was said."""
    names = ["application", "configuration", "busy", "wall", "replay", "error"]
    names += ["error from the first stage on", "executor-s", "replay", "error", "formula", "error"]
    rows = [names]
    for row in found:
        wall, later, executors, formula = (f"{error:+.0%}" for error in row.errors())
        cells = [row.shape.replace("_", " "), row.name, f"{row.busy:.0%}"]
        cells += [f"{row.truth.wall:.1f} s", f"{row.replayed.wall:.1f} s", wall, later]
        cells += [f"{row.truth.executor_seconds:.0f}", f"{row.replayed.executor_seconds:.0f}", executors]
        rows.append([*cells, f"{row.formula:.1f} s", formula])
    return table(rows, 2)


def summary(found: list[Row]) -> list[str]:
    """The median and the worst error of each."""
    if not found:
        return ["Nothing was measured."]
    rows = [("error", "median", "worst")]
    titles = (
        *("wall, replay", "wall from the first stage on, replay"),
        *("executor-seconds, replay", "wall, classic formula"),
    )
    for title, errors in zip(titles, zip(*(row.errors() for row in found), strict=True), strict=True):
        sizes = [abs(error) for error in errors]
        rows.append((title, f"{statistics.median(sizes):.0%}", f"{max(sizes):.0%}"))
    return [f"{len(found)} run{'s' * (len(found) > 1)}.", "", *table(rows, 1)]


def part(found: float, truth: float) -> float:
    """How wrong a number is, as a part of the truth."""
    return found / truth - 1 if truth > 0 else 0.0
