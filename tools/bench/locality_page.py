"""The page of `make bench-locality`: what was measured, and how it is told."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bench.pages import opening, table

BLOCK = 128 << 20
EXECUTORS = 2
LEAST = 0.01
"""The smallest ratio that is written."""
SIDES = {"native": "Spark's own backend", "off": "sparkgen without locality", "on": "sparkgen"}
DATA = {"both": "on both nodes", "one": "on one node"}


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured: files of a block on each node, the speed of the nodes' interfaces, rounds."""

    version: str
    files: int
    rate: str
    rounds: int

    def size(self, data: str) -> int:
        """Bytes that are read."""
        return self.files * BLOCK * (2 if data == "both" else 1)


@dataclass(frozen=True, slots=True)
class Scan:
    """One application. `wall` and `scan` are seconds, `remote` bytes that left the nodes meanwhile."""

    wall: float
    scan: float
    remote: int
    local: int
    """Tasks on the node of their data."""
    tasks: Mapping[str, int]
    """By node."""
    executors: Mapping[str, int]
    """Those that had tasks, by node."""
    levels: Sequence[Mapping[str, int]]
    """How near tasks were, by Spark's words, of each stage."""

    @property
    def share(self) -> float:
        """The part of the tasks that ran on the node of their data."""
        return self.local / sum(self.tasks.values())


Round = dict[str, dict[str, Scan]]
"""By where the data is, and by side."""


def median(found: Sequence[Round], data: str, side: str, what: Callable[[Scan], float]) -> float:
    """The median of the rounds."""
    return statistics.median(what(each[data][side]) for each in found)


def page(found: Sequence[Round], plan: Plan) -> str:
    """The page of results."""
    speed = (
        f"interfaces of {plan.rate.replace('gbit', ' Gbit/s')}" if plan.rate else "interfaces without a limit"
    )
    gigabytes = f"{plan.size('both') / 2**30:g}"
    parts = (
        "\n".join(
            opening(
                "A scan of HDFS on the cluster's nodes",
                "This page compares the time, the remote bytes and the local tasks of a scan with sparkgen, "
                "with sparkgen without locality, and with Spark's own backend.",
                f"Spark {plan.version}, the test cluster of two nodes with {speed}",
                *("bench-locality", "locality"),
            )
        )
        + "\n"
        f"An HDFS with a DataNode on each node contains {gigabytes} GiB of text.\n"
        "Each file is one block of 128 MiB with one replica, and one task of the job reads it.\n"
        "The job counts the lines of all files, or of the files on one node.\n"
        "Dynamic allocation uses 0 to 2 executors of one core.\n"
        "In each round, the sides run one after another.\n"
        "Compare ratios: machines differ, and so do networks.",
        "\n\n".join(_results(found, data) for data in DATA),
        table(_medians(found)),
        MEANING,
        "Remote bytes make a job slower only if the network is the bottleneck.\n"
        "Here, HDFS, the nodes and the executors share a few cores, so other work on the machine changes the "
        "times; it does not change the bytes.\n"
        "With locality, sparkgen requests executors on the nodes with the data.\n"
        "On the other two sides, chance decides on which nodes the executors start, so the share of local "
        "tasks can differ much from round to round.",
        "## Where executors and tasks were",
        "The numbers are totals of all rounds.\n"
        "The *scan* is the stage that reads the files; the *last stage* comes after the shuffle, and adds up "
        "the counted lines.",
        table(_places(found)),
        "## The rounds",
        table(_rounds(found)),
    )
    return "\n\n".join(parts) + "\n"


MEANING = "\n".join(
    (
        "- *Local* is the share of the tasks that ran on the node of their data.",
        "- *Remote* counts the bytes that the nodes' interfaces sent: data, and a little of drivers and "
        "kubelets.",
        "- *Scan* is the time from the start of the first task to the end of the last one.",
        "- *Wall* is the time from the command until the driver's pod succeeded.",
    )
)


def _results(found: Sequence[Round], data: str) -> str:
    ours, theirs = (median(found, data, side, lambda scan: scan.remote) for side in ("on", "native"))
    times = [each[data]["on"].scan / each[data]["native"].scan for each in found]
    return (
        f"**With the data {DATA[data]}, sparkgen reads {_part(ours / theirs)} of the remote bytes of Spark's "
        f"own backend, in {statistics.median(times):.2f} of the time**.\n"
        f"These are medians of {len(found)} rounds; in single rounds, the scan takes {min(times):.2f} to "
        f"{max(times):.2f} of the time."
    )


def _part(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio >= LEAST else f"less than {LEAST}"


def _medians(found: Sequence[Round]) -> list[Sequence[str]]:
    rows: list[Sequence[str]] = [("data", "side", "local", "remote", "scan", "wall")]
    for data, where in DATA.items():
        for side, name in SIDES.items():
            share, remote, scan, wall = (
                median(found, data, side, what)
                for what in (lambda s: s.share, lambda s: s.remote, lambda s: s.scan, lambda s: s.wall)
            )
            rows.append((where, name, f"{share:.0%}", _megabytes(remote), f"{scan:.1f} s", f"{wall:.0f} s"))
    return rows


def _places(found: Sequence[Round]) -> list[Sequence[str]]:
    columns = ("data", "side", "executors", "tasks", "locality of the scan", "locality of the last stage")
    rows: list[Sequence[str]] = [columns]
    for data, where in DATA.items():
        for side, name in SIDES.items():
            scans = [each[data][side] for each in found]
            levels = [_sum(scan.levels[stage] for scan in scans) for stage in (0, -1)]
            executors, tasks = _sum(s.executors for s in scans), _sum(s.tasks for s in scans)
            places = (_counts(each, "on ") for each in (executors, tasks))
            rows.append((where, name, *places, *map(_counts, levels)))
    return rows


def _rounds(found: Sequence[Round]) -> list[Sequence[str]]:
    rows: list[Sequence[str]] = [("round", "data", "side", "local", "remote", "scan", "wall")]
    for number, each in enumerate(found, start=1):
        for data, where in DATA.items():
            for side, name in SIDES.items():
                scan = each[data][side]
                seconds = (f"{scan.scan:.1f} s", f"{scan.wall:.0f} s")
                rows.append(
                    (str(number), where, name, f"{scan.share:.0%}", _megabytes(scan.remote), *seconds)
                )
    return rows


def _sum(counts: Iterable[Mapping[str, int]]) -> Mapping[str, int]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return total


def _counts(counts: Mapping[str, int], before: str = "") -> str:
    return ", ".join(f"{number} {before}{name}" for name, number in sorted(counts.items()))


def _megabytes(size: float) -> str:
    return f"{size / 2**20:.0f} MiB"
