"""The commands that people type, as programs of their own: what they do, print, and end with."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster import network, nodes
from cluster.handle import Cluster
from cluster.plan import NODES, Layout
from common import cachedir

pytestmark = pytest.mark.own_cluster

TOOLS = Path(__file__).resolve().parents[3] / "tools"
OTHER = "sparkgen-full"
"""The name of a cluster that never starts, because its cache is full."""


def command(*arguments: str, program: str = "cluster", **settings: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m PROGRAM ARGUMENTS` with more in its environment."""
    return subprocess.run(
        [sys.executable, "-m", program, *arguments],
        cwd=TOOLS,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,  # the first one to ask for a program builds it
    )


def fake_nodes(cluster: Cluster) -> list[str]:
    """The names of the fake nodes that are Ready."""
    lines = cluster.kubectl("get", "nodes", "-l", "type=kwok", "--no-headers").splitlines()
    return sorted(line.split()[0] for line in lines if line.split()[1] == "Ready")


def test_fakes_are_as_many_as_asked(cluster: Cluster) -> None:
    """More, fewer, none; and none again."""
    for count in (3, 1, 0, 0):
        done = command("fakes", str(count))
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert fake_nodes(cluster) == [f"fake{number + 1}" for number in range(count)]


@pytest.mark.parametrize("count", ["-1", "many"])
def test_a_count_that_is_none_is_refused(cluster: Cluster, count: str) -> None:
    """As any wrong argument."""
    done = command("fakes", "--", count)
    assert done.returncode == 2
    assert f"error: argument count: '{count}' is not a number of nodes; write 0 or more" in done.stderr


def test_what_was_killed_is_dead_until_the_next_up(cluster: Cluster) -> None:
    """`kill` of a process and of a node, `status` before and after, `up`."""
    assert command("kill", "kube-scheduler").returncode == 0
    assert command("kill", "node2").returncode == 0
    status = command("status")
    assert status.returncode == 1
    states = {line.split()[0]: line.split()[1] for line in status.stdout.splitlines() if line.split()[1:]}
    dead = {name for name, state in states.items() if state == "dead"}
    assert dead == {"kube-scheduler", *nodes.process_names(NODES[1])}
    assert command("up").returncode == 0
    assert command("status").returncode == 0


def test_a_name_that_nothing_has_is_told_with_those_there_are(cluster: Cluster) -> None:
    """One message, no traceback."""
    done = command("kill", "kubelet")
    assert done.returncode == 1
    assert done.stderr.startswith("error: the cluster has no process 'kubelet'; it has: etcd, ")


def test_the_shell_talks_to_the_cluster(cluster: Cluster) -> None:
    """A command instead of a shell runs with the same PATH and KUBECONFIG; its exit code is passed on."""
    assert "node1" in command("shell", "kubectl", "get", "nodes", "-o", "name").stdout
    assert command("shell", "sh", "-c", "exit 7").returncode == 7


@pytest.mark.parametrize("arguments", [("status",), ("fakes", "1"), ("kill", "etcd"), ("shell",), ("load",)])
def test_without_a_cluster_every_command_says_so(arguments: tuple[str, ...]) -> None:
    """And how to start one."""
    done = command(*arguments, SPARKGEN_CLUSTER="sparkgen-none")
    assert done.returncode == 1
    assert "there is no cluster; start it: make cluster-up" in done.stdout + done.stderr


@pytest.fixture
def full(tmp_path: Path) -> Iterator[Path]:
    """A cache on a disk that is too small for anything."""
    folder = tmp_path / "cache"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_cache_stops_up_before_anything_is_started(cluster: Cluster, full: Path) -> None:
    """With every tool but one there, and no room for that one: one message, and nothing half-made."""
    (full / "tools").mkdir()
    for tool in (cachedir.cache_root(os.environ) / "tools").iterdir():
        if tool.name != "etcd":
            (full / "tools" / tool.name).symlink_to(tool)
    try:
        done = command("up", SPARKGEN_CACHE=str(full), SPARKGEN_CLUSTER=OTHER)
        assert done.returncode == 1
        assert f"the disk is full. Make room in {full}, or set SPARKGEN_CACHE" in done.stderr
        assert "Traceback" not in done.stderr
        assert "started" not in done.stderr
        assert [path.name for path in (full / "tools" / "etcd").iterdir()] == [".lock"]
        assert not Layout(Path("/var/lib") / OTHER).root.exists()
        assert not network.exists(OTHER)
    finally:
        command("down", SPARKGEN_CLUSTER=OTHER)


def test_a_full_cache_stops_a_build(full: Path) -> None:
    """Go finds no room for what it has built (or pip for Go): one message, and nothing half-made."""
    done = command("build", "kubeconform", program="gotools.gotools", SPARKGEN_CACHE=str(full))
    assert done.returncode == 1
    assert done.stdout == ""
    assert f"the disk is full. Make room in {full}" in done.stderr
    assert "SPARKGEN_CACHE" in done.stderr
    assert "Traceback" not in done.stderr
    assert {path.name for path in full.rglob("*") if path.is_file()} == {".lock"}
