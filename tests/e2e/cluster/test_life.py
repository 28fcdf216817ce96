"""Up, down, bad days: each ends in a whole cluster, or in nothing at all."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster import control, images, lifecycle, lock, processes
from cluster.handle import Cluster
from cluster.plan import LAYOUT, LOCK, NAME
from common.cachedir import ToolError

pytestmark = pytest.mark.own_cluster

TOOLS = Path(__file__).resolve().parents[3] / "tools"
OTHER_CLUSTER = re.compile(rf"\bsparkgen-(?!{NAME.removeprefix('sparkgen-')}\b)[a-z0-9]")
"""Names of clusters that are not this one; they may come and go beside it."""

PROGRAMS = ("etcd", "kube", "containerd", "coredns", "kwok", "tini", "unshare", "nsenter")


@pytest.fixture(autouse=True)
def _whole_again(cluster: Cluster) -> Iterator[None]:
    yield
    lifecycle.up()


def machine() -> dict[str, set[str]]:
    """What a cluster might leave on the machine; ended processes do not count, nor do other clusters."""
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    folders = ("/run", "/run/netns", "/run/lock", "/var/lib", "/mnt", "/srv", "/var/log", "/var/tmp")  # noqa: S108
    found = {
        "mounts": {line for line in mounts if NAME in line or "containerd" in line},
        "folders": {str(path) for folder in folders for path in Path(folder).glob("*")},
        "cgroups": {str(path) for path in Path("/sys/fs/cgroup").glob("*/*") if path.is_dir()},
        "processes": {
            text for text in map(_process, Path("/proc").glob("[0-9]*")) if text.startswith(PROGRAMS)
        },
    }
    return {what: {text for text in texts if not OTHER_CLUSTER.search(text)} for what, texts in found.items()}


def _process(folder: Path) -> str:
    """A running process's name, number, and what tells whose it is; nothing for one that has ended."""
    found = processes.stat_of(int(folder.name))
    try:
        if found is None or found.state in "ZX":
            return ""
        text = f"{(folder / 'comm').read_text().strip()} {folder.name}"
        network = (folder / "ns" / "net").stat().st_ino
        names = [path.name for path in Path("/run/netns").glob("*") if path.stat().st_ino == network]
        return " ".join([text, *names, (folder / "cgroup").read_text()])
    except PermissionError:  # even root may not look into the machine's first process
        return text
    except (FileNotFoundError, ProcessLookupError):
        return ""


def new(before: dict[str, set[str]]) -> dict[str, set[str]]:
    """What is on the machine now and was not before."""
    return {what: texts - before[what] for what, texts in machine().items() if texts - before[what]}


def test_down_leaves_nothing_behind(cluster: Cluster) -> None:
    """After a start, images, pods and a stop, nothing is on the machine that was not there before."""
    lifecycle.down()
    before = machine()
    lifecycle.up()
    cluster.load_spark([images.TESTED_VERSIONS[0]])
    cluster.kubectl("run", "stays", "--image=docker.io/sparkgen/busybox:1", "--restart=Never")
    cluster.kubectl("wait", "pod/stays", "--for=condition=Ready", "--timeout=60s")
    assert set(new(before)) == {"mounts", "folders", "cgroups", "processes"}, "it looks in the wrong places"
    lifecycle.down()
    deadline = time.monotonic() + 10  # the last dead processes are collected by the machine's own init
    while new(before) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert new(before) == {}
    assert lifecycle.leftovers() == []


def test_a_second_up_is_quick_and_changes_nothing(cluster: Cluster) -> None:
    """All processes are the same ones afterwards."""
    before = lifecycle.states()
    began = time.monotonic()
    lifecycle.up()
    assert lifecycle.states() == before
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    "names", [("etcd",), ("kube-apiserver",), ("node1-kubelet",), ("node2-init",), ("node1-containerd",)]
)
def test_what_was_killed_is_started_again(cluster: Cluster, names: tuple[str, ...]) -> None:
    """The rest of the cluster goes on; what was written down is still there."""
    cluster.kubectl("create", "configmap", f"before-{names[0]}")
    for name in names:
        assert processes.stop(LAYOUT.pids / f"{name}.pid", kill=True)
    assert any(process.state == "dead" for process in lifecycle.states())
    lifecycle.up()
    assert all(process.state == "running" for process in lifecycle.states())
    assert cluster.kubectl("get", "configmap", f"before-{names[0]}")


def test_a_paused_process_goes_on(cluster: Cluster) -> None:
    """`up` lets what somebody paused go on."""
    identity = processes.read(control.pid_file(LAYOUT, "kube-apiserver"))
    assert identity is not None
    processes.pause(identity)
    lifecycle.up()
    assert all(process.state == "running" for process in lifecycle.states())


def test_after_a_reboot_the_cluster_is_made_anew(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A stamp from another boot: everything is replaced, with the reason said."""
    text = LAYOUT.stamp.read_text()
    LAYOUT.stamp.write_text(text.replace(processes.boot_id(), "another-boot"))
    lifecycle.up()
    assert "the machine was restarted since" in capsys.readouterr().err


def test_ctrl_c_during_a_start_leaves_nothing() -> None:
    """Interrupted in the middle, `up` removes what it started."""
    lifecycle.down()
    # Where the tests run in the background of a shell, SIGINT is ignored, and a child would inherit that.
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += "from cluster import lifecycle; lifecycle.up()"
    starting = subprocess.Popen(
        [sys.executable, "-c", code], cwd=TOOLS, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert starting.stderr is not None
    for line in starting.stderr:
        if "started kube-apiserver" in line:
            break
    starting.send_signal(signal.SIGINT)
    said = starting.stderr.read()
    starting.wait(30)
    assert "removing what was started" in said
    assert lifecycle.leftovers() == []


def test_a_second_user_is_told_who_holds_it(cluster: Cluster) -> None:
    """The lock is held while these tests run."""
    with pytest.raises(ToolError, match="in use by `make e2e`"), lock.held(LOCK, "make cluster-down"):
        pytest.fail("two hold one lock")
