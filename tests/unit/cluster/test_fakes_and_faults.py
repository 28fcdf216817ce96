"""Fake nodes as objects, and what a fault says that cannot be made."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cluster import fakes, faults, lock
from cluster.plan import Layout
from common.cachedir import ToolError


def test_a_fake_node_keeps_real_pods_away_and_is_kwok_s() -> None:
    """The taint, the annotation that kwok selects by, the label that pods select by, and its size."""
    node = fakes.node(7)
    assert node["metadata"]["name"] == fakes.name_of(7) == "fake7"
    assert node["spec"]["taints"] == [
        {"key": "kwok.x-k8s.io/node", "value": "fake", "effect": "NoSchedule"},
    ]
    assert node["metadata"]["annotations"]["kwok.x-k8s.io/node"] == "fake"
    assert node["metadata"]["labels"]["type"] == "kwok"
    assert node["status"]["allocatable"] == node["status"]["capacity"]


def test_a_process_that_there_is_not_is_told_with_those_there_are(tmp_path: Path) -> None:
    """The names are those that `status` prints."""
    with pytest.raises(ToolError, match=r"no process 'kubelet'; it has: etcd, .*node1-kubelet"):
        faults.kill("kubelet", Layout(tmp_path))


def test_a_node_that_there_is_not_is_told_with_those_there_are(tmp_path: Path) -> None:
    """Fake nodes have no processes."""
    with pytest.raises(ToolError, match="no node 'fake1'; there are: node1, node2"):
        faults.kill_node("fake1", Layout(tmp_path))


def test_what_does_not_run_cannot_be_paused(tmp_path: Path) -> None:
    """The message names the way to start it."""
    with (
        pytest.raises(ToolError, match="etcd is not running; start it: make cluster-up"),
        faults.paused("etcd", Layout(tmp_path)),
    ):
        pytest.fail("paused nothing")


def test_who_was_started_by_the_holder_works_under_its_lock(tmp_path: Path) -> None:
    """A test that holds the cluster can run the cluster's commands; the lock stays the test's."""
    path = tmp_path / "lock"
    code = (
        f"from pathlib import Path; from cluster import lock\nwith lock.held(Path({str(path)!r}), 'x'): pass"
    )
    tools = Path(lock.__file__).parents[1]
    command = ["sh", "-c", '"$0" -c "$1" && true', sys.executable, code]  # a grandchild, as under make
    with lock.held(path, "make e2e"):
        subprocess.run(command, cwd=tools, check=True)
        assert path.exists()
