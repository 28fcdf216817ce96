"""Processes that outlive this one, each with a file that identifies it.

A process id alone is not enough: after a reboot, or days, another process may have it. So the file has the
process id, the time at which the process started (in the kernel's ticks since boot), and the boot's id. Only
a process that matches all three is ever signalled.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from common.cachedir import ToolError
from common.command import wait_for

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Identity:
    """A process: its id, its start in ticks since boot, and the boot's id."""

    pid: int
    ticks: int
    boot: str


@dataclass(frozen=True, slots=True)
class Stat:
    """Values of /proc/PID/stat: the letter of the state, the number of threads, and the start in ticks.

    The state "Z" means dead but not yet collected.
    """

    state: str
    threads: int
    ticks: int


def parse_stat(text: str) -> Stat:
    """The values in the text of /proc/PID/stat; the command's name, in parentheses, may have any text."""
    fields = text.rpartition(")")[2].split()
    return Stat(fields[0], int(fields[17]), int(fields[19]))


def boot_id() -> str:
    """The id of this boot, which is different after every reboot."""
    return BOOT_ID.read_text().strip()


def stat_of(pid: int) -> Stat | None:
    """The values of /proc/PID/stat; None if there is no such process."""
    try:
        return parse_stat(Path(f"/proc/{pid}/stat").read_text())
    except (FileNotFoundError, ProcessLookupError):
        return None


def identify(pid: int) -> Identity | None:
    """The identity of a running process; None if there is no such process."""
    found = stat_of(pid)
    return Identity(pid, found.ticks, boot_id()) if found else None


def alive(identity: Identity | None) -> bool:
    """Whether this process still runs (or is paused).

    A killed process may be "Z" while its other threads are still ending: until then its sockets listen.
    """
    if identity is None or identity.boot != boot_id():
        return False
    found = stat_of(identity.pid)
    if found is None or found.ticks != identity.ticks:
        return False
    return found.state not in "ZX" or found.threads > 1


def paused(identity: Identity) -> bool:
    """Whether the process is stopped by a signal."""
    found = stat_of(identity.pid)
    return found is not None and found.state == "T"


def read(path: Path) -> Identity | None:
    """The identity in a file; None if there is no file, or an incomplete one."""
    try:
        return Identity(**json.loads(path.read_text()))
    except (FileNotFoundError, json.JSONDecodeError, TypeError):
        return None


def write(path: Path, identity: Identity) -> None:
    """Write the file atomically."""
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(asdict(identity)))
    fresh.rename(path)


def start(command: Sequence[str], log: Path, pid_file: Path, *, forks: bool = False) -> Identity:
    """Start a process that outlives this one, and write its identity to `pid_file`. Returns the identity.

    `forks`: `command` forks once and waits (as nsenter and unshare do to enter a process namespace), and its
    child is the process. Raises ToolError with the end of the log if it ends at once.
    """
    with log.open("ab") as output:
        process = subprocess.Popen(
            list(command),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that Ctrl-C in this terminal does not reach it
        )
    write_first = identify(process.pid)
    if write_first:
        write(pid_file, write_first)  # so that a running process always has a file
    pid = _child(process) if forks else process.pid
    identity = identify(pid) if pid else None
    if identity is None or process.poll() is not None:
        raise ToolError(f"{pid_file.stem} ended at once; its log {log} ends with:\n{last_lines(log)}")
    write(pid_file, identity)
    return identity


def _child(process: subprocess.Popen[bytes], seconds: float = 10) -> int | None:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")

    def found() -> list[str]:
        with contextlib.suppress(FileNotFoundError):
            return children.read_text().split()
        return []

    wait_for(lambda: found() or process.poll() is not None, seconds, pause=0.01)
    return next(map(int, found()), None)


def last_lines(log: Path, lines: int = 8) -> str:
    """The last lines of a log, indented."""
    text = log.read_text(errors="replace") if log.exists() else ""
    return "\n".join(f"  {line[:300]}" for line in text.strip().splitlines()[-lines:])


def send(identity: Identity | None, number: signal.Signals) -> bool:
    """Send a signal to this process. Returns False if it no longer exists."""
    if identity is None or not alive(identity):
        return False
    with contextlib.suppress(ProcessLookupError):
        os.kill(identity.pid, number)
        return True
    return False


def stop(pid_file: Path, seconds: float = 5, *, kill: bool = False) -> bool:
    """End the process of a file, first by SIGTERM unless `kill`, and remove the file.

    Returns whether it was running. Raises ToolError if it cannot be ended.
    """
    identity = read(pid_file)
    was_running = alive(identity)
    if was_running and not kill:
        send(identity, signal.SIGTERM)
        send(identity, signal.SIGCONT)  # a paused process handles SIGTERM only after this
        wait_gone(identity, seconds)
    if alive(identity):
        send(identity, signal.SIGKILL)
        wait_gone(identity, 10)
    if alive(identity):
        raise ToolError(f"{pid_file.stem} (process {identity.pid if identity else '?'}) cannot be ended.")
    pid_file.unlink(missing_ok=True)
    return was_running


def wait_gone(identity: Identity | None, seconds: float) -> bool:
    """Wait until the process has ended, at most `seconds`. Returns whether it has."""

    def gone() -> bool:
        with contextlib.suppress(ChildProcessError):
            if identity and alive(identity):
                os.waitpid(identity.pid, os.WNOHANG)  # otherwise, a child stays a zombie
        return not alive(identity)

    return wait_for(gone, seconds, pause=0.02)


def wait_until(
    holds: Callable[[], bool],
    what: str,
    log: Path,
    seconds: float,
    runs: Callable[[], bool] = lambda: True,
    pause: float = 0.1,
) -> None:
    """Wait until something holds.

    Raises ToolError with `what` and the end of the log if it does not within so many seconds, or before the
    process that is to do it has ended (`runs` is false).
    """
    deadline = time.monotonic() + seconds
    while not holds():
        ended = not runs()
        if ended or time.monotonic() > deadline:
            why = "its process has ended" if ended else f"not within {seconds:.0f} s"
            raise ToolError(f"{what}: {why}; {log} ends with:\n{last_lines(log)}")
        time.sleep(pause)


def pause(identity: Identity) -> None:
    """Stop the process until `resume`, and wait until it is stopped, at most two seconds."""
    send(identity, signal.SIGSTOP)
    wait_for(lambda: paused(identity) or not alive(identity), 2, pause=0.01)


def resume(identity: Identity) -> None:
    """Resume a paused process, and the nsenter that waits for it, which stops when its child stops."""
    parent = _parent(identity.pid)
    send(identity, signal.SIGCONT)
    wait_for(lambda: not paused(identity), 2, pause=0.01)
    if parent and parent.pid > 1 and paused(parent):
        send(parent, signal.SIGCONT)


def _parent(pid: int) -> Identity | None:
    text = Path(f"/proc/{pid}/stat").read_text()
    return identify(int(text.rpartition(")")[2].split()[1]))


def ancestors() -> set[int]:
    """The process ids of this process's parent, the parent's parent, and so on."""
    result: set[int] = set()
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        found = _parent(os.getpid())
        while found and found.pid not in result:
            result.add(found.pid)
            found = _parent(found.pid)
    return result
