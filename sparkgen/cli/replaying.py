"""Runs `whatif`, and returns its exit code. Independent of typer."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from sparkgen.cli import output
from sparkgen.cli.progress import live_line
from sparkgen.errors import SparkgenError
from sparkgen.eventlog import read_recording
from sparkgen.whatif import json_report, overlay_report, page, text_report
from sparkgen.whatif.candidates import from_overlay, from_sets
from sparkgen.whatif.cluster import Cluster
from sparkgen.whatif.price_file import read_prices
from sparkgen.whatif.study import Question, Run, Study, study
from sparkgen.writers import own_files

MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Asked:
    """The options of a call."""

    logs: tuple[str, ...]
    sets: tuple[str, ...]
    overlays: tuple[str, ...]
    search: bool
    prices: str
    max_cost: float | None
    cluster: Cluster
    as_json: bool
    best: str
    page: str


def cluster(capacity: int | None, ready: int | None, scale_up: float, losses: float, seed: int) -> Cluster:
    """Returns the cluster that the options describe."""
    return Cluster(capacity, ready, scale_up, losses, seed=seed)


def whatif(asked: Asked) -> int:
    """Replay each log and print the results; 1 if the best one costs too much, or a replay never ends."""
    _agree(asked)
    prices = read_prices(asked.prices) if asked.prices else None
    candidates = [*from_sets(asked.sets), *(from_overlay(name) for name in asked.overlays)]
    question = Question(candidates, asked.search, bool(asked.page), prices, asked.cluster)
    studies = [_study(log, question) for log in asked.logs]
    if asked.best == "-":
        output.data(_best(studies[0]))
    elif asked.as_json:
        output.data(json_report.text(studies))
    else:
        output.write("\n".join(text_report.text(one) for one in studies))
    if asked.page:
        own_files.write(Path(asked.page), page.text(studies[0]))
        output.note(f"wrote {asked.page}")
    if asked.best and asked.best != "-":
        own_files.write(Path(asked.best), _best(studies[0]))
        word = shlex.quote(asked.best)
        output.note(f"wrote {asked.best}; next: sparkgen diff --from HEAD -f {word} APP.yaml")
    dear = [one for one in studies if _too_dear(one, asked.max_cost)]
    stuck = [run for one in studies for run in _stuck(one)]
    return int(bool(dear or stuck))


def _agree(asked: Asked) -> None:
    """Raise SparkgenError for options that do not go together."""
    if asked.max_cost is not None and not asked.prices:
        raise SparkgenError("--max-cost needs prices; add --prices FILE")
    if asked.best and not (asked.sets or asked.overlays or asked.search):
        raise SparkgenError("--best needs configurations to choose from; add --set, --overlay or --search")
    if (asked.best or asked.page) and len(asked.logs) > 1:
        raise SparkgenError("--best and --html take only one LOG")


def _study(log: str, question: Question) -> Study:
    with live_line() as say:
        recording = read_recording(log, lambda read: say(f"read {read // MIB} MiB of {log}"))
        return study(
            recording,
            question,
            lambda done: say(f"replayed {done} {'configuration' if done == 1 else 'configurations'}"),
        )


def _best(one: Study) -> str:
    if one.baseline.outcome is None:
        raise SparkgenError(f"{one.baseline.label}: {one.baseline.stopped}; there is nothing to compare with")
    if one.best is None:
        raise SparkgenError(
            "every configuration takes over 10% longer than the recorded one; try larger ones"
        )
    return overlay_report.text(one, one.best)


def _stuck(one: Study) -> tuple[Run, ...]:
    """Returns the replays that never end, and reports them, except those that only --search tried."""
    stuck = tuple(run for run in one.stuck if run.candidate is None or not run.candidate.searched)
    for run in stuck:
        output.note(f"error: {one.recording.source}: {run.label}: {run.stopped}")
    return stuck


def _too_dear(one: Study, most: float | None) -> bool:
    if most is None:
        return False
    chosen = one.best or one.baseline
    cost = chosen.cost.on_demand if chosen.cost is not None else None
    if cost is None or cost <= most:
        return False
    output.note(f"{one.recording.source}: {chosen.label} costs {cost:.4f} {one.currency}, more than {most:g}")
    return True
