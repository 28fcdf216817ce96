"""A study as text for people: the truth first, then a table, then what to look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sparkgen.terminal import visible
from sparkgen.whatif.candidates import counted
from sparkgen.whatif.findings import Skew
from sparkgen.whatif.remark import Remark
from sparkgen.whatif.study import Run, Study, price

RANGE = "how long tasks take on executors of another size is not known: this is an assumption"


def text(study: Study) -> str:
    """The report. No name in a log makes a line of its own."""
    lines = [*_truth(study), "", *_table(study), "", *_facts(study)]
    return "".join(f"{visible(line)}\n" for line in lines)


def seconds(value: float) -> str:
    """Seconds as people read them: 4.2 s, 3 m 05 s, 2 h 10 m."""
    if value < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} m {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} m"


def skew_words(skew: Skew) -> str:
    """How much longer the longest task of a stage takes."""
    return (
        f"the longest of {skew.tasks} tasks takes {seconds(skew.longest)}, the median {seconds(skew.median)}"
    )


def _truth(study: Study) -> Iterator[str]:
    recording, truth, replayed = study.recording, study.truth, study.replayed.outcome
    words = f"{truth.executor_seconds:.0f} executor-seconds, at most {counted(truth.most)}"
    yield f"{recording.source}: {recording.name}, {recording.application_id}, Spark {recording.spark_version}"
    yield f"recorded:  {seconds(truth.wall)}, {words}"
    if replayed is None:
        yield f"replayed:  {study.replayed.stopped}"
        return
    yield (
        f"replayed:  {seconds(replayed.wall)}, {replayed.executor_seconds:.0f} executor-seconds, "
        f"at most {counted(replayed.most)}"
    )
    yield (
        f"error:     {study.wall_error:+.1%} wall time, {study.executor_error:+.1%} executor-seconds; "
        "expect at least this error in every prediction below"
    )


def _table(study: Study) -> list[str]:
    priced = study.truth_cost is not None
    spot = priced and study.truth_cost is not None and study.truth_cost.spot is not None
    cost = [f"cost {study.currency}".strip(), *(["on spot"] if spot else [])] if priced else ["core-hours"]
    ranges = ["range"] if any(run.span and range_words(run.span) for run in study.runs) else []
    rows = [["", "wall time", "change", "executor-s", "peak", "idle", *cost, *ranges]]
    rows += [_row(study, run, priced=priced, spot=spot) for run in (study.replayed, *study.runs)]
    widths = [max(len(row[column]) for row in rows if len(row) > column) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=False))
        ).rstrip()
        for row in rows
    ]


def _row(study: Study, run: Run, *, priced: bool, spot: bool) -> list[str]:
    label = f"{run.label} *" if study.best is run else run.label
    outcome, before = run.outcome, study.replayed.outcome
    if outcome is None:
        return [f"{label}: {run.stopped}"]
    change = outcome.wall / before.wall - 1 if before is not None and before.wall > 0 else 0.0
    row = [label, seconds(outcome.wall), f"{change:+.0%}" if run is not study.replayed else ""]
    row += [f"{outcome.executor_seconds:.0f}", str(outcome.most), f"{outcome.idle:.0%}"]
    span = [range_words(run.span)] if run.span is not None and range_words(run.span) else []
    if not priced or run.cost is None:
        return [*row, f"{price(run):.3f}", *span]
    return [*row, _money(run.cost.on_demand), *([_money(run.cost.spot)] if spot else []), *span]


def range_words(span: tuple[float, float]) -> str:
    """Least and most, or "" where people would read the same."""
    least, most = (seconds(value) for value in span)
    return f"{least} to {most}" if least != most else ""


def _money(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _facts(study: Study) -> Iterator[str]:
    facts = study.facts
    if study.best is not None:
        cheaper = price(study.baseline) < price(study.best)
        but = "; the recorded configuration costs less" if cheaper else ""
        yield f"*  best: {study.best.label}, the cheapest that takes at most 10% longer than recorded{but}"
    if any(run.span and range_words(run.span) for run in study.runs):
        yield f"range: {RANGE}"
    least = seconds(facts.critical_path)
    yield f"limit: {counted(facts.limit)}; more are not faster. The minimum wall time is {least}"
    if study.loss is not None:
        yield f"loss: losing an executor halfway through costs {seconds(max(0.0, study.loss))}"
    for skew in facts.skewed:
        yield f"skew: stage {skew.stage} ({skew.name}): {skew_words(skew)}"
    yield from _bullets("advice", study.advice)
    for run in study.runs:
        yield from _bullets(f"unknown: {run.label}", run.remarks)
    yield from _bullets("unknown", study.doubts)


def _bullets(title: str, remarks: Sequence[Remark]) -> Iterator[str]:
    yield from (f"{title}: {remark.text}" for remark in remarks)
