"""A small process beside a local run, which ends all processes of the run if sparkgen itself is killed.

It reads a pipe that only sparkgen has open: `+123` for a session that has begun, `-123` for one that has
ended, `folder PATH` for a folder to delete. When the pipe closes, sparkgen has ended, in whatever way.

It is started as a file: it imports only the standard library.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path

PATIENCE_SECONDS = 3.0
_SESSION_FIELD = 3  # of /proc/PID/stat, counted behind the command's name


def members(sessions: Iterable[int]) -> list[int]:
    """All processes of these sessions; without /proc, only their leaders, to signal their process groups."""
    wanted = set(sessions)
    proc = Path("/proc")
    if not (proc / "self" / "stat").exists():
        return sorted(wanted)
    return [pid for pid in _pids(proc) if _session(proc / str(pid)) in wanted]


def _pids(proc: Path) -> list[int]:
    return sorted(int(entry.name) for entry in proc.iterdir() if entry.name.isdigit())


def _session(folder: Path) -> int | None:
    try:
        fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
    except OSError:  # it has ended
        return None
    return None if fields[0] == b"Z" else int(fields[_SESSION_FIELD])


def signal_sessions(sessions: Iterable[int], number: int) -> bool:
    """Send a signal to all processes of these sessions; returns whether there were any."""
    found = False
    for pid in members(sessions):
        try:
            (os.kill if Path("/proc/self/stat").exists() else os.killpg)(pid, number)
            found = True
        except (ProcessLookupError, PermissionError):
            continue
    return found


def end(sessions: set[int], patience: float = PATIENCE_SECONDS) -> None:
    """End all processes of these sessions: with SIGTERM, and after `patience` seconds with SIGKILL."""
    deadline = time.monotonic() + patience
    signal_sessions(sessions, signal.SIGTERM)
    while members(sessions) and time.monotonic() < deadline:
        time.sleep(0.1)
    while signal_sessions(sessions, signal.SIGKILL) and time.monotonic() < deadline + patience:
        time.sleep(0.1)


def follow(lines: Iterable[str]) -> tuple[set[int], set[str]]:
    """The sessions and folders that are left when the lines end."""
    sessions: set[int] = set()
    folders: set[str] = set()
    for line in lines:
        word, _, rest = line.strip().partition(" ")
        if word == "folder":
            folders.add(rest)
        elif word == "kept":
            folders.discard(rest)
        elif word.startswith("+"):
            sessions.add(int(word))
        elif word.startswith("-"):
            sessions.discard(-int(word))
    return sessions, folders


def main() -> None:
    """Read standard input to its end, then clean up."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sessions, folders = follow(sys.stdin)
    if sessions:
        end(sessions)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
