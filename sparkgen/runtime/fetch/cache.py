"""A folder that pods of a node share, with layers by their digest: each is downloaded once.

Whoever else may write there may be hostile. What is read there is copied first and verified then, whoever
holds a lock is waited for a bounded time, and no link is followed. So a neighbour can at worst make a pod
download again.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import itertools
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from sparkgen.runtime.fetch.download import Time
from sparkgen.runtime.fetch.values import Artifact

CHUNK = 1 << 20
LONGEST_WAIT = 300.0
"""Seconds to wait for other pods of the node that download the same, for all layers together."""
POLL = 0.2
KEPT_SECONDS = 30 * 24 * 3600.0
"""What nobody has used for so long is removed whenever something is added."""
DRAFT_SECONDS = 2 * 3600.0
"""So does a file that nobody has written to for so long before it was whole: whoever began it was killed."""
MOST_LOOKED_AT = 100_000
"""Entries of the folder, which others can fill."""
_READABLE = 0o644


class Cache:
    """The folder. What goes wrong in it is said, and never more: each pod can do without."""

    def __init__(
        self, folder: Path, time: Time, wall: Callable[[], float], say: Callable[[str], None]
    ) -> None:
        """`wall`: seconds since 1970, as files have them."""
        self._folder = folder
        self._time = time
        self._wall = wall
        self._say = say
        self._waited = 0.0

    def take(self, artifact: Artifact, file: BinaryIO) -> bool:
        """Write a layer that is there into an empty file; False, with the file empty, where it is not."""
        try:
            with self._opened(artifact) as found:
                good = _copied(found, file, artifact)
        except FileNotFoundError:
            return False
        except OSError as error:
            self._say(f"cannot read the cache: {error}")
            good = False
        if not good:
            file.seek(0)
            file.truncate()
        return good

    def put(self, artifact: Artifact, file: BinaryIO) -> None:
        """Keep a verified layer for the other pods of the node."""
        draft = self._folder / f".{_name(artifact)}.{secrets.token_hex(8)}"
        try:
            self._remove_unused()
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with os.fdopen(os.open(draft, flags, 0o600), "wb") as kept:
                file.seek(0)
                while chunk := file.read(CHUNK):
                    kept.write(chunk)
                os.fchmod(kept.fileno(), _READABLE)
            draft.replace(self._folder / _name(artifact))
        except OSError as error:
            self._say(f"cannot write the cache, so the next pod downloads again: {error}")
        finally:
            with contextlib.suppress(OSError):
                draft.unlink(missing_ok=True)

    @contextlib.contextmanager
    def alone(self, artifact: Artifact) -> Iterator[None]:
        """Be the only pod of the node that downloads this layer, as far as others allow it."""
        descriptor = None
        try:
            flags = os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
            descriptor = os.open(self._folder / f"{_name(artifact)}.lock", flags, _READABLE)
            self._wait_for(descriptor)
        except OSError as error:
            self._say(f"cannot lock the cache, so this pod downloads separately: {error}")
        try:
            yield
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def _wait_for(self, descriptor: int) -> None:
        began = self._time.now()
        while not _locked(descriptor):
            if self._waited + self._time.now() - began > LONGEST_WAIT:
                self._say(
                    "another pod on the node takes too long to download, so this pod downloads separately"
                )
                break
            self._time.sleep(POLL)
        self._waited += self._time.now() - began

    @contextlib.contextmanager
    def _opened(self, artifact: Artifact) -> Iterator[BinaryIO]:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(self._folder / _name(artifact), flags)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(f"{_name(artifact)} is not a file")
            with contextlib.suppress(OSError):  # another user's
                os.utime(descriptor)
            yield file

    def _remove_unused(self) -> None:
        now = self._wall()
        with os.scandir(self._folder) as entries:  # one at a time: others can fill the folder
            for entry in itertools.islice(entries, MOST_LOOKED_AT):
                if not entry.name.lstrip(".").startswith("sha256-"):
                    continue
                kept = DRAFT_SECONDS if entry.name.startswith(".") else KEPT_SECONDS
                with contextlib.suppress(OSError):  # another pod has removed it, or may only
                    found = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(found.st_mode) and found.st_mtime < now - kept:
                        os.unlink(entry)  # noqa: PTH108 - a folder of thousands


def _name(artifact: Artifact) -> str:
    return artifact.digest.replace(":", "-")


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _copied(found: BinaryIO, file: BinaryIO, artifact: Artifact) -> bool:
    """Copy at most the layer's size; whether the copy is the layer."""
    whole, size = hashlib.sha256(), 0
    while chunk := found.read(min(CHUNK, artifact.size + 1 - size)):
        whole.update(chunk)
        size += len(chunk)
        if size > artifact.size:
            return False
        file.write(chunk)
    return size == artifact.size and f"sha256:{whole.hexdigest()}" == artifact.digest
