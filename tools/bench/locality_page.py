"""The page of `make bench-locality`: what was measured, and how it is told."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bench.pages import Page

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
    speed = f"of {plan.rate.replace('gbit', ' Gbit/s')}" if plan.rate else "without a limit"
    page = Page("locality.md")
    page.setting(f"Spark {plan.version}, the test cluster of two nodes with interfaces {speed}")
    gigabytes = f"{plan.size('both') / 2**30:g}"
    page.say("An HDFS with a DataNode on each node contains ", f"{gigabytes} GiB of text.")
    for data, where in DATA.items():
        ours, theirs = (median(found, data, side, lambda scan: scan.remote) for side in ("on", "native"))
        times = [each[data]["on"].scan / each[data]["native"].scan for each in found]
        page.say(
            f"**With the data {where}, sparkgen reads ",
            f"{_part(ours / theirs)} of the remote bytes of Spark's own backend, "
            f"in {statistics.median(times):.2f} of the time**.\n"
            f"These are medians of {len(found)} rounds; in single rounds, the scan takes {min(times):.2f} to "
            f"{max(times):.2f} of the time.",
            lines=2,
        )
    page.rows(_medians(found))
    page.rows(_places(found), number=1)
    page.rows(_rounds(found), number=2)
    return page.text()


def _part(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio >= LEAST else f"less than {LEAST}"


def _medians(found: Sequence[Round]) -> Iterator[Sequence[str]]:
    for data, side, names in _cases():
        share, remote, scan, wall = (
            median(found, data, side, what)
            for what in (lambda s: s.share, lambda s: s.remote, lambda s: s.scan, lambda s: s.wall)
        )
        yield *names, f"{share:.0%}", _megabytes(remote), f"{scan:.1f} s", f"{wall:.0f} s"


def _places(found: Sequence[Round]) -> Iterator[Sequence[str]]:
    for data, side, names in _cases():
        scans = [each[data][side] for each in found]
        levels = [_sum(scan.levels[stage] for scan in scans) for stage in (0, -1)]
        executors, tasks = _sum(s.executors for s in scans), _sum(s.tasks for s in scans)
        yield *names, _counts(executors, "on "), _counts(tasks, "on "), *map(_counts, levels)


def _rounds(found: Sequence[Round]) -> Iterator[Sequence[str]]:
    for number, each in enumerate(found, start=1):
        for data, side, names in _cases():
            scan = each[data][side]
            seconds = (f"{scan.scan:.1f} s", f"{scan.wall:.0f} s")
            yield str(number), *names, f"{scan.share:.0%}", _megabytes(scan.remote), *seconds


def _cases() -> Iterator[tuple[str, str, tuple[str, str]]]:
    """Where the data is and a side, as in a round, and as the page names them."""
    for data, where in DATA.items():
        yield from ((data, side, (where, name)) for side, name in SIDES.items())


def _sum(counts: Iterable[Mapping[str, int]]) -> Mapping[str, int]:
    total: Counter[str] = Counter()
    for each in counts:
        total.update(each)
    return total


def _counts(counts: Mapping[str, int], before: str = "") -> str:
    return ", ".join(f"{number} {before}{name}" for name, number in sorted(counts.items()))


def _megabytes(size: float) -> str:
    return f"{size / 2**20:.0f} MiB"
