"""Starts, stops and inspects the cluster: starts what is missing, and removes only what is its own."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from cluster import argocd, cgroups, configs, control, fakes, images, network, nodes, processes
from cluster.ociimage import Image
from cluster.plan import LAYOUT, NETWORK_NAMESPACES, NODES, Layout, Node
from common import progress
from common.cachedir import ToolError, environment, key
from common.command import wait_for
from gotools import gotools

GO_TOOLS = (
    *("kube-apiserver", "kubelet", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kubectl"),
    *("containerd", "containerd-shim-runc-v2", "ctr", "etcd", "coredns"),
)
"""The tools in gotools' table that a cluster needs to start."""

READY_SECONDS = 60
"""The most seconds until a node is Ready; on two busy cores it takes 10 s."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """The boot, sources and tools from which a cluster was created. A different stamp needs a new cluster."""

    boot: str
    sources: str
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProcessState:
    """One process of the cluster: its name, its process id (0: none), and "running", "paused" or "dead"."""

    name: str
    pid: int
    state: str


def ensure_tools() -> dict[str, Path]:
    """The paths of the tools, built if necessary."""
    settings = environment()
    return {name: gotools.ensure(name, settings) for name in GO_TOOLS}


def base_images() -> dict[str, Image]:
    """The small image that every cluster has, by its name."""
    return {configs.PAUSE_IMAGE: images.busybox()}


def sources_key() -> str:
    """A key of this program's own source files: a cluster from other sources is replaced."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return key(*(file.read_bytes() for file in files))


def make_stamp(tools: Mapping[str, Path]) -> Stamp:
    """The stamp of a cluster that is created now."""
    return Stamp(processes.boot_id(), sources_key(), tuple(str(path) for path in tools.values()))


def read_stamp(layout: Layout) -> Stamp | None:
    """The stamp of the existing cluster; None if there is no cluster, or no complete stamp."""
    try:
        found = json.loads(layout.stamp.read_text())
        return Stamp(found["boot"], found["sources"], tuple(found["tools"]))
    except (FileNotFoundError, json.JSONDecodeError, KeyError, TypeError):
        return None


def reason_to_replace(found: Stamp | None, wanted: Stamp, anything_there: bool) -> str | None:
    """Why the existing cluster cannot be kept, in words; None if it can, or if there is none."""
    if not anything_there:
        return None
    if found is None:
        return "an earlier start was not finished"
    if found.boot != wanted.boot:
        return "the machine was restarted since"
    if found != wanted:
        return "another version of this program or of its tools created it"
    return None


def up(layout: Layout = LAYOUT) -> None:
    """Start the cluster: keep what runs, start what does not, and replace a cluster that cannot be fixed."""
    tools, small = ensure_tools(), base_images()
    wanted = make_stamp(tools)
    there = layout.root.exists() or bool(leftovers(layout))
    if reason := reason_to_replace(read_stamp(layout), wanted, there):
        progress.say(f"replacing the cluster: {reason}")
        down(layout)
        there = False
    try:
        try:
            _start(layout, tools, small)
        except ToolError as error:
            if not there:
                raise
            progress.say(f"replacing the cluster, which could not be fixed: {error}")
            down(layout)
            _start(layout, tools, small)
        fresh = layout.stamp.with_suffix(".new")
        fresh.write_text(json.dumps(asdict(wanted)))
        fresh.rename(layout.stamp)
    except KeyboardInterrupt:
        progress.say("\ninterrupted: removing what was started")
        down(layout)
        raise


def _start(layout: Layout, tools: Mapping[str, Path], small: Mapping[str, Image]) -> None:
    began = time.monotonic()
    for folder in (layout.root, layout.pids, layout.logs):
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    control.configure(layout)
    network.make()
    resume_all(layout)
    for program in ("etcd", "kube-apiserver"):
        _started(program, control.start(layout, program, tools))
    for node in NODES:  # while the API server starts
        nodes.start_init(layout, node, tools)
        nodes.start_containerd(layout, node, small)
    control.wait_ready(layout, tools["kubectl"])
    for program in control.PROGRAMS[2:]:
        _started(program, control.start(layout, program, tools))
    for node in NODES:
        nodes.start_kubelet(layout, node)
    if control.pid_file(layout, "kwok").exists():  # there were fake nodes: start them again, too
        fakes.start(layout)
    control.apply(layout, tools["kubectl"], configs.dns_objects())
    for node in NODES:
        wait_node(layout, tools["kubectl"], node)
    if argocd.wanted(layout):  # it was started before: start it again, too
        argocd.start(layout)
    progress.say(
        f"the cluster is up ({time.monotonic() - began:.1f} s): {', '.join(n.name for n in NODES)} Ready"
    )


def _started(program: str, was_started: bool) -> None:
    if was_started:
        progress.say(f"started {program}")


def wait_node(layout: Layout, kubectl: Path, node: Node, seconds: float = READY_SECONDS) -> None:
    """Wait until the node is Ready. Raises ToolError after `seconds`."""
    path = 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'
    processes.wait_until(
        lambda: control.call(layout, kubectl, "get", "node", node.name, "-o", path).stdout == "True",
        f"{node.name} is not Ready",
        layout.logs / f"{node.name}-kubelet.log",
        seconds,
        pause=0.2,
    )


def resume_all(layout: Layout) -> None:
    """Resume every paused process."""
    for file in layout.pids.glob("*.pid"):
        identity = processes.read(file)
        if identity and processes.alive(identity) and processes.paused(identity):
            processes.resume(identity)


def states(layout: Layout = LAYOUT) -> list[ProcessState]:
    """The state of each process of the cluster."""
    names = [*control.PROGRAMS, *(name for node in NODES for name in nodes.process_names(node))]
    extra = sorted({file.stem for file in layout.pids.glob("*.pid")} - set(names))
    result = []
    for name in (*names, *extra):
        identity = processes.read(layout.pids / f"{name}.pid")
        if identity is None or not processes.alive(identity):
            result.append(ProcessState(name, 0, "dead"))
        else:
            state = "paused" if processes.paused(identity) else "running"
            result.append(ProcessState(name, identity.pid, state))
    return result


def down(layout: Layout = LAYOUT) -> None:
    """Stop the cluster's processes, and remove all that it created. Raises ToolError if anything remains."""
    for node in NODES:
        nodes.stop(layout, node)
    argocd.stop(layout)
    control.stop(layout)
    network.remove()
    wait_for(lambda: not cgroups.remove(), 10, pause=0.05)  # the kernel needs a moment to end processes
    if layout.root.exists():
        shutil.rmtree(layout.root)
    if left := leftovers(layout):
        raise ToolError("the cluster is down, but these are left over:\n  " + "\n  ".join(left))


def leftovers(layout: Layout = LAYOUT) -> list[str]:
    """The parts of a cluster on this machine, except processes: folders, mounts, namespaces, cgroups."""
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    return [
        *([str(layout.root)] if layout.root.exists() else []),
        *(f"mount {line.split()[1]}" for line in mounts if line.split()[1].startswith(f"{layout.root}/")),
        *(f"network namespace {name}" for name in NETWORK_NAMESPACES if network.exists(name)),
        *(f"cgroup {path}" for path in cgroups.found()),
    ]
