"""A study as text for people: first the recorded run, then a table, then findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sparkgen.terminal import visible
from sparkgen.whatif.candidates import counted
from sparkgen.whatif.findings import Skew
from sparkgen.whatif.remark import Remark, RemarkCode
from sparkgen.whatif.study import RangeCause, Run, Study, price

RANGE = "how long tasks take on executors of another size is not known: this is an assumption"
RANGES = {
    RangeCause.EXECUTOR_SIZE: RANGE,
    RangeCause.TASKS_FOLLOW_CORES: (
        "stages that had as many tasks as there were cores may have as many as there are then"
    ),
}


def text(study: Study) -> str:
    """The report. A name from a log cannot start a new line."""
    lines = [*_truth(study), "", *_table(study), "", *_facts(study)]
    return "".join(f"{visible(line)}\n" for line in lines)


def seconds(value: float) -> str:
    """Seconds as people read them: 4.2 s, 3 m 05 s, 2 h 10 m."""
    if value < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} m {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} m"


def signed(error: float | None) -> str:
    """A relative error in percent; "not known" if there is no replay."""
    return "not known" if error is None else f"{error:+.1%}"


def limit_words(limit: int | None) -> str:
    """The number of executors that are useful, in words."""
    return "not known, as no replay ends" if limit is None else f"{counted(limit)}; more are not faster"


def skew_words(skew: Skew) -> str:
    """The longest and the median task of a stage, in words."""
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
        f"error:     {signed(study.wall_error)} wall time, {signed(study.executor_error)} executor-seconds; "
        "expect at least this error in every prediction below"
    )
    yield from (
        f"doubt:     {remark.sentence}" for remark in study.doubts if remark.code is RemarkCode.LARGE_ERROR
    )


def _table(study: Study) -> list[str]:
    priced = study.truth_cost is not None
    spot = priced and study.truth_cost is not None and study.truth_cost.spot is not None
    cost = [f"cost {study.currency}".strip(), *(["on spot"] if spot else [])] if priced else ["core-hours"]
    ranges = ["range"] if any(run.span and range_words(run.span) for run in study.runs) else []
    rows = [["", "wall time", "change", "executor-s", "peak", "idle", *cost, *ranges]]
    rows += [_row(study, run, more, priced=priced, spot=spot) for run, more in study.shown]
    whole = [row for row in rows if len(row) > 1]  # the other rows say why there is no result
    widths = [max(len(row[column]) for row in whole if len(row) > column) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=False))
        ).rstrip()
        for row in rows
    ]


def row_name(run: Run, more: int) -> str:
    """The label of a run, and the number of others of a search with the same result."""
    return f"{run.label} (and {more} more)" if more else run.label


def _row(study: Study, run: Run, more: int, *, priced: bool, spot: bool) -> list[str]:
    label = f"{row_name(run, more)} *" if study.best is run else row_name(run, more)
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


def ranges(study: Study) -> list[str]:
    """Why there are ranges, in words; [] if no range is visible."""
    causes = {cause for run in study.runs if run.span and range_words(run.span) for cause in run.span_causes}
    return [words for cause, words in RANGES.items() if cause in causes]


def range_words(span: tuple[float, float]) -> str:
    """The least and the most time in words, or "" if both look the same."""
    least, most = (seconds(value) for value in span)
    return f"{least} to {most}" if least != most else ""


def _money(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _facts(study: Study) -> Iterator[str]:
    facts = study.facts
    if study.best is not None:
        but = "; the recorded configuration costs less" if study.best_costs_more else ""
        yield f"*  best: {study.best.label}, the cheapest that takes at most 10% longer than recorded{but}"
    yield from (f"range: {words}" for words in ranges(study))
    least = seconds(facts.critical_path)
    yield f"limit: {limit_words(facts.limit)}. The minimum wall time is {least}"
    if study.loss is not None:
        yield f"loss: losing an executor halfway through costs {seconds(max(0.0, study.loss))}"
    for skew in facts.skewed:
        yield f"skew: stage {skew.stage} ({skew.name}): {skew_words(skew)}"
    yield from _bullets("advice", study.advice)
    for run, _ in study.shown:
        yield from _bullets(f"unknown: {run.label}", run.remarks)
    own = [remark for remark in study.doubts if remark.code is not RemarkCode.LARGE_ERROR]
    yield from _bullets("unknown", own)


def _bullets(title: str, remarks: Sequence[Remark]) -> Iterator[str]:
    yield from (f"{title}: {remark.sentence}" for remark in remarks)
