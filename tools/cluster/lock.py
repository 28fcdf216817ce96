"""One user at a time: a lock on the whole machine's cluster, with a line that says who holds it."""

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
    """Who holds the lock, from the text in its file; `now` in seconds since 1970."""
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
    """Hold the lock at `path` while `doing`; ToolError that names the holder when somebody else has it.

    The kernel frees it when this process ends, however it ends; the file is removed at the end. A process
    that the holder has started works under the holder's lock: so a test can run the commands.
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
            path.unlink(missing_ok=True)  # while we hold it: whoever waits on this file sees that it is gone


def _open(path: Path, ancestors: Set[int]) -> IO[str] | None:
    """The file, locked; None when one of `ancestors` (process numbers) holds it."""
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
        # Between opening and locking, the former holder may have removed the file that we opened.
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_ino == os.fstat(file.fileno()).st_ino:
                return file
        file.close()
