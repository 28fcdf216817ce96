"""Real processes: they go with all that they have started, whatever happens to sparkgen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sparkgen.local.processes import Process, Reaper
from sparkgen.local.reaper import follow

# A parent with a child in a process group of its own, as PySpark's daemon is one.
FAMILY = """
set -m
sleep 600 & echo $! >child
echo ready
wait
"""


@pytest.fixture
def reaper() -> Iterator[Reaper]:
    """A reaper that is closed after the test."""
    reaper = Reaper()
    yield reaper
    reaper.close()


def _start(reaper: Reaper, folder: Path, script: str) -> Process:
    with (folder / "out").open("wb") as out:
        return Process(["bash", "-c", script], os.environ, folder, reaper, stdout=out, stderr=out)


def _eventually(condition: Callable[[], bool], seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def _runs(pid: int) -> bool:
    """Whether a process is there, and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _child(folder: Path) -> int:
    assert _eventually(lambda: "ready" in (folder / "out").read_text())
    return int((folder / "child").read_text())


def test_an_exit_code_is_told(reaper: Reaper, tmp_path: Path) -> None:
    """That of the program itself, negative for a signal."""
    assert _start(reaper, tmp_path, "exit 7").wait() == 7
    assert _start(reaper, tmp_path, "kill -9 $$").wait() == -signal.SIGKILL


def test_what_a_process_leaves_behind_goes_with_it(reaper: Reaper, tmp_path: Path) -> None:
    """Also from a process group of its own."""
    process = _start(reaper, tmp_path, FAMILY.replace("wait", "exit 3"))
    assert process.wait() == 3
    assert not _runs(int((tmp_path / "child").read_text()))


def test_killing_takes_the_whole_family(reaper: Reaper, tmp_path: Path) -> None:
    """The child is in another process group, and in the same session."""
    process = _start(reaper, tmp_path, FAMILY)
    child = _child(tmp_path)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert not _runs(child)
    process.kill()  # what has ended is left alone
    process.terminate()


def test_nothing_outlives_a_killed_sparkgen(tmp_path: Path) -> None:
    """The reaper ends the sessions and removes the folder when its pipe ends, with no word before."""
    work = tmp_path / "work"
    work.mkdir()
    program = (
        "import os, sys, pathlib; from sparkgen.local.processes import Reaper, Process\n"
        "reaper = Reaper(); reaper.holds(pathlib.Path(sys.argv[2]))\n"
        "out = open('out', 'wb')\n"
        "process = Process(['bash', '-c', sys.argv[1]], os.environ, pathlib.Path('.'), reaper, "
        "stdout=out, stderr=out)\n"
        "print(process.pid, flush=True)\n"
        "process.wait()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program, FAMILY, str(work)], cwd=tmp_path, stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    child = _child(tmp_path)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert _eventually(lambda: not _runs(pid) and not _runs(child) and not work.exists())


def test_the_keeper_forgets_what_has_ended() -> None:
    """Sessions by their numbers, folders by their paths; a number may be used again."""
    lines = ["+12\n", "folder /data/a b\n", "+13\n", "-12\n", "+12\n", "-13\n"]
    assert follow(lines) == ({12}, {"/data/a b"})
    assert follow([*lines, "-12\n", "kept /data/a b\n"]) == (set(), set())
