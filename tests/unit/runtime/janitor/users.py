"""Real users: what one of them does in a process of its own, without any right that root would have."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sparkgen.runtime.janitor.values import Owner

JANITOR = 185
"""User and group of the janitor, as rendered (resources.security.SPARK_UID)."""
OTHER = 1000
"""The user of an executor whose document gives it one of its own; its group is 185."""

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="other users can only be played by root")


def run_as(user: int, work: Callable[[], Any], seconds: int = 120) -> Any:
    """What `work` gives in a process of this user, in the group 185 alone; its exception is raised here."""
    reader, writer = os.pipe()
    pid = _fork(user, work, writer, seconds)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        data = answer.read()
    status = os.waitpid(pid, 0)[1]
    assert data, f"it ended without an answer: {os.waitstatus_to_exitcode(status)} (-14: it hung)"
    found, error = pickle.loads(data)  # noqa: S301 - our own process wrote it
    if error is not None:
        raise error
    return found


def _fork(user: int, work: Callable[[], Any], writer: int, seconds: int) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:  # the child: it never returns
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
        # What the tests' own process has open is not this user's, and counts against no limit on descriptors.
        os.closerange(3, writer)
        os.closerange(writer + 1, os.sysconf("SC_OPEN_MAX"))
        os.setgroups([])
        os.setgid(JANITOR)
        os.setuid(user)
        os.umask(0o007)
        try:
            result = (work(), None)
        except Exception as error:  # noqa: BLE001 - it is raised where it was asked for
            result = (None, error)
        with os.fdopen(writer, "wb") as answer:
            pickle.dump(result, answer)
    finally:
        os._exit(0)


@contextmanager
def running_as(user: int, work: Callable[[], Any]) -> Iterator[None]:
    """User code that goes on meanwhile: `work` again and again, whatever comes of it, until it is killed."""

    def forever() -> None:
        while True:
            try:
                work()
            except OSError:
                time.sleep(0.0001)

    reader, writer = os.pipe()
    pid = _fork(user, forever, writer, 120)
    os.close(writer)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(reader)


@dataclass(frozen=True)
class Node:
    """A directory of the service on a node, as `prepare` and the kubelet make it."""

    directory: Path

    def make(self, owner: Owner) -> Path:
        """An application's sub-directory, as the kubelet makes it for a subPath: root's, of the group 185."""
        folder = self.directory / owner.folder
        folder.mkdir()
        os.chown(folder, 0, JANITOR)
        folder.chmod(0o2770)
        return folder

    def left(self) -> set[str]:
        """What is in the directory."""
        return {path.name for path in self.directory.iterdir()}


@contextmanager
def prepared_node() -> Iterator[Node]:
    """A node, outside of pytest's own folders: those are closed to other users."""
    memory = Path("/dev/shm")  # noqa: S108 - a disk that others use takes a minute for what memory does in one second
    root = Path(tempfile.mkdtemp(prefix="sparkgen-janitor-", dir=memory if memory.is_dir() else None))
    try:
        root.chmod(0o755)
        directory = root / "shuffle"
        directory.mkdir()
        os.chown(directory, 0, JANITOR)
        directory.chmod(0o2770)
        yield Node(directory)
    finally:  # Python's own functions cannot remove what is nested deep
        subprocess.run(["rm", "-rf", str(root)], check=True)
