"""The nodes' cgroups: below one folder in every hierarchy (cgroup v1), or in the one that there is (v2)."""

from __future__ import annotations

from pathlib import Path

from cluster.plan import NAME, Node

ROOT = Path("/sys/fs/cgroup")
_INHERITED = ("cpuset.cpus", "cpuset.mems")
"""Files that a new v1 cpuset leaves empty, and must not: a process could not enter it."""


def hierarchies(root: Path = ROOT) -> list[Path]:
    """The roots of the cgroup hierarchies that take a kubelet's groups."""
    if (root / "cgroup.controllers").exists():
        return [root]
    return sorted(path.parent for path in root.glob("*/cgroup.procs") if not path.parent.is_symlink())


def of_node(node: Node) -> str:
    """The node's cgroup, as the kubelet names it."""
    return f"/{NAME}/{node.name}"


def make(node: Node) -> None:
    """Make the node's cgroup in every hierarchy."""
    for root in hierarchies():
        for folder in (root / NAME, root / NAME / node.name):
            folder.mkdir(exist_ok=True)
            for name in _INHERITED:
                if root.name == "cpuset" and not (folder / name).read_text().strip():
                    (folder / name).write_text((folder.parent / name).read_text())


def found() -> list[Path]:
    """Every cgroup of ours, the deepest first."""
    folders = [
        path for root in hierarchies() for path in [root / NAME, *(root / NAME).rglob("*")] if path.is_dir()
    ]
    return sorted(folders, key=lambda path: len(path.parts), reverse=True)


def remove() -> list[Path]:
    """Remove our cgroups; the ones that could not be, because a process is still in them."""
    left = []
    for folder in found():
        try:
            folder.rmdir()
        except OSError:
            left.append(folder)
    return left
