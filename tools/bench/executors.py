"""`make bench-executors`: how fast executors start: sparkgen, Spark's own backend and a raw client.

The executors' pods go to nodes that kwok pretends to be, so that creation is measured, and not the machine
that would run them. Drivers are real. All sides run in turn, round after round. Creations are read from the
API server's audit log, and a watch of the pods shows when they are Running.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from bench import cluster as bench_cluster
from bench.folders import FOLDER, ROOT
from bench.pages import Page, median, show, table
from bench.pod_watch import Pods
from bench.programs import FAKE_ROLE, application, apply_rendered, settings_on_fakes
from cluster import accounts, fakes, network, requirements
from cluster.handle import Cluster
from cluster.plan import API_SERVER, LAYOUT, NAME
from common.cachedir import ToolError
from common.command import run, tells_errors, wait_for
from common.process_usage import cpu_seconds, most_memory
from spark import spark_home
from sparkgen import contract

RESULTS = FOLDER / "executors.md"
DATA = RESULTS.with_suffix(".json")
RAW_THREADS = 16
FAKE_NODES = 10
SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Result:
    """What one side came to: seconds from the first creation, calls per executor, seconds of CPU, MiB."""

    created: float
    running: float | None
    calls: dict[str, int]
    api_server_cpu: float
    allocator_cpu: float | None = None
    allocator_memory: float | None = None


@dataclass(frozen=True, slots=True)
class Bench:
    """What a side needs. `count`: executors."""

    cluster: Cluster
    home: Path
    version: str
    count: int


Side = Callable[[Bench, str], Result]
Sides = dict[str, list[Result]]
"""The results of all rounds, by side."""


@tells_errors
def main(arguments: list[str] | None = None) -> int:
    """Run the rounds and print the page; keep it with `--write`."""
    parser = bench_cluster.parser(__doc__, RESULTS, rounds=3)
    parser.add_argument(
        "--executors",
        type=int,
        nargs="+",
        default=[300, 1000],
        help="numbers of executors (default 300 1000)",
    )
    options = parser.parse_args(arguments)
    requirements.check()
    home = spark_home.ensure(options.version)
    with bench_cluster.held("make bench-executors", options.version) as cluster, fakes.added(FAKE_NODES):
        found = {
            count: rounds(Bench(cluster, home, options.version, count), options.rounds)
            for count in options.executors
        }
    if options.write:
        found = {**kept(), **found}
    data = {str(count): sides for count, sides in found.items()}
    show(RESULTS, page(found, options.version), data, write=options.write)
    return 0


def rounds(bench: Bench, count: int) -> Sides:
    """The results of each side, in the order of the rounds."""
    sides = {name: partial(side, bench) for name, side in SIDES.items()}
    title = f"{bench.count} executors, "
    found = bench_cluster.rounds(bench.cluster, sides, count, title, seconds=600)
    return {name: [one[name] for one in found] for name in sides}


# --- the sides --------------------------------------------------------------------------------------


def sparkgen(bench: Bench, namespace: str) -> Result:
    """A static application of so many executors, as it is rendered."""
    meter = Meter.start(bench.cluster, namespace, bench.count)
    apply(bench, namespace, bench.count)
    meter.wait()
    return meter.result(allocator_of(namespace))


def apply(bench: Bench, namespace: str, count: int) -> None:
    """Apply an application with a real driver that begins with so many executors."""
    spec: dict[str, Any] = (
        {"executor": {**FAKE_ROLE, "instances": count}}
        if count
        else {
            "executor": FAKE_ROLE,
            "dynamicAllocation": {"enabled": True, "initialExecutors": 0, "maxExecutors": 1},
        }
    )
    apply_rendered(bench.cluster, application(namespace, bench.version, **spec))


def native(conf: dict[str, str]) -> Side:
    """Spark's own backend with further settings."""

    def submit(bench: Bench, namespace: str) -> Result:
        meter = Meter.start(bench.cluster, namespace, bench.count)
        with settings_on_fakes(namespace, bench.count) as settings:
            bench_cluster.submit_native(
                bench.cluster, namespace, bench.home, bench.version, {**settings, **conf}
            )
            meter.wait()
        return meter.result(None)

    return submit


def raw(bench: Bench, namespace: str) -> Result:
    """As many pods by the same library, with the same bodies and an open watch, and nothing else.

    A driver starts beside it, as it does beside the others: it takes as much of the machine here as there.
    """
    token = accounts.token(bench.cluster, namespace)
    meter = Meter.start(bench.cluster, namespace, bench.count)
    command = [
        *(*network.enter(NAME), sys.executable, str(ROOT / "tools" / "bench" / "raw_client.py"), API_SERVER),
        *(str(LAYOUT.pki / "ca.crt"), namespace, str(bench.count), str(RAW_THREADS)),
    ]
    given = f"{token}\n{json.dumps(RAW_POD)}\n"
    apply(bench, namespace, 0)
    allocator_of(namespace)  # from then on, others begin to create executors
    run(*command, failed="the raw client failed", input_text=given)
    meter.wait()
    return meter.result(None)


OF_THE_SERVER = ("nodeName", "serviceAccount", "serviceAccountName", "priority", "preemptionPolicy")
"""Fields of a pod's spec that scheduler and admission fill in, and refuse when they are given."""

RAW_POD: dict[str, Any] = {}
"""The body of an executor's pod as the allocator made it, without what names its application."""

