"""The nodes' cgroups, on folders that look like the kernel's."""

from __future__ import annotations

from pathlib import Path

from cluster import cgroups
from cluster.plan import NAME, Node

NODE = Node(1)


def test_version_1_gets_a_group_in_every_hierarchy(tmp_path: Path) -> None:
    """A new cpuset has no processors until somebody writes them: the parent's."""
    for name in ("cpuset", "memory"):
        for folder in (tmp_path / name, tmp_path / name / NAME, tmp_path / name / NAME / NODE.name):
            folder.mkdir()
            (folder / "cgroup.procs").touch()
            for file in ("cpuset.cpus", "cpuset.mems"):
                (folder / file).write_text("0-1\n" if folder.name == "cpuset" else "\n")
    cgroups.make(NODE, tmp_path)
    assert (tmp_path / "cpuset" / NAME / NODE.name / "cpuset.cpus").read_text() == "0-1\n"
    assert (tmp_path / "memory" / NAME / NODE.name / "cpuset.cpus").read_text() == "\n"


def test_version_2_hands_its_controllers_down(tmp_path: Path) -> None:
    """The kubelet refuses a root group that lacks a controller which the machine has."""
    for folder in (tmp_path, tmp_path / NAME):
        folder.mkdir(exist_ok=True)
        (folder / "cgroup.controllers").write_text("cpuset cpu io memory rdma pids misc\n")
        (folder / "cgroup.subtree_control").write_text("")
    (tmp_path / "cgroup.subtree_control").write_text("cpu memory\n")
    cgroups.make(NODE, tmp_path)
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+cpuset +io +pids"
    assert (tmp_path / NAME / "cgroup.subtree_control").read_text() == "+cpu +cpuset +io +memory +pids"
    assert (tmp_path / NAME / NODE.name).is_dir()


def test_what_is_handed_down_already_is_not_written_again(tmp_path: Path) -> None:
    """Writing to a group with processes in it may be refused, so only what lacks is written."""
    for folder in (tmp_path, tmp_path / NAME):
        folder.mkdir(exist_ok=True)
        (folder / "cgroup.controllers").write_text("cpu pids\n")
        (folder / "cgroup.subtree_control").write_text("cpu pids\n")
    cgroups.make(NODE, tmp_path)
    assert (tmp_path / "cgroup.subtree_control").read_text() == "cpu pids\n"


def test_only_our_groups_are_removed_the_deepest_first(tmp_path: Path) -> None:
    """A group that cannot be removed (here: a file is in it) is told; its neighbours go."""
    (tmp_path / "cgroup.controllers").touch()
    for name in (f"{NAME}/node1/kubepods", f"{NAME}/node2", "somebody-else"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / NAME / "node2" / "file").touch()
    assert cgroups.remove(tmp_path) == [tmp_path / NAME / "node2", tmp_path / NAME]
    assert (tmp_path / "somebody-else").is_dir()
    assert not (tmp_path / NAME / "node1").exists()
