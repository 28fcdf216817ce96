"""`make bench-plots`: draws the benchmarks' results (docs/benchmarks/*.json) as charts in the same folder.

The pictures hold no date and no chance: the same numbers give the same bytes.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.folders import FOLDER

if TYPE_CHECKING:  # slow to load, and only a drawing needs it
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OURS, OTHER, PLAIN = "#1b6ca8", "#c0603a", "#8a8f98"
COLORS = {"sparkgen": OURS, "raw client": PLAIN}
"""By the first word of a side's name, or all of it; every other is OTHER."""
STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "svg.hashsalt": "sparkgen",
}

Runs = Sequence[Mapping[str, Any]]


def main(arguments: list[str] | None = None) -> int:
    """Draw all that is there; 2 when nothing is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--folder",
        type=Path,
        default=FOLDER,
        help="folder to read the numbers from, and to write the charts to",
    )
    options = parser.parse_args(arguments)
    there = [name for name in DRAWS if (options.folder / f"{name}.json").is_file()]
    if not there:
        print(f"error: {options.folder} contains none of {', '.join(DRAWS)} (.json)", file=sys.stderr)
        return 2
    for name in there:
        draw(name, options.folder)
    return 0


def draw(name: str, folder: Path) -> None:
    """Draw a file of numbers, if that is one that has a picture."""
    import matplotlib as mpl  # noqa: PLC0415 - as above

    if name in DRAWS:
        data = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        with mpl.rc_context(STYLE):
            _save(DRAWS[name](data), folder / f"{name}.svg")


def _save(figure: Figure, path: Path) -> None:
    """Write the picture."""
    figure.savefig(path, metadata={"Date": None}, dpi=110)
    # No spaces at the ends of lines: git would complain.
    text = "\n".join(line.rstrip() for line in path.read_text(encoding="utf-8").splitlines())
    path.write_text(text + "\n", encoding="utf-8")
    print(path)


# --- the pictures -----------------------------------------------------------------------------------


def executors(data: Mapping[str, Mapping[str, Runs]]) -> Figure:
    """Seconds until all are created, and all run: a part for each number of executors."""
    figure, parts = _parts(len(data), 2.2)
    for part, (count, sides) in zip(parts, data.items(), strict=True):
        known = {name: runs for name, runs in sides.items() if runs}
        for what, alpha in (("running", 0.35), ("created", 1.0)):
            values = {
                name: [run[what] for run in runs if run[what] is not None] for name, runs in known.items()
            }
            _bars(part, {name: found for name, found in values.items() if found}, alpha=alpha, says=what)
        part.set_title(f"{int(count):,} executors", loc="left")
        part.set_xlabel("seconds: all created (dark), all Running (light)")
    return figure


def submissions(data: Mapping[str, Any]) -> Figure:
    """Seconds until all drivers run, on a logarithmic axis."""
    title = f"{data['applications']} applications applied at once"
    labels = {
        "running": "seconds until all drivers run (logarithmic)",
        "cpu": "seconds of CPU for it (logarithmic)",
    }
    figure, parts = _compared(data, 0.7 + 0.4 * len(data["rounds"][0]), title, labels)
    for part in parts:
        part.set_xscale("log")
        part.set_xlim(left=0.1)
    return figure


def dynamic(data: Mapping[str, Any]) -> Figure:
    """Wall and executor-seconds of the shuffle."""
    labels = {"wall": "seconds from the command to the end", "executor_seconds": "executor-seconds"}
    return _compared(data, 1.5, "a two-stage shuffle with dynamic allocation", labels)[0]


def quota(data: Mapping[str, Any]) -> Figure:
    """API writes and executors' pods over time, at a quota that holds a third of what is wanted."""
    figure, (writes, pods) = _parts(2, 2.0)
    step = data["step"]
    for name, runs in _sides(data["rounds"]).items():
        color = COLORS.get(name, OTHER)
        for number, run in enumerate(runs):
            times = [step * (index + 1) for index in range(len(run["writes"]))]
            label = name if number == 0 else None
            per_minute = [count * 60 / step for count in run["writes"]]
            writes.plot(times, per_minute, color=color, label=label, linewidth=1.4)
            words, width = (
                label and f"{name}: running",
                4.0 if name == "sparkgen" else 1.4,
            )  # one hides no other
            pods.plot(times, run["running"], color=color, label=words, linewidth=width)
            words = label and f"{name}: pending"
            pods.plot(times, run["pending"], color=color, label=words, linewidth=width, linestyle=":")
    writes.set_title(f"room for {data['room']} of {data['wanted']} executors", loc="left")
    writes.set_ylabel("API writes a minute")
    pods.set_ylabel("executors' pods")
    pods.set_xlabel("seconds since the first executor was requested")
    writes.legend(fontsize=8, frameon=False)
    pods.legend(fontsize=8, frameon=False, loc="center right")
    for part in (writes, pods):
        part.set_ylim(bottom=0)
    return figure


def pi(data: Mapping[str, Any]) -> Figure:
    """Wall of pi."""
    return _compared(data, 1.7, "pi with two executors", {"wall": "seconds from the command to the end"})[0]


def sessions(data: Mapping[str, Any]) -> Figure:
    """Seconds to the first result: what begins with nothing, and sessions of a server that is up."""
    sides = _sides(data["rounds"])
    parts: dict[str, dict[str, list[float]]] = {"started from nothing": {}, "the server is up": {}}
    for name, runs in sides.items():
        title = "the server is up" if ", warm, " in name else "started from nothing"
        parts[title][name] = [run["wall"] for run in runs]
    figure, drawn = _parts(len(parts), 0.7 + 0.3 * max(map(len, parts.values())))
    most = max(max(found) for values in parts.values() for found in values.values())
    for part, (title, values) in zip(drawn, parts.items(), strict=True):
        _bars(part, values)
        part.set_title(f"a session's first result: {title}", loc="left")
        part.set_xlim(0, most * 1.1)
    drawn[-1].set_xlabel("seconds from the command, or the client's start")
    return figure


