"""Faults that tests and curious people make: pause, kill and restart a process, or a whole node."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cachedir import ToolError
from cluster import lifecycle, nodes, processes
from cluster.plan import LAYOUT, NODES, Layout


def pid_file(name: str, layout: Layout = LAYOUT) -> Path:
    """The file of the process called `name` in `make cluster-status`; ToolError with the names there are."""
    names = [process.name for process in lifecycle.states(layout)]
    if name not in names:
        raise ToolError(f"the cluster has no process {name!r}; it has: {', '.join(names)}.")
    return layout.pids / f"{name}.pid"


@contextmanager
def paused(name: str, layout: Layout = LAYOUT) -> Iterator[None]:
    """A process that stands still for a while, with its connections open: as on a machine that hangs."""
    identity = processes.read(pid_file(name, layout))
    if identity is None or not processes.alive(identity):
        raise ToolError(f"{name} does not run: make cluster-up starts it.")
    processes.pause(identity)
    try:
        yield
    finally:
        processes.resume(identity)


def kill(name: str, layout: Layout = LAYOUT) -> None:
    """End a process at once, as a crash would; `lifecycle.up` starts it again."""
    processes.stop(pid_file(name, layout), kill=True)


def kill_node(name: str, layout: Layout = LAYOUT) -> None:
    """End every process of a node at once, its containers too; `lifecycle.up` starts it again."""
    for node in NODES:
        if node.name == name:
            nodes.stop(layout, node)
            return
    raise ToolError(f"there is no node {name!r}; there are: {', '.join(node.name for node in NODES)}.")
