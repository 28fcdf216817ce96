"""The service's directories: the owners of sub-directories, how full the disk is, and removing trees."""

from __future__ import annotations

import fcntl
import os
import secrets
import stat
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from sparkgen.runtime.janitor.removal import DIRECTORY, Removed, remove_tree
from sparkgen.runtime.janitor.values import Discarded, DiskContents, Owner, Trash, owner_of

TRASH = ".trash-"
"""The prefix of names of trees that are being removed. They are renamed first, so that nobody ever sees only
a part of an application's files."""
LOCK = ".in-use"
"""Executors lock this file in their sub-directory while they run (shuffle.sh)."""
MAX_FOLDERS = 20_000
"""The most sub-directories handled at once. A node has some hundreds, unless somebody creates fake ones."""


def open_untrusted(name: str, parent: int) -> int:
    """A descriptor for reading a regular file of another user.

    Raises OSError for anything else: opening a named pipe would block, and a link could lead anywhere.
    Raises BlockingIOError if a process holds a lease on the file.
    """
    found = os.open(
        name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC, dir_fd=parent
    )
    if stat.S_ISREG(os.fstat(found).st_mode):
        return found
    os.close(found)
    raise OSError(f"{name} is not a regular file")


@contextmanager
def opened(path: Path | str, parent: int | None = None, *, follow: bool = False) -> Iterator[int]:
    """A context with the descriptor of a directory. Raises OSError, also for a link unless `follow`."""
    found = os.open(path, os.O_PATH | (DIRECTORY & ~os.O_NOFOLLOW if follow else DIRECTORY), dir_fd=parent)
    try:
        yield found
    finally:
        os.close(found)


class Disk:
    """The directories of one service on one node. `new_name` returns an unpredictable name at each call."""

    def __init__(
        self, directories: Sequence[Path], new_name: Callable[[], str] = lambda: secrets.token_hex(8)
    ) -> None:
        self._directories = directories
        self._new_name = new_name

    def look(self, known: Container[Owner] = ()) -> DiskContents:
        """The contents of the directories. Raises OSError if none of them can be read.

        If there are more than MAX_FOLDERS, `known` owners come first, so that new ones cannot push them out.
        """
        kept: set[Owner] = set()
        new: set[Owner] = set()
        trash: list[Trash] = []
        faults: list[OSError] = []
        crowded = False
        for directory in self._directories:
            try:
                for name in _names(directory):
                    owner = owner_of(name)
                    if owner is not None:
                        of = kept if owner in known else new
                        of.add(owner)
                        crowded |= len(of) > MAX_FOLDERS
                        if len(of) > MAX_FOLDERS:
                            of.discard(owner)
                    elif name.startswith(TRASH) and len(trash) < MAX_FOLDERS:
                        trash.append(Trash(str(directory), name))
            except OSError as error:
                faults.append(error)
        if len(faults) == len(self._directories):
            raise faults[0]
        room = MAX_FOLDERS - len(kept)
        owners = kept | set(sorted(new)[:room]) if len(new) > room else kept | new
        return DiskContents(
            frozenset(owners), tuple(trash), tuple(map(str, faults)), crowded=crowded or len(new) > room
        )

    def is_held(self, owner: Owner) -> bool:
        """Whether an executor on this node uses the owner's files."""
        return any(_is_locked(directory, owner.folder) for directory in self._directories)

    def used(self) -> float:
        """The used share (0 to 1) of the fullest file system, of blocks or inodes. Raises OSError."""
        shares, faults = [], []
        for directory in self._directories:
            try:
                shares.append(_used(directory))
            except OSError as error:
                faults.append(error)
        if not shares:
            raise faults[0]
        return max(shares)

    def discard(self, owner: Owner) -> Discarded:
        """Rename an application's sub-directories, to mark them for removal."""
        made, fault = [], ""
        for directory in self._directories:
            try:
                made.append(Trash(str(directory), self._rename(directory, owner)))
            except FileNotFoundError:
                continue
            except OSError as error:
                fault = str(error)
        return Discarded(tuple(made), fault)

    def _rename(self, directory: Path, owner: Owner) -> str:
        with opened(directory, follow=True) as parent:
            name = f"{TRASH}{owner.folder}"
            with suppress(FileNotFoundError):
                os.stat(name, dir_fd=parent, follow_symlinks=False)
                name += f"-{self._new_name()}"  # an earlier removal is stuck, and an executor wrote later
            os.rename(owner.folder, name, src_dir_fd=parent, dst_dir_fd=parent)
            return name

    def remove(self, trash: Trash, expired: Callable[[], bool]) -> Removed:
        """Continue a removal until `expired`. Raises OSError if its directory cannot be opened."""
        with opened(trash.directory, follow=True) as parent:
            return remove_tree(parent, trash.name, expired, lambda: f"{TRASH}{self._new_name()}")


def _names(directory: Path) -> Iterator[str]:
    with os.scandir(directory) as entries:
        for entry in entries:
            yield entry.name


def _used(directory: Path) -> float:
    status = os.statvfs(directory)
    blocks, inodes = status.f_blocks - status.f_bfree + status.f_bavail, status.f_files
    of_blocks = 1 - status.f_bavail / blocks if blocks else 0.0
    of_inodes = 1 - status.f_favail / inodes if inodes else 0.0
    return max(of_blocks, of_inodes)


def _is_locked(directory: Path, folder: str) -> bool:
    """Whether a running process holds an application's lock.

    A file that is not a lock, or that is unreadable for us, proves nothing: then only the cluster's answer
    counts.
    """
    try:
        with opened(directory, follow=True) as parent, opened(folder, parent) as inner:
            lock = open_untrusted(LOCK, inner)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            finally:
                os.close(lock)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
