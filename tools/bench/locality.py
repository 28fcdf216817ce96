"""`make bench-locality`: a scan of files in an HDFS whose DataNodes are on the cluster's two nodes.

The same document with `allocator: spark` (native), with locality off, and with locality on runs a program
(bench/jobs/scan.py) with dynamic allocation, in turn, so that a noisy machine treats all alike. Each
file is one block on one node, and one task. Once the files of both nodes are read, and once those of one.

Where pods and tasks were is known by addresses; what was read remotely is counted where it leaves a node, by
the node's own interface. That interface has the speed that --rate says.
"""

from __future__ import annotations

import ipaddress
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from bench import cluster as bench_cluster
from bench import programs
from bench.folders import FOLDER, ROOT
from bench.locality_page import BLOCK, EXECUTORS, Plan, Round, Scan, page
from cluster import network
from cluster.handle import Cluster
from cluster.plan import NODES, PRIMARY
from common.cachedir import ToolError
from common.command import run
from hadoop import hdfs
from hadoop.hdfs import Hdfs
from hadoop.place import CONTROL, ON_NODES

RESULTS = FOLDER / "locality.md"
JOB = ROOT / "tools" / "bench" / "jobs" / "scan.py"
PATHS = {"both": "/data/*.txt", "one": f"/data/{NODES[-1].name}-*.txt"}
"""What is read: the files of both nodes, or those of one."""
SIDES: Mapping[str, Mapping[str, Any]] = {
    "native": {"allocator": "spark"},
    "off": {"allocation": {"locality": {"enabled": False}}},
    "on": {"allocation": {"locality": {"enabled": True}}},
}
"""What each side's document has of its own."""


def main(arguments: list[str] | None = None) -> int:
    """Run the rounds, print the page, and keep it with `--write`."""
    made = bench_cluster.parser(__doc__, RESULTS, rounds=3)
    made.add_argument(
        "--files", type=int, default=16, help="number of files of 128 MiB on each node (default 16)"
    )
    made.add_argument(
        "--rate", default="1gbit", help='limit of each node\'s network interface; "" for none (default 1gbit)'
    )
    options = made.parse_args(arguments)
    plan = Plan(options.version, options.files, options.rate, options.rounds)
    return bench_cluster.measure(
        options,
        RESULTS,
        lambda cluster, _: measured(cluster, plan),
        lambda found: page(found, plan),
        files=plan.files,
        rate=plan.rate,
    )


def measured(cluster: Cluster, plan: Plan) -> list[Round]:
    """The rounds, on an HDFS of their own."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-locality-")))
        running = hdfs.running(folder / "hdfs", None, CONTROL, ON_NODES, hdfs.Lives(), block_size=BLOCK)
        storage = stack.enter_context(running)
        fill(storage, folder / "block.txt", plan.files)
        stack.enter_context(limited(plan.rate))
        return [one_round(cluster, plan, storage.url, number) for number in range(plan.rounds)]


def fill(storage: Hdfs, block: Path, files: int) -> None:
    """Write the files, each on the node that its name begins with."""
    line = b"." * 1023 + b"\n"
    block.write_bytes(line * (BLOCK // len(line)))
    storage.shell("-mkdir /data")
    for place in ON_NODES:
        names = (f"/data/{place.name}-{number:02}.txt" for number in range(files))
        storage.shell(*(f"-put {block} {name}" for name in names), place=place)


@contextmanager
def limited(rate: str) -> Iterator[None]:
    """Let the nodes' interfaces send at this speed only; "": as fast as they can."""
    names = [node.network_namespace for node in NODES] if rate else []
    shape = ("root", "tbf", "rate", rate, "burst", "1mb", "latency", "50ms")
    with ExitStack() as stack:
        for name in names:
            device = ("dev", "eth0")
            run("tc", "-n", name, "qdisc", "add", *device, *shape)
            stack.callback(run, "tc", "-n", name, "qdisc", "del", *device, "root")
        yield


def one_round(cluster: Cluster, plan: Plan, url: str, number: int) -> Round:
    """Every side with every data."""
    found: Round = {}
    for paths, glob in PATHS.items():
        sides = {
            side: partial(scanned, cluster, plan.version, url + glob, spec) for side, spec in SIDES.items()
        }
        (found[paths],) = bench_cluster.rounds(cluster, sides, 1, f"{paths} of {number + 1}, ")
    return found


def scanned(cluster: Cluster, version: str, paths: str, own: Mapping[str, Any], namespace: str) -> Scan:
    """Apply a side's document, wait for the end, and read what the program and the interfaces say."""
    bounds = {"enabled": True, "maxExecutors": EXECUTORS}
    document = programs.mounted(
        namespace, version, JOB, "scan", arguments=[paths], dynamicAllocation=bounds, **own
    )
    programs.put(cluster, namespace, JOB)
    before = sent()
    wall = bench_cluster.finished(cluster, namespace, programs.apply_rendered(cluster, document))
    remote = sent() - before
    log = bench_cluster.driver_log(cluster, namespace)
    found = re.search(r"^result: (.+)$", log, re.MULTILINE)
    if found is None:
        raise ToolError(f"the scan in {namespace} printed no result")
    return scan_of(json.loads(found[1]), wall, remote)


def scan_of(result: Mapping[str, Any], wall: float, remote: int) -> Scan:
    """What the program has said, by the nodes of its executors' addresses."""
    nodes = {host: node_of(host) for _, host in result["tasks"]}
    return Scan(
        wall=round(wall, 2),
        scan=result["scan"],
        remote=remote,
        local=sum(file.partition("-")[0] == nodes[host] for file, host in result["tasks"]),
        # As plain mappings: `asdict` makes others of their class, and a Counter counts what it is given.
        tasks=dict(Counter(nodes[host] for _, host in result["tasks"])),
        executors=dict(Counter(nodes.values())),
        levels=result["levels"],
    )


def node_of(host: str) -> str:
    """The node of a pod's address."""
    address = ipaddress.ip_address(host)
    return next(node.name for node in NODES if address in ipaddress.ip_network(node.pods_in(PRIMARY)))


def sent() -> int:
    """Bytes that the nodes' interfaces have sent to each other and to the control plane."""
    return sum(sent_by(node.network_namespace) for node in NODES)


def sent_by(namespace: str) -> int:
    """Bytes that the interface eth0 of a network namespace has sent."""
    with network.inside(namespace):
        lines = Path("/proc/thread-self/net/dev").read_text().splitlines()
    (counters,) = [line.partition(":")[2].split() for line in lines if line.strip().startswith("eth0:")]
    return int(counters[8])
