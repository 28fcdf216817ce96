"""The nodes' cgroups: below one folder in every hierarchy (cgroup v1), or in the only one (v2)."""

from __future__ import annotations

from pathlib import Path

from cluster.plan import NAME, Node

ROOT = Path("/sys/fs/cgroup")
_INHERITED = ("cpuset.cpus", "cpuset.mems")
"""Files that are empty in a new v1 cpuset, but must be set: otherwise no process can enter it."""

_CONTROLLERS = ("cpu", "cpuset", "hugetlb", "io", "memory", "pids")
"""The controllers that the kubelet needs in its root group, if the machine has them (v2)."""


def hierarchies(root: Path = ROOT) -> list[Path]:
    """The roots of the cgroup hierarchies for the kubelet's groups."""
    if (root / "cgroup.controllers").exists():
        return [root]
    return sorted(path.parent for path in root.glob("*/cgroup.procs") if not path.parent.is_symlink())


def of_node(node: Node) -> str:
    """The node's cgroup, as the kubelet names it."""
    return f"/{NAME}/{node.name}"


def make(node: Node, root: Path = ROOT) -> None:
    """Create the node's cgroup in every hierarchy."""
    for top in hierarchies(root):
        for folder in (top / NAME, top / NAME / node.name):
            if (top / "cgroup.controllers").exists():
                _delegate(folder.parent)
            folder.mkdir(exist_ok=True)
            for name in _INHERITED:
                if top.name == "cpuset" and not (folder / name).read_text().strip():
                    (folder / name).write_text((folder.parent / name).read_text())


def _delegate(folder: Path) -> None:
    """Enable this group's controllers for the groups below, because v2 groups do not inherit them."""
    there = (folder / "cgroup.controllers").read_text().split()
    given = (folder / "cgroup.subtree_control").read_text().split()
    if lacking := [name for name in _CONTROLLERS if name in there and name not in given]:
        (folder / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in lacking))


def found(root: Path = ROOT) -> list[Path]:
    """All cgroups of this cluster, the deepest first."""
    folders = [
        path for top in hierarchies(root) for path in [top / NAME, *(top / NAME).rglob("*")] if path.is_dir()
    ]
    return sorted(folders, key=lambda path: len(path.parts), reverse=True)


def remove(root: Path = ROOT) -> list[Path]:
    """Remove this cluster's cgroups. Returns those that could not be removed, because they have processes."""
    left = []
    for folder in found(root):
        try:
            folder.rmdir()
        except OSError:
            left.append(folder)
    return left
