"""Processes that never outlive sparkgen: each has its own session, with everything it starts."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from sparkgen.local import reaper as reaper_program
from sparkgen.local.reaper import signal_sessions

SWEEP_SECONDS = 2.0
"""Seconds after SIGKILL: a process that still exists then hangs in the kernel, and cannot be ended."""


class Reaper:
    """The process that cleans up when this one is killed (reaper.py)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(reaper_program.__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a Ctrl-C is for sparkgen, which ends in order
        )

    def began(self, session: int) -> None:
        """Record that a session has begun."""
        self._say(f"+{session}")

    def ended(self, session: int) -> None:
        """Record that a session has ended, with all its processes."""
        self._say(f"-{session}")

    def holds(self, folder: Path) -> None:
        """Record a folder that must be deleted in any case."""
        self._say(f"folder {folder}")

    def close(self) -> None:
        """Make the reaper end what is left, and wait until it has."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        self._process.wait()

    def _say(self, line: str) -> None:
        stream = self._process.stdin
        if stream is None:
            return
        with self._lock, contextlib.suppress(OSError):  # the reaper was killed: nothing cleans up
            stream.write(f"{line}\n".encode())
            stream.flush()


class Process:
    """A program that runs in its own session. Raises OSError if it cannot be started."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        reaper: Reaper,
        *,
        stdout: int | IO[bytes],
        stderr: int | IO[bytes],
    ) -> None:
        self._reaper = reaper
        self._lock = threading.Lock()
        self._reaped = False
        self._popen = subprocess.Popen(
            list(command),
            env=dict(environment),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        self.pid = self._popen.pid
        reaper.began(self.pid)

    @property
    def stdout(self) -> IO[bytes] | None:
        """The pipe with its standard output, if one was requested."""
        return self._popen.stdout

    def wait(self) -> int:
        """Wait until it has ended, and end all that it started. Returns its exit code, negative for a signal.

        Only one thread may wait for a process.
        """
        if hasattr(os, "waitid"):
            # It stays a zombie, so that its session's number is not used again while the rest is ended.
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        else:
            self._popen.wait()
        with self._lock:
            _sweep(self.pid)
            code = self._popen.wait()
            self._reaped = True
        self._reaper.ended(self.pid)
        return code

    def terminate(self) -> None:
        """Ask it to end, with SIGTERM to its process group."""
        with self._lock, contextlib.suppress(ProcessLookupError, PermissionError):
            if not self._reaped:
                os.killpg(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """End it at once, and all that it has started."""
        with self._lock:
            if not self._reaped:
                signal_sessions([self.pid], signal.SIGKILL)


def _sweep(session: int) -> None:
    """End what a program has left in its session; SIGKILL takes a moment."""
    deadline = time.monotonic() + SWEEP_SECONDS
    while signal_sessions([session], signal.SIGKILL) and time.monotonic() < deadline:
        time.sleep(0.01)
