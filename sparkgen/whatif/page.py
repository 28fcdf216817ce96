"""A study as one page of HTML: its drawings are plain SVG, and it loads nothing from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from importlib import resources

from sparkgen.phrases import number_of
from sparkgen.whatif.candidates import counted
from sparkgen.whatif.drawing import Chart, bars, box, escaped
from sparkgen.whatif.remark import Remark
from sparkgen.whatif.study import Run, Study, price
from sparkgen.whatif.text_report import range_words, ranges, row_name, seconds, signed, skew_words

MOST_STAGES = 40
"""The most stages to draw; of more, the longest."""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def text(study: Study) -> str:
    """The page."""
    title = escaped(f"What if: {study.recording.name}")
    style = resources.files("sparkgen.whatif").joinpath("page.css").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{style}</style></head><body>\n"
        + "\n".join(_sections(study))
        + "\n</body></html>\n"
    )


def _sections(study: Study) -> Iterator[str]:
    recording = study.recording
    yield (
        f"<header><h1>{escaped(recording.name)}</h1><p class=soft>{escaped(recording.application_id)}, Spark "
        f"{escaped(recording.spark_version)}, from {escaped(recording.source)}</p></header>"
    )
    yield _cards(study)
    yield "<h2>Executors over time</h2>" + _executors(study)
    yield f"<h2>Wall time and {_cost_name(study)}</h2>" + _frontier(study)
    yield "<h2>All replays</h2>" + _table(study)
    yield "<h2>Stages</h2>" + _stages(study)
    yield "<h2>Executor memory</h2>" + _memory(study)
    yield _list("What to look at", [*_texts(study.advice), *_skew(study)])
    own = [f"{run.label}: {remark.sentence}" for run, _ in study.shown for remark in run.remarks]
    yield _list("What the log does not show", [*own, *_texts(study.doubts)])


def _cards(study: Study) -> str:
    best = study.best
    cards = [
        (seconds(study.truth.wall), "recorded wall time"),
        (signed(study.wall_error), "error of the replay in wall time"),
        (signed(study.executor_error), "error of the replay in executor-seconds"),
        (
            "not known" if study.facts.limit is None else str(study.facts.limit),
            "executors: more are not faster",
        ),
        (seconds(study.facts.critical_path), "minimum wall time, with any number of executors"),
    ]
    if best is not None and best.outcome is not None:
        but = "; the recorded configuration costs less" if study.best_costs_more else ""
        cards.append((seconds(best.outcome.wall), f"best: {best.label}{but}"))
    made = (
        f"<div class=card><b>{escaped(value)}</b><span>{escaped(name)}</span></div>" for value, name in cards
    )
    note = "<p>Every prediction on this page has at least the error of the replay.</p>"
    return f"<div class=cards>{''.join(made)}</div>{note}"


def _cost_name(study: Study) -> str:
    if study.truth_cost is None:
        return "core-hours"
    return escaped(f"cost in {study.currency}" if study.currency else "cost")


def _key(*entries: tuple[str, str], shape: str = "") -> str:
    return (
        f'<div class="key {shape}">'
        + "".join(f"<span><i class={kind}></i>{escaped(name)}</span>" for kind, name in entries)
        + "</div>"
    )


def _executors(study: Study) -> str:
    best = study.best.outcome if study.best else None
    drawn = [(study.truth, "recorded"), (study.replayed.outcome, "replayed"), (best, "best")]
    known = [(outcome, kind) for outcome, kind in drawn if outcome is not None]
    swept = [outcome for _, outcome, _ in study.sweep]
    chart = Chart.of(
        max(outcome.wall for outcome in [*(one for one, _ in known), *swept]),
        max(outcome.most for outcome in [*(one for one, _ in known), *swept]),
    )
    lines = [chart.steps(outcome.executors, outcome.wall, kind) for outcome, kind in known]
    names = [("recorded", "recorded"), ("replayed", "replayed as recorded")]
    names += [("best", f"best: {study.best.label}")] if study.best else []
    slider = _slider(study, chart) if study.sweep else ""
    if slider:
        lines.append('<path id="chosen-line" class="line chosen screen" d=""/>')
    drawing = chart.svg("Registered executors over time", lines, "seconds", "executors")
    return f"{_key(*names)}<div class=wide>{drawing}</div>{slider}"


def _slider(study: Study, chart: Chart) -> str:
    unit = escaped(study.currency) if study.truth_cost else "core-hours"
    data = [
        {
            "words": f"{counted(count)}: {seconds(outcome.wall)}, {cost:.4f} {unit}",
            "path": chart.path(outcome.executors, outcome.wall),
        }
        for count, outcome, cost in study.sweep
    ]
    packed = json.dumps(data).replace("<", "\\u003c")
    script = resources.files("sparkgen.whatif").joinpath("page.js").read_text("utf-8")
    return (
        '<div id="slide" class=screen hidden><label for="count">Fixed number of executors</label><br>'
        f'<input type="range" id="count" min="0" max="{len(data) - 1}" value="{_start(study)}"> '
        '<output id="chosen"></output></div>'
        f'<script type="application/json" id="sweep">{packed}</script><script>{script}</script>'
    )


def _start(study: Study) -> int:
    """The start of the slider: the index of the number of executors nearest to that of the recorded run."""
    counts = [count for count, _, _ in study.sweep]
    return min(range(len(counts)), key=lambda place: abs(counts[place] - study.truth.most))


def _frontier(study: Study) -> str:
    runs = [run for run in (study.replayed, *study.runs) if run.outcome is not None]
    points = [(price(run), run.outcome.wall, run) for run in runs if run.outcome is not None]
    if not points:
        return "<p>No replay finished.</p>"
    chart = Chart.of(max(x for x, _, _ in points), max(y for _, y, _ in points))
    parts = [chart.line(frontier([(x, y) for x, y, _ in points]), "frontier")]
    for x, y, run in sorted(points, key=lambda point: point[2] is study.best):
        kind = "best" if run is study.best else "recorded" if run is study.replayed else "replayed"
        parts.append(chart.point(x, y, kind, f"{run.label}: {seconds(y)}, {x:.4f}"))
        if run is study.best or (run is study.replayed and study.best is None):
            parts.append(chart.label(x, y, run.label))
    key = _key(
        ("recorded", "as recorded"),
        ("replayed", "other configurations"),
        ("best", "best; the line joins the configurations that no other beats in both time and cost"),
        shape="dots",
    )
    drawing = chart.svg("Wall time and cost of each replay", parts, _cost_name(study), "seconds")
    return f"{key}<div class=wide>{drawing}</div>"


def frontier(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points for which no other point is both cheaper and faster, starting with the cheapest."""
    found: list[tuple[float, float]] = []
    for x, y in sorted(set(points)):
        if not found or y < found[-1][1]:
            found.append((x, y))
    return found