SIDES: dict[str, Side] = {
    "sparkgen": sparkgen,
    "raw client": raw,
    "native, tuned": native(
        {"spark.kubernetes.allocation.batch.size": "300", "spark.kubernetes.allocation.batch.delay": "200ms"}
    ),
    "native": native({}),
}


# --- what is measured -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Meter:
    """A beginning: where the audit log ended, what the API server had used; and when each executor ran."""

    cluster: Cluster
    namespace: str
    count: int
    offset: int
    cpu: float
    executors: Pods

    @classmethod
    def start(cls, cluster: Cluster, namespace: str, count: int) -> Meter:
        """Now."""
        executors, offset = Pods(cluster, namespace, "spark-role=executor"), LAYOUT.audit_log.stat().st_size
        return cls(cluster, namespace, count, offset, bench_cluster.api_server_cpu(), executors)

    def wait(self) -> None:
        """Until all executors run."""
        ran = self.executors.wait_running(self.count, SECONDS)
        self.executors.close()
        if not ran:
            running = len(self.executors.running)
            raise ToolError(f"{running} of {self.count} executors run after {SECONDS:.0f} s")
        time.sleep(1)  # for the last lines of the audit log

    def result(self, allocator: int | None) -> Result:
        """What it came to."""
        calls = bench_cluster.calls_since(self.offset, self.namespace)
        creations = [call for call in calls if bench_cluster.creates_executor(call) and call.code == 201]
        by = Counter(call.user for call in creations).most_common(1)[0][0]
        made = [call for call in creations if call.user == by]
        began = min(call.time for call in made)
        if allocator is not None and not RAW_POD:
            RAW_POD.update(body_of(self.cluster, self.namespace, made[0].name))
        return Result(
            created=(max(call.answered for call in made) - began).total_seconds(),
            running=(max(self.executors.running.values()) - began).total_seconds(),
            calls=dict(Counter(f"{call.verb} {call.resource}" for call in calls if call.user == by)),
            api_server_cpu=bench_cluster.api_server_cpu() - self.cpu,
            allocator_cpu=None if allocator is None else cpu_seconds(allocator),
            allocator_memory=None if allocator is None else most_memory(allocator),
        )


def body_of(cluster: Cluster, namespace: str, name: str) -> dict[str, Any]:
    """A pod as it was created, less its owner, which the raw client's pods have not."""
    text = cluster.kubectl("get", "pod", name, "-n", namespace, "-o", "json")
    pod = json.loads(text)
    metadata = {"labels": pod["metadata"]["labels"], "annotations": pod["metadata"].get("annotations", {})}
    spec = {key: part for key, part in pod["spec"].items() if key not in OF_THE_SERVER}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def allocator_of(namespace: str) -> int:
    """The process id of the one allocator in a namespace, once it has started."""
    if found := wait_for(lambda: _allocator(namespace), SECONDS, pause=0.05):
        return found
    raise ToolError(f"no allocator runs in namespace {namespace}")


def _allocator(namespace: str) -> int | None:
    mark = f"{contract.ENV_POD_NAMESPACE}={namespace}\0".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (
                mark in (folder / "environ").read_bytes() + b"\0"
                and b"allocator" in (folder / "cmdline").read_bytes()
            ):
                return int(folder.name)
    return None


# --- the page ---------------------------------------------------------------------------------------


def page(found: dict[int, Sides], version: str) -> str:
    """The page: a table per number of executors."""
    page = Page(RESULTS.name)
    page.setting(f"Spark {version}, the test cluster of this repository")
    parts = (["", *_part(count, sides)] for count, sides in sorted(found.items()))
    page.rest("## ", [line for part in parts for line in part][1:])
    return page.text()


def _part(count: int, sides: Sides) -> list[str]:
    ours = sides["sparkgen"]
    columns = ("all created", "all Running", "time until all are created, sparkgen's = 1")
    rows: list[tuple[str, ...]] = [("", *columns, "API server's CPU", "writes for each executor")]
    for name, results in sides.items():
        ratio = statistics.median(
            theirs.created / mine.created for theirs, mine in zip(results, ours, strict=True)
        )
        writes = statistics.median(_writes(result.calls) for result in results) / count
        created, running, cpu = (
            f"{median(getattr(result, what) for result in results)} s"
            for what in ("created", "running", "api_server_cpu")
        )
        rows.append((name, created, running, f"{ratio:.1f}", cpu, f"{writes:.2f}"))
    cpu, memory = (
        median(getattr(one, what) for one in ours) for what in ("allocator_cpu", "allocator_memory")
    )
    calls = [f"- {name}: {_calls(results[-1].calls)}" for name, results in sides.items()]
    told = f"The allocator used {cpu} s of CPU from its start, and {memory} MiB at most."
    return [f"## {count} executors", "", *table(rows), "", told, "", "Calls to the API server:", "", *calls]


def _writes(calls: dict[str, int]) -> int:
    return sum(
        number for name, number in calls.items() if name.split()[0] in ("create", "patch", "update", "delete")
    )


def _calls(calls: dict[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(calls.items(), key=lambda item: -item[1]))


def kept() -> dict[int, Sides]:
    """What earlier runs have written, by the number of executors."""
    if not DATA.exists():
        return {}
    return {
        int(count): {name: [Result(**values) for values in results] for name, results in sides.items()}
        for count, sides in json.loads(DATA.read_text()).items()
    }
