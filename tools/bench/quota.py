"""`make bench-quota`: what a full quota costs with sparkgen and with Spark's own backend.

A namespace has room for a driver and a third of the wanted executors. Executors' pods go to nodes that kwok
pretends to be: they run at once and stay, so that all that is seen is how often the missing ones are asked
for. API writes are read from the API server's audit log; what waits and runs, from a watch of the pods.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from bench import cluster as bench_cluster
from bench.pages import FOLDER, by_round, opening, table
from bench.pod_watch import Pods
from bench.programs import PI, ROLE, application, apply_rendered
from cluster import audit, fakes
from cluster.audit import Call
from cluster.handle import Cluster
from cluster.plan import LAYOUT
from common.cachedir import ToolError

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
SELECTOR = {"type": "kwok"}
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


Rounds = list[tuple[Result, Result]]


def main(arguments: list[str] | None = None) -> int:
    """Run the rounds and print the page; keep it with `--write`."""
    options = bench_cluster.parser(__doc__, RESULTS, rounds=2).parse_args(arguments)
    version = options.version
    found = bench_cluster.measured(
        options,
        RESULTS,
        lambda cluster, home: measured(cluster, home, version, options.rounds),
        lambda found: page(found, version),
        lambda found: [{"sparkgen": asdict(ours), "native": asdict(theirs)} for ours, theirs in found],
        wanted=WANTED,
        room=ROOM,
        window=WINDOW,
        step=STEP,
    )
    return 1 if found is None else 0


def measured(cluster: Cluster, home: Path, version: str, rounds: int) -> Rounds:
    """Pairs of results."""
    sides: tuple[Callable[[str], Result], ...] = (
        partial(_watched, cluster, partial(sparkgen, cluster, version)),
        partial(_watched, cluster, partial(native, cluster, home, version)),
    )
    fakes.add(FAKE_NODES)
    try:
        pairs = []
        for number in range(rounds):
            ours, theirs = (bench_cluster.in_namespace(cluster, side, seconds=300) for side in sides)
            print(f"round {number + 1}: sparkgen {ours}, native {theirs}", file=sys.stderr, flush=True)
            pairs.append((ours, theirs))
        return pairs
    finally:
        fakes.remove()


def sparkgen(cluster: Cluster, version: str, namespace: str) -> None:
    """By `sparkgen render - | kubectl apply -f -`."""
    executor = {
        **ROLE,
        "coreRequest": "10m",
        "instances": WANTED,
        "nodeSelector": SELECTOR,
        "tolerations": [fakes.TAINT],
    }
    apply_rendered(cluster, application(namespace, version, arguments=["1000"], executor=executor))


def native(cluster: Cluster, home: Path, version: str, namespace: str) -> None:
    """By `spark-submit --master k8s://...` in cluster mode."""
    template = LAYOUT.root / f"{namespace}.yaml"
    template.write_text(json.dumps({"spec": {"tolerations": [fakes.TAINT]}}))
    settings = {
        "spark.executor.instances": str(WANTED),
        "spark.kubernetes.executor.request.cores": "10m",
        "spark.kubernetes.executor.podTemplateFile": str(template),
        **{f"spark.kubernetes.executor.node.selector.{key}": text for key, text in SELECTOR.items()},
    }
    program = (PI, "1000")
    try:
        bench_cluster.submit_native(cluster, namespace, home, version, settings, program)
    finally:
        template.unlink()


def _watched(cluster: Cluster, submit: Callable[[str], object], namespace: str) -> Result:
    """Submit in a namespace with room for some, and count from the first executor on."""
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "spec": {"hard": {"pods": str(ROOM + 1)}}}
    cluster.apply({**quota, "metadata": {"name": "few", "namespace": namespace}})
    offset = LAYOUT.audit_log.stat().st_size
    executors = Pods(cluster, namespace, "spark-role=executor")
    submit(namespace)
    deadline = time.monotonic() + bench_cluster.SECONDS
    while not executors.seen:
        if time.monotonic() > deadline:
            raise ToolError("no executor was created")
        time.sleep(0.2)
    time.sleep(WINDOW + 2)
    executors.close()
    with LAYOUT.audit_log.open() as lines:
        lines.seek(offset)
        calls = [call for call in audit.parse(lines) if call.namespace == namespace]
    return counted(calls, executors)


def counted(calls: Iterable[Call], executors: Pods) -> Result:
    """The series of a window that begins with the first try to create an executor."""
    tries = [call for call in calls if _is_try(call)]
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


def _is_try(call: Call) -> bool:
    """An executor's creation, whatever came of it; a driver is created by others."""
    return (call.verb, call.resource, call.subresource) == ("create", "pods", "") and "-exec-" in call.name