def _table(study: Study) -> str:
    spot = study.truth_cost is not None and study.truth_cost.spot is not None
    names = ["", "wall time", _cost_name(study), *(["on spot"] * spot)]
    names += ["executor-seconds", "peak executors", "idle"]
    rows = []
    for run, more in study.shown:
        label = escaped(row_name(run, more))
        if run.outcome is None:
            why = f"<td class=why colspan={len(names) - 1}>{escaped(run.stopped)}</td>"
            rows.append(f"<tr><td>{label}</td>{why}</tr>")
            continue
        outcome = run.outcome
        span = range_words(run.span) if run.span else ""
        wall = f"<td>{escaped(seconds(outcome.wall))}{f'<small>{escaped(span)}</small>' if span else ''}</td>"
        cells = [f"{price(run):.4f}", *([_spot(run)] * spot)]
        cells += [f"{outcome.executor_seconds:.0f}", str(outcome.most), f"{outcome.idle:.0%}"]
        mark = " class=best" if run is study.best else ""
        rest = "".join(f"<td>{escaped(cell)}</td>" for cell in cells)
        rows.append(f"<tr{mark}><td>{label}</td>{wall}{rest}</tr>")
    head = "".join(f"<th scope=col>{name}</th>" for name in names)
    why = escaped("; ".join(ranges(study)))
    note = f"<p class=soft>Below a wall time, its range: {why}.</p>" if why else ""
    body = f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    return f"<div class=wide><table>{body}</table></div>{note}"


def _spot(run: Run) -> str:
    return "-" if run.cost is None or run.cost.spot is None else f"{run.cost.spot:.4f}"


def _stages(study: Study) -> str:
    outcome = study.replayed.outcome or study.truth
    longest = sorted(outcome.stages, key=lambda span: span.began - span.ended)[:MOST_STAGES]
    rows = [
        (
            f"{span.id}{f'.{span.attempt}' if span.attempt else ''} {span.name[:40]}",
            span.began,
            span.ended,
            f"stage {span.id}: {span.name}, {seconds(span.ended - span.began)}",
        )
        for span in sorted(longest, key=lambda span: (span.began, span.id))
    ]
    left = len(outcome.stages) - len(rows)
    note = f"<p class=soft>Not shown: {number_of(left, 'shorter stage')}.</p>" if left else ""
    return f"<div class=wide>{bars(rows, outcome.wall)}</div>{note}"


def _memory(study: Study) -> str:
    facts = study.facts
    if not facts.heap_used:
        asked = f"Executors request {facts.heap_asked} MiB of heap."
        return f"<p>{asked} The log does not show how much they used.</p>"
    chart = Chart.of(max(facts.heap_asked, facts.heap_used), 1, height=112)
    parts = []
    for place, (name, value, kind) in enumerate(
        [("requested", facts.heap_asked, "recorded"), ("peak use", facts.heap_used, "replayed")]
    ):
        top, width = 24 + 24 * place, chart.x(value) - chart.x(0)
        parts.append(box(chart.x(0), top, width, 20, kind))
        inside = width > 200
        at, side = (chart.x(value) - 6, "end") if inside else (chart.x(value) + 6, "start")
        fill = ' style="fill:var(--paper)"' if inside else ""
        parts.append(
            f'<text x="{at:.1f}" y="{top + 15}" text-anchor="{side}"{fill}>{name}: {value} MiB</text>'
        )
    return f"<div class=wide>{chart.svg('Heap requested and used', parts, 'MiB of heap', '')}</div>"


def _texts(remarks: Sequence[Remark]) -> list[str]:
    return [remark.sentence for remark in remarks]


def _skew(study: Study) -> list[str]:
    return [f"stage {one.stage} ({one.name}) is skewed: {skew_words(one)}" for one in study.facts.skewed]


def _list(title: str, sentences: Sequence[str]) -> str:
    if not sentences:
        return ""
    items = "".join(f"<li>{escaped(sentence)}</li>" for sentence in sentences)
    return f"<h2>{title}</h2><ul>{items}</ul>"
