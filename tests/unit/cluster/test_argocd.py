"""Argo CD beside the cluster: what it is asked to be, and when it is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster import argocd, control
from cluster.plan import Layout
from common.cachedir import ToolError

TCP = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:18EB 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1 0 100 0 0 10 0
   1: 0100007F:1F91 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 2 1 0 100 0 0 10 0
"""


def test_it_is_not_wanted_until_somebody_asked_for_it(tmp_path: Path) -> None:
    """`up` starts it again after a start, and after a crash; never before."""
    layout = Layout(tmp_path)
    layout.pids.mkdir()
    assert not argocd.wanted(layout)
    control.pid_file(layout, "argocd-controller").write_text("{")
    assert argocd.wanted(layout)


def test_the_ports_that_somebody_listens_on(tmp_path: Path) -> None:
    """From the kernel's table of one process's network: state 0A is listening; connections are none."""
    folder = tmp_path / "7" / "net"
    folder.mkdir(parents=True)
    (folder / "tcp").write_text(TCP)
    (folder / "tcp6").write_text(TCP.replace("0100007F:18EB", f"{'0' * 32}:1F92"))
    assert argocd.listening(7, tmp_path) == {6379, 8082}


def test_each_program_listens_where_the_others_look() -> None:
    """Redis and the repository server are found by the ports that they are told."""
    layout = Layout(Path("/x"))
    controller = argocd.arguments(layout, "argocd-controller")
    for name in ("argocd-redis", "argocd-repo-server"):
        assert str(argocd.PORTS[name]) in argocd.arguments(layout, name)
        assert f"127.0.0.1:{argocd.PORTS[name]}" in controller


def test_a_part_that_there_is_not_is_told_with_those_there_are() -> None:
    """There is no API server of Argo CD."""
    with pytest.raises(ToolError, match="no argocd-server here; it has: argocd-redis, argocd-repo-server"):
        argocd.arguments(Layout(Path("/x")), "argocd-server")