def page(found: Rounds, version: str) -> str:
    """The page: the rounds and the medians."""
    lines = [
        *opening(
            "A full quota",
            "This page compares how many API calls a full quota causes with sparkgen and with Spark's own "
            "backend (*native*).",
            f"Spark {version}, the test cluster of this repository",
            *("bench-quota", "quota"),
        ),
        f"A ResourceQuota of {ROOM + 1} pods leaves room for {ROOM} of {WANTED} executors.",
        f"The benchmark counts calls for {WINDOW} s from the first attempt to create an executor.",
        "The nodes are fake nodes of kwok, and both sides have their defaults.",
        "",
        "- *Writes* are calls that change something, or try to; the API server must check each of them "
        "against the quota.",
        "- *Refused* are creations that the full quota refused.",
        "- *Ran* counts the executors that have started to run so far, even if they have ended since.",
        "- *Pending* counts the executors that were created, but have not run yet.",
        "",
    ]
    columns = _of_both("writes a minute", "refused", "executors that ran", "pending, at most")
    rows = by_round(
        [
            *(f"{per_minute(one):.0f}" for one in pair),
            *(str(one.refused) for one in pair),
            *(str(one.running[-1]) for one in pair),
            *(str(max(one.pending)) for one in pair),
        ]
        for pair in found
    )
    lines.append(table([("round", *columns), *rows]))
    medians = [statistics.median(per_minute(pair[side]) for pair in found) for side in (0, 1)]
    told = f"**{medians[0]:.0f}** writes a minute with sparkgen, **{medians[1]:.0f}** with Spark alone."
    lines += ["", f"Median: {told}"]
    lines += ["", *_over_time(found)]
    if any(_gave_up(theirs) for _, theirs in found):
        lines += [
            "",
            "Spark's own backend gives up before the end of the measurement, and makes no more attempts.",
            "Spark 4.3 counts a refused creation as a failed executor (`ExecutorPodsAllocator`), "
            "and ends the application when more have failed than `spark.executor.maxNumFailures`, "
            f"which is {2 * WANTED} here.",
            "sparkgen does not count a refusal as a failure, and retries at least every two minutes.",
        ]
    return "\n".join([*lines, "", "![writes and pods over time](quota.svg)"]) + "\n"


def _of_both(*columns: str) -> list[str]:
    """Each column twice: of sparkgen, and of Spark's own backend."""
    return [f"{column}: {side}" for column in columns for side in ("sparkgen", "native")]


def _over_time(found: Rounds) -> list[str]:
    """A table of the medians of all rounds, in lines of `ROW` seconds."""
    lines = [
        "## Over time",
        "",
        "These are medians of the rounds; the pods are counted at the end of each interval.",
        "",
    ]
    rows = [("seconds", *_of_both("writes a minute", "pending", "ran"))]
    steps = ROW // STEP
    for first in range(0, WINDOW // STEP, steps):
        last = first + steps - 1
        both = [[pair[side] for pair in found] for side in (0, 1)]
        cells = [
            *(
                statistics.median(sum(one.writes[first : last + 1]) * 60 / ROW for one in runs)
                for runs in both
            ),
            *(statistics.median(one.pending[last] for one in runs) for runs in both),
            *(statistics.median(one.running[last] for one in runs) for runs in both),
        ]
        rows.append((f"{first * STEP} to {(last + 1) * STEP}", *(f"{cell:.0f}" for cell in cells)))
    lines += [
        table(rows),
        "",
        "No pod is pending: a full quota refuses a pod before it exists, and accepted pods run at once.",
    ]
    return lines


def _gave_up(result: Result) -> bool:
    """Whether a side asks no more: it has tried often, and not in the last third of the window."""
    return result.refused > 2 * WANTED and not any(result.writes[-len(result.writes) // 3 :])


def per_minute(result: Result) -> float:
    """Writes a minute over the window."""
    return sum(result.writes) * 60 / WINDOW
