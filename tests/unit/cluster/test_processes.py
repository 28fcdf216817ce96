"""Processes known by more than their number."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from cluster import processes
from common.cachedir import ToolError


def test_a_command_named_like_a_stat_line_is_read_right() -> None:
    """The command's name may hold spaces and parentheses; the fields are counted from its end."""
    fields = " ".join(["S", "1", *["0"] * 15, "3", "0", "4711", "0"])
    assert processes.parse_stat(f"12 (a) b (c)) {fields}\n") == processes.Stat("S", 3, 4711)


LISTENS_WITHOUT_ITS_FIRST_THREAD = """
import ctypes, socket, sys, threading
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
threading.Thread(target=sys.stdin.read).start()
ctypes.CDLL(None).pthread_exit(None)
"""


def test_a_process_is_alive_until_its_last_thread_has_ended() -> None:
    """Its first thread is dead and "Z", and its socket still takes connections."""
    command = [sys.executable, "-c", LISTENS_WITHOUT_ITS_FIRST_THREAD]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        port = int(process.stdout.readline())
        identity = processes.identify(process.pid)
        while (stat := processes.stat_of(process.pid)) and stat.state != "Z":
            time.sleep(0.01)
        socket.create_connection(("127.0.0.1", port), timeout=10).close()
        assert processes.alive(identity)
        process.stdin.close()
        assert processes.wait_gone(identity, 10)
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), timeout=10)


def test_only_the_very_same_process_is_alive() -> None:
    """Another start or another boot is another process, whatever its number."""
    own = processes.identify(os.getpid())
    assert own is not None
    assert processes.alive(own)
    assert not processes.alive(replace(own, ticks=own.ticks + 1))
    assert not processes.alive(replace(own, boot="another"))
    assert not processes.alive(None)


def test_a_process_of_somebody_else_is_never_signalled() -> None:
    """A stale file that names our own number does not end us."""
    own = processes.identify(os.getpid())
    assert own is not None
    assert not processes.send(replace(own, boot="another"), signal.SIGKILL)


def test_a_stale_file_is_removed_and_its_number_left_alone(tmp_path: Path) -> None:
    """`stop` after a reboot: nothing is signalled, the file goes."""
    own = processes.identify(os.getpid())
    assert own is not None
    file = tmp_path / "x.pid"
    processes.write(file, replace(own, boot="another"))
    assert not processes.stop(file)
    assert not file.exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": 1}'])
def test_half_a_file_is_no_process(tmp_path: Path, content: str) -> None:
    """What a full disk or a killed writer leaves is read as nothing."""
    file = tmp_path / "x.pid"
    file.write_text(content)
    assert processes.read(file) is None


def test_a_process_is_started_paused_resumed_and_stopped(tmp_path: Path) -> None:
    """The whole life of a process, by its file."""
    file = tmp_path / "sleep.pid"
    identity = processes.start(["sleep", "60"], tmp_path / "log", file)
    assert processes.read(file) == identity
    processes.pause(identity)
    assert processes.paused(identity)
    processes.resume(identity)
    assert not processes.paused(identity)
    assert processes.stop(file)
    assert not processes.alive(identity)


def test_the_child_of_a_forking_command_is_the_process(tmp_path: Path) -> None:
    """As nsenter and unshare do: it is the child that is noted and signalled."""
    file = tmp_path / "child.pid"
    identity = processes.start(["sh", "-c", "sleep 60; true"], tmp_path / "log", file, forks=True)
    deadline = time.monotonic() + 10
    while not (named := _command(identity.pid)).startswith(b"sleep") and time.monotonic() < deadline:
        time.sleep(0.01)  # between its fork and its exec the child is a shell, too
    assert named.startswith(b"sleep")
    assert processes.stop(file)


def _command(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def test_what_ends_at_once_is_told_with_its_log(tmp_path: Path) -> None:
    """A program that cannot start is an error that carries its last words."""
    command = ["sh", "-c", "echo no such luck; exit 3"]
    with pytest.raises(ToolError, match="no such luck"):
        processes.start(command, tmp_path / "log", tmp_path / "x.pid", forks=True)


def test_a_wait_for_a_program_ends_when_it_is_there(tmp_path: Path) -> None:
    """It looks until then, and no longer."""
    looks = iter([False, False, True])
    processes.wait_until(lambda: next(looks), "it", tmp_path / "log", seconds=10, pause=0)
    assert list(looks) == []


@pytest.mark.parametrize(
    ("runs", "why"), [(True, "not within 0 s"), (False, "its process has ended")], ids=["late", "dead"]
)
def test_a_wait_in_vain_shows_the_end_of_the_log(tmp_path: Path, runs: bool, why: str) -> None:
    """Of the program that did not come, and at once when its process has ended."""
    log = tmp_path / "x.log"
    log.write_text("starting\nno such file\n")
    with pytest.raises(ToolError) as caught:
        processes.wait_until(lambda: False, "x does not listen", log, 0 if runs else 60, runs=lambda: runs)
    assert str(caught.value) == f"x does not listen: {why}; {log} ends with:\n  starting\n  no such file"