def scale(data: Mapping[str, Any]) -> Figure:
    """What a round costs, and the memory, by the number of executors."""
    figure = _figure(3.0)
    cost, memory = figure.subplots(1, 2)
    rows = data["rows"]
    sizes = [row["executors"] for row in rows]
    lines = (("decide_ms", "decide", 1.0), ("snapshot_ms", "snapshot", 1.0), ("event_us", "one event", 1e-3))
    for (name, title, factor), color in zip(lines, (OURS, OTHER, PLAIN), strict=True):
        cost.plot(sizes, [row[name] * factor for row in rows], marker="o", color=color, label=title)
    cost.set(xscale="log", yscale="log", xlabel="executors", ylabel="milliseconds")
    cost.set_title("a round of the loop", loc="left")
    cost.legend(frameon=False)
    lives = data["lives"]
    counts = [one["executors"] for one in lives]
    memory.plot(counts, [one["memory_most"] for one in lives], marker="o", color=OURS)
    memory.set(xlabel="executors", ylabel="MiB", ylim=(0, None), xlim=(0, None))
    memory.set_title("the allocator's peak memory", loc="left")
    return figure


def shuffle(data: Mapping[str, Any]) -> Figure:
    """Executors over time in the round in the middle: a strip for each side."""
    both, most = typical(data["rounds"]), data["job"]["executors"]
    figure = _figure(3.6, width=8.0)
    strips = figure.subplots(2, 1, sharex=True, sharey=True)
    colors = {"tracking": "#b0552f", "service": "#2f6fb0"}
    names = {"tracking": "with shuffle tracking", "service": "with the shuffle service"}
    for strip, (side, color) in zip(strips, colors.items(), strict=True):
        moments, counts = zip(*both[side]["samples"], strict=True)
        strip.fill_between(moments, counts, step="post", color=color, alpha=0.8, linewidth=0)
        seconds = area(both[side]["samples"])
        strip.set_title(f"{names[side]}: {seconds:.0f} executor-seconds", loc="left", fontsize=10)
        strip.set_yticks(range(most + 1))
        strip.set_ylim(0, most + 0.3)
        strip.set_ylabel("executors")
    strips[-1].set_xlabel("seconds since the application was submitted")
    strips[-1].set_xlim(0, max(run["wall"] for run in both.values()))
    return figure


def typical(rounds: Runs) -> Mapping[str, Any]:
    """The round in the middle, by the service's executor-seconds over shuffle tracking's."""
    shares = {
        number: area(both["service"]["samples"]) / area(both["tracking"]["samples"])
        for number, both in enumerate(rounds)
    }
    return rounds[sorted(shares, key=shares.__getitem__)[(len(rounds) - 1) // 2]]


def area(samples: Sequence[tuple[float, int]]) -> float:
    """The area below samples (moment, count), each of which holds until the next."""
    return sum(count * (later - moment) for (moment, count), (later, _) in pairwise(samples))


DRAWS: Mapping[str, Callable[[Any], Figure]] = {
    "executors": executors,
    "submissions": submissions,
    "dynamic": dynamic,
    "pi": pi,
    "quota": quota,
    "sessions": sessions,
    "scale": scale,
    "shuffle": shuffle,
}
"""By the name of the file of numbers."""


# --- parts of pictures ------------------------------------------------------------------------------


def _figure(height: float, width: float = 7.2) -> Figure:
    """An empty picture of so many inches."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - as above

    return Figure(figsize=(width, height), layout="constrained")


def _parts(count: int, height: float) -> tuple[Figure, list[Axes]]:
    figure = _figure(height * count)
    return figure, list(figure.subplots(count, 1, squeeze=False)[:, 0])


def _compared(
    data: Mapping[str, Any], height: float, title: str, labels: Mapping[str, str]
) -> tuple[Figure, list[Axes]]:
    """Bars of the sides: a part for each number of a run, with its label."""
    figure, parts = _parts(len(labels), height)
    for part, (what, label) in zip(parts, labels.items(), strict=True):
        _bars(part, {name: [run[what] for run in runs] for name, runs in _sides(data["rounds"]).items()})
        part.set_xlabel(label)
    parts[0].set_title(title, loc="left")
    return figure, parts


def _sides(rounds: Runs) -> dict[str, list[Mapping[str, Any]]]:
    """The runs of each side, of rounds that name them."""
    return {name: [pair[name] for pair in rounds] for name in rounds[0]}


def _bars(part: Axes, values: Mapping[str, Sequence[float]], *, alpha: float = 1.0, says: str = "") -> None:
    """A bar for each side: its median, with a line from its least to its most, the first side on top."""
    for name, found in values.items():
        middle = statistics.median(found)
        color = COLORS.get(name) or COLORS.get(re.split("[ ']", name)[0], OTHER)
        part.barh(name, middle, color=color, alpha=alpha, height=0.6, zorder=2)
        if says != "created":
            part.plot([min(found), max(found)], [name, name], color="#333333", linewidth=1, zorder=3)
            part.annotate(f" {middle:.1f}", (max(found), name), va="center", fontsize=8)
    part.set_ylim(len(values) - 0.5, -0.5)
