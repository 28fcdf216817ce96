"""The user's cache: what is downloaded or compiled once, outside of all projects.

It is `$SPARKGEN_CACHE`, or else `$XDG_CACHE_HOME/sparkgen`, or else `~/.cache/sparkgen`. An entry is a folder
whose name contains a key of all its inputs, so that its content never changes.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from sparkgen.local.errors import CannotRun


def cache_root(environment: Mapping[str, str]) -> Path:
    """The cache's folder (absolute; it may not exist yet). An empty variable counts as unset."""
    if own := environment.get("SPARKGEN_CACHE"):
        return Path(own).expanduser().absolute()
    if shared := environment.get("XDG_CACHE_HOME"):
        return Path(shared).expanduser().absolute() / "sparkgen"
    return Path("~/.cache/sparkgen").expanduser()


def key(*parts: str | bytes) -> str:
    """A name for `parts`, in their order: a whole SHA-256, because some parts may be chosen by others."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        whole.update(len(data).to_bytes(8, "big"))  # ("ab", "c") must differ from ("a", "bc")
        whole.update(data)
    return whole.hexdigest()


def publish(target: Path, make: Callable[[Path], None], waiting: Callable[[], None] = lambda: None) -> Path:
    """Returns the folder `target`. If it is missing, `make(folder)` fills a new folder, which is renamed.

    If several processes do this at once, one makes the folder, and the others call `waiting()` and wait. No
    process ever sees an incomplete folder. Raises CannotRun if the cache is not writable.
    """
    if target.is_dir():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target.parent / ".lock", waiting):
            if not target.is_dir():
                _make_beside(target, make)
    except OSError as error:
        raise CannotRun(
            f"cannot write {target}: {error.strerror or error}; free some space there, or set SPARKGEN_CACHE "
            "to a folder on another disk"
        ) from error
    return target


def _make_beside(target: Path, make: Callable[[Path], None]) -> None:
    for stale in target.parent.glob(".new-*"):  # left by a killed process: the lock keeps others out
        shutil.rmtree(stale, ignore_errors=True)
    fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=target.parent))
    try:
        make(fresh)
        fresh.chmod(0o755)  # mkdtemp makes it private
        fresh.rename(target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


@contextlib.contextmanager
def _locked(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold an exclusive lock; the kernel releases it when the process ends, in whatever way."""
    # Others may write to the folder: a link instead of the lock must not empty somebody's file.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o600)
    with os.fdopen(descriptor, "rb+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
