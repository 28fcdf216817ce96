"""`make bench-quota`: what a full quota costs with sparkgen and with Spark's own backend.

A namespace has room for a driver and a third of the wanted executors. Executors' pods go to nodes that kwok
pretends to be: they run at once and stay, so that all that is seen is how often the missing ones are asked
for. API writes are read from the API server's audit log; what waits and runs, from a watch of the pods.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from bench import cluster as bench_cluster
from bench.folders import FOLDER
from bench.pages import Page, by_round
from bench.pod_watch import Pods
from bench.programs import FAKE_ROLE, PI, application, apply_rendered, settings_on_fakes
from cluster import fakes
from cluster.audit import Call
from cluster.handle import Cluster
from cluster.plan import LAYOUT
from common.cachedir import ToolError
from common.command import wait_for

RESULTS = FOLDER / "quota.md"
WANTED = 30
ROOM = 10
FAKE_NODES = 2
WINDOW = 90
"""Seconds that are counted, from the first creation of an executor on."""
STEP = 5
"""Seconds between two points of the series."""
ROW = 15
"""Seconds of a line of the table over time."""
SIDES = ("sparkgen", "native")
WRITES = frozenset({"create", "update", "patch", "delete", "deletecollection"})


@dataclass(frozen=True, slots=True)
class Result:
    """What a side came to, within the window.

    `writes`: by each `STEP` seconds; `pending` and `running`: executors' pods at the end of each.
    """

    writes: list[int]
    refused: int
    pending: list[int]
    running: list[int]


Round = dict[str, Result]
"""By side."""


def main(arguments: list[str] | None = None) -> int:
    """Run the rounds and print the page; keep it with `--write`."""
    options = bench_cluster.parser(__doc__, RESULTS, rounds=2).parse_args(arguments)
    return bench_cluster.measure(
        options,
        RESULTS,
        lambda cluster, home: measured(cluster, home, options.version, options.rounds),
        lambda found: page(found, options.version),
        wanted=WANTED,
        room=ROOM,
        window=WINDOW,
        step=STEP,
    )


def measured(cluster: Cluster, home: Path, version: str, rounds: int) -> list[Round]:
    """The rounds, on fake nodes."""
    sides: dict[str, Callable[[str], Result]] = {
        "sparkgen": partial(_watched, cluster, partial(sparkgen, cluster, version)),
        "native": partial(_watched, cluster, partial(native, cluster, home, version)),
    }
    with fakes.added(FAKE_NODES):
        return bench_cluster.rounds(cluster, sides, rounds, seconds=300)


def sparkgen(cluster: Cluster, version: str, namespace: str) -> None:
    """By `sparkgen render - | kubectl apply -f -`."""
    executor = {**FAKE_ROLE, "instances": WANTED}
    apply_rendered(cluster, application(namespace, version, arguments=["1000"], executor=executor))


def native(cluster: Cluster, home: Path, version: str, namespace: str) -> None:
    """By `spark-submit --master k8s://...` in cluster mode."""
    with settings_on_fakes(namespace, WANTED) as settings:
        bench_cluster.submit_native(cluster, namespace, home, version, settings, (PI, "1000"))


def _watched(cluster: Cluster, submit: Callable[[str], object], namespace: str) -> Result:
    """Submit in a namespace with room for some, and count from the first executor on."""
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "spec": {"hard": {"pods": str(ROOM + 1)}}}
    cluster.apply({**quota, "metadata": {"name": "few", "namespace": namespace}})
    offset = LAYOUT.audit_log.stat().st_size
    executors = Pods(cluster, namespace, "spark-role=executor")
    submit(namespace)
    if not wait_for(lambda: executors.seen, bench_cluster.SECONDS):
        raise ToolError("no executor was created")
    time.sleep(WINDOW + 2)
    executors.close()
    return counted(bench_cluster.calls_since(offset, namespace), executors)


def counted(calls: Iterable[Call], executors: Pods) -> Result:
    """The series of a window that begins with the first try to create an executor."""
    tries = [call for call in calls if bench_cluster.creates_executor(call)]
    began = min(call.time for call in tries)
    ends = [began + timedelta(seconds=STEP * number) for number in range(1, WINDOW // STEP + 1)]
    users = {call.user for call in tries}
    writes = [call.time for call in calls if call.user in users and call.verb in WRITES]

    def at(moment: datetime, times: Iterable[datetime]) -> int:
        return sum(time <= moment for time in times)

    seen = [at(moment, executors.seen.values()) for moment in ends]
    running = [at(moment, executors.running.values()) for moment in ends]
    before = [began - timedelta(days=1), *ends]
    return Result(
        writes=[
            sum(first < moment <= last for moment in writes if moment >= began)
            for first, last in zip(before, ends, strict=False)
        ],
        refused=sum(call.code >= 400 for call in tries if call.time <= ends[-1]),
        pending=[there - ran for there, ran in zip(seen, running, strict=True)],
        running=running,
    )


def page(found: Sequence[Round], version: str) -> str:
    """The page: the rounds and the medians."""
    page = Page(RESULTS.name)
    page.setting(f"Spark {version}, the test cluster of this repository")
    page.rows(
        by_round(
            [
                *(f"{per_minute(one[side]):.0f}" for side in SIDES),
                *(str(one[side].refused) for side in SIDES),
                *(str(one[side].running[-1]) for side in SIDES),
                *(str(max(one[side].pending)) for side in SIDES),
            ]
            for one in found
        )
    )
    ours, theirs = (statistics.median(per_minute(one[side]) for one in found) for side in SIDES)
    page.say("Median: ", f"**{ours:.0f}** writes a minute with sparkgen, **{theirs:.0f}** with Spark alone.")
    page.rows(_over_time(found), number=1)
    page.optional(*GAVE_UP, before="![writes", wanted=any(_gave_up(one["native"]) for one in found))
    return page.text()


GAVE_UP = (
    "Spark's own backend gives up before the end of the measurement, and makes no more attempts.",
    "Spark 4.3 counts a refused creation as a failed executor (`ExecutorPodsAllocator`), and ends the "
    "application when more have failed than `spark.executor.maxNumFailures`, "
    f"which is {2 * WANTED} here.",
    "sparkgen does not count a refusal as a failure, and retries at least every two minutes.",
    "",
)


def _over_time(found: Sequence[Round]) -> Iterable[tuple[str, ...]]:
    """The medians of all rounds, in rows of `ROW` seconds."""
    steps = ROW // STEP
    for first in range(0, WINDOW // STEP, steps):
        last = first + steps - 1
        both = [[one[side] for one in found] for side in SIDES]
        cells = [
            *(
                statistics.median(sum(one.writes[first : last + 1]) * 60 / ROW for one in runs)
                for runs in both
            ),
            *(statistics.median(one.pending[last] for one in runs) for runs in both),
            *(statistics.median(one.running[last] for one in runs) for runs in both),
        ]
        yield f"{first * STEP} to {(last + 1) * STEP}", *(f"{cell:.0f}" for cell in cells)


def _gave_up(result: Result) -> bool:
    """Whether a side asks no more: it has tried often, and not in the last third of the window."""
    return result.refused > 2 * WANTED and not any(result.writes[-len(result.writes) // 3 :])


def per_minute(result: Result) -> float:
    """Writes a minute over the window."""
    return sum(result.writes) * 60 / WINDOW
