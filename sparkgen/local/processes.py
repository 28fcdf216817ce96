"""Processes that never outlive sparkgen: each in a session of its own, with everything it starts."""

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
"""A process that a SIGKILL has not ended by then hangs in the kernel, and nothing here helps."""


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
        """A session has begun."""
        self._say(f"+{session}")

    def ended(self, session: int) -> None:
        """A session has ended with all that was in it."""
        self._say(f"-{session}")

    def holds(self, folder: Path) -> None:
        """A folder that has to go in any case."""
        self._say(f"folder {folder}")

    def close(self) -> None:
        """Let it end what is left, and wait for that."""
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
        self._process.wait()

    def _say(self, line: str) -> None:
        stream = self._process.stdin
        if stream is None:
            return
        with self._lock, contextlib.suppress(OSError):  # killed by somebody: then nobody keeps
            stream.write(f"{line}\n".encode())
            stream.flush()


class Process:
    """A program that runs in its own session. OSError when it cannot be started."""

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
        """What it prints, when that was asked for as a pipe."""
        return self._popen.stdout

    def wait(self) -> int:
        """Its exit code, negative for a signal, after it has ended and all that it had started is gone.

        One thread waits for a process.
        """
        if hasattr(os, "waitid"):
            # It stays a zombie, so that its session's number is nobody else's while the rest is ended.
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
        """Ask it to end: SIGTERM to its process group."""
        with self._lock, contextlib.suppress(ProcessLookupError, PermissionError):
            if not self._reaped:
                os.killpg(self.pid, signal.SIGTERM)

    def kill(self) -> None:
        """End it and all that it has started, at once."""
        with self._lock:
            if not self._reaped:
                signal_sessions([self.pid], signal.SIGKILL)


def _sweep(session: int) -> None:
    """End what a program has left behind in its session; SIGKILL takes a moment to be done."""
    deadline = time.monotonic() + SWEEP_SECONDS
    while signal_sessions([session], signal.SIGKILL) and time.monotonic() < deadline:
        time.sleep(0.01)
