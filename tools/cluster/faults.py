"""Faults for tests and experiments: of a process, a container, a node, or a node's network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cluster import lifecycle, nodes, processes
from cluster.plan import LAYOUT, NAME, NODES, Layout, Node
from common.cachedir import ToolError
from common.command import run

SPARE = 3 << 30
"""Bytes of disk that a node in `nearly_full_disk` may still use; other programs may use them, too."""
FILLED = 10 << 30
"""Bytes that are then used up: more than SPARE plus the images that the kubelet removes first."""


def pid_file(name: str, layout: Layout = LAYOUT) -> Path:
    """The pid file of the process named `name` in `make cluster-status`. Raises ToolError for other names."""
    names = [process.name for process in lifecycle.states(layout)]
    if name not in names:
        raise ToolError(f"the cluster has no process {name!r}; it has: {', '.join(names)}")
    return layout.pids / f"{name}.pid"


@contextmanager
def paused(name: str, layout: Layout = LAYOUT) -> Iterator[None]:
    """Pause a process during the block, with its connections open, as on a machine that hangs."""
    identity = processes.read(pid_file(name, layout))
    if identity is None or not processes.alive(identity):
        raise ToolError(f"{name} is not running; start it: make cluster-up")
    processes.pause(identity)
    try:
        yield
    finally:
        processes.resume(identity)


def kill(name: str, layout: Layout = LAYOUT) -> None:
    """Kill a process, as a crash would; `lifecycle.up` starts it again."""
    processes.stop(pid_file(name, layout), kill=True)


@contextmanager
def away(name: str, layout: Layout = LAYOUT) -> Iterator[None]:
    """Kill a process, which also breaks its connections, and start it again after the block."""
    kill(name, layout)
    try:
        yield
    finally:
        lifecycle.up(layout)


def node_of(name: str) -> Node:
    """The real node named `name`. Raises ToolError, with the names of all nodes, if there is none."""
    for node in NODES:
        if node.name == name:
            return node
    raise ToolError(f"there is no node {name!r}; there are: {', '.join(node.name for node in NODES)}")


def kill_node(name: str, layout: Layout = LAYOUT) -> None:
    """Kill all processes of a node, including its containers; `lifecycle.up` starts it again."""
    nodes.stop(layout, node_of(name))


@contextmanager
def cut_off(name: str) -> Iterator[None]:
    """Cut a node's network during the block: its containers keep running, but are unreachable."""
    node = node_of(name)
    link = ("ip", "-n", NAME, "link", "set", node.name)
    run(*link, "down")
    try:
        yield
    finally:
        run(*link, "up")


def kill_container(pod: Mapping[str, Any], container: str, layout: Layout = LAYOUT) -> bool:
    """Kill a container's process 1 from its node, as `kill -9` does. Returns False if it is already dead."""
    status = pod["status"]
    states = [*status.get("initContainerStatuses", []), *status["containerStatuses"]]
    (identity,) = [state["containerID"] for state in states if state["name"] == container]
    command = [*nodes.CTR, "tasks", "kill", "-s", "SIGKILL", identity.removeprefix("containerd://")]
    enter = nodes.enter(layout, node_of(pod["spec"]["nodeName"]))
    return subprocess.run([*enter, *command], capture_output=True, check=False, cwd="/").returncode == 0


@contextmanager
def nearly_full_disk(name: str, layout: Layout = LAYOUT) -> Iterator[Callable[[], None]]:
    """Let a node's kubelet evict pods once SPARE more bytes of its disk are used. Yields a function for this.

    The function fills FILLED bytes of the machine's disk, which all nodes and other programs share. Raises
    ToolError if too little is free. The kubelet first removes unused images: load them again.
    """
    node = node_of(name)
    free = shutil.disk_usage(layout.root).free
    if free < 2 * FILLED:
        raise ToolError(f"less than {2 * FILLED >> 30} GiB are free in {layout.root}; free some space there")
    file = layout.node_var(node) / "lib/kubelet/config.yaml"
    before = file.read_text()
    pressed = {
        "evictionHard": {"nodefs.available": str(free - SPARE)},
        "evictionPressureTransitionPeriod": "1s",
    }
    filling = layout.node(node) / "filling"

    def fill() -> None:
        with filling.open("wb") as content:
            os.posix_fallocate(content.fileno(), 0, FILLED)

    try:
        _restart_kubelet(node, json.dumps({**json.loads(before), **pressed}), layout)
        yield fill
    finally:
        filling.unlink(missing_ok=True)
        _restart_kubelet(node, before, layout)


def _restart_kubelet(node: Node, config: str, layout: Layout) -> None:
    (layout.node_var(node) / "lib/kubelet/config.yaml").write_text(config)
    processes.stop(nodes.pid_file(layout, node, "kubelet"), kill=True)
    nodes.start_kubelet(layout, node)
