"""A lock on the machine's cluster, so that one process uses it at a time; its file says who holds it."""

from __future__ import annotations

import contextlib
import fcntl
import getpass
import json
import os
import time
from collections.abc import Iterator, Set
from pathlib import Path
from typing import IO

from cluster import processes
from common.cachedir import ToolError


def describe(text: str, now: float) -> str:
    """The holder of the lock in words, from the text in its file; `now` in seconds since 1970."""
    try:
        holder = json.loads(text)
        seconds = int(now - holder["since"])
        return (
            f"`{holder['doing']}` of {holder['user']} in {holder['folder']} "
            f"(process {holder['pid']}), for {seconds} s"
        )
    except (json.JSONDecodeError, KeyError, TypeError):
        return "another process, which has just locked it"


def _holder(text: str) -> int | None:
    try:
        return int(json.loads(text)["pid"])
    except (json.JSONDecodeError, KeyError, TypeError):
        return None


@contextlib.contextmanager
def held(path: Path, doing: str) -> Iterator[None]:
    """Hold the lock at `path` while `doing`. Raises ToolError with the holder if another process has it.

    The kernel frees it when this process ends, however it ends; the file is removed at the end. A process
    that the holder has started uses the holder's lock, so that a test can run the commands.
    """
    file = _open(path, processes.ancestors())
    if file is None:
        yield
        return
    with file:
        text = {
            "doing": doing,
            "user": getpass.getuser(),
            "pid": os.getpid(),
            "folder": str(Path.cwd()),
            "since": time.time(),
        }
        file.truncate(0)
        file.write(json.dumps(text))
        file.flush()
        try:
            yield
        finally:
            path.unlink(missing_ok=True)  # while locked: a process that has it open sees that it is removed


def _open(path: Path, ancestors: Set[int]) -> IO[str] | None:
    """The locked file; None if one of `ancestors` (process ids) holds it. Raises ToolError if others do."""
    while True:
        file = path.open("a+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            text = file.read()
            file.close()
            if _holder(text) in ancestors:
                return None
            raise ToolError(
                f"the cluster is in use by {describe(text, time.time())}. "
                "Wait until it is done, then run this again."
            ) from None
        # Between opening and locking, the previous holder may have removed the opened file.
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_ino == os.fstat(file.fileno()).st_ino:
                return file
        file.close()
