"""The service's directories: whose sub-directories are there, how full they are, and removing one."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from sparkgen.janitor.types import Owner, owner_of

TRASH = ".trash-"
"""What is being removed is named so first: nobody ever sees a part of an application's files."""
LOCK = ".in-use"
"""Executors hold this file of their sub-directory locked for as long as they live (shuffle.sh)."""
DATABASES = ("registeredExecutors.ldb", "registeredExecutors.rdb")
"""Where Spark's service keeps what executors registered (ExternalShuffleService); LevelDB or RocksDB."""
DATABASE_LOCK = "LOCK"
"""The file of a database that RocksDB and LevelDB hold locked for as long as they have it open (fcntl)."""
MODE = 0o2770
"""Readable and writable for the group, which what is made below inherits."""


class BadDirectory(Exception):
    """A directory that cannot be used, and what to do about it."""


class Disk:
    """The directories of one service on one node."""

    def __init__(self, directories: Sequence[Path]) -> None:
        self._directories = directories

    def owners(self) -> frozenset[Owner]:
        """Whose sub-directories there are. OSError when a directory cannot be read."""
        names = (entry.name for directory in self._directories for entry in directory.iterdir())
        return frozenset(owner for name in names if (owner := owner_of(name)))

    def held(self, owners: Iterable[Owner]) -> frozenset[Owner]:
        """Those of which an executor on this node lives."""
        return frozenset(
            owner
            for owner in owners
            if any(_is_locked(directory / owner.folder / LOCK) for directory in self._directories)
        )

    def used(self) -> float:
        """The used share (0 to 1) of the fullest file system, of blocks or of inodes."""
        return max(_used(directory) for directory in self._directories)

    def remove(self, owner: Owner) -> None:
        """Remove an application's files. OSError when something stays; the next `empty` goes on with it."""
        for directory in self._directories:
            trash = directory / f"{TRASH}{owner.folder}"
            with suppress(FileNotFoundError):
                (directory / owner.folder).rename(trash)
            _remove(trash)

    def empty(self) -> None:
        """Finish removals that were interrupted. OSError when something stays."""
        for directory in self._directories:
            for entry in tuple(directory.iterdir()):
                if entry.name.startswith(TRASH):
                    _remove(entry)


def prepare(directories: Sequence[Path], number: str) -> list[str]:
    """Make directories fit for service, executors and janitor; what was done, in words. BadDirectory.

    Runs as their owner, root, without a capability: an owner may give a directory to a group of its own. The
    service does not run yet, so that its database may go, when it speaks of nothing that is there.
    `number` is one that was not used here before.
    """
    for directory in directories:
        status = directory.stat()
        group, fits = os.getegid(), status.st_mode & 0o7777 == MODE
        if status.st_gid == group and fits:
            continue
        if status.st_uid != os.geteuid():
            raise BadDirectory(
                f"{directory} belongs to user {status.st_uid}: give it to user {os.geteuid()}, or make it "
                f"of group {group} with mode {MODE:o}, on this node"
            )
        os.chown(directory, -1, group)
        directory.chmod(MODE)
    done = [f"{directory} is of group {os.getegid()}, mode {MODE:o}" for directory in directories]
    if not Disk(directories).owners():
        for database in (directory / name for directory in directories for name in DATABASES):
            if database.exists():
                database.rename(database.with_name(f"{TRASH}{database.name}-{number}"))
                done.append(f"{database} goes: no application's files are left that it speaks of")
    return done


def open_database(directories: Sequence[Path]) -> Path | None:
    """The database that a service has open; None when there is none.

    A service that starts beside another one takes the database, which is locked, for a broken one: it deletes
    it, and no executor is known any more (RocksDBProvider.initRockDB, LevelDBProvider.initLevelDB).
    """
    found = (directory / name for directory in directories for name in DATABASES)
    return next((database for database in found if _is_open(database / DATABASE_LOCK)), None)


def _is_open(lock: Path) -> bool:
    try:
        with lock.open("rb") as file:  # a shared lock needs no right to write
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # there is none
        return False
    return False


def _used(directory: Path) -> float:
    status = os.statvfs(directory)
    blocks, inodes = status.f_blocks - status.f_bfree + status.f_bavail, status.f_files
    of_blocks = 1 - status.f_bavail / blocks if blocks else 0.0
    of_inodes = 1 - status.f_favail / inodes if inodes else 0.0
    return max(of_blocks, of_inodes)


def _is_locked(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # there is none, or it is not ours to read: the cluster's word counts alone
        return False
    return False


def _remove(path: Path) -> None:
    """Remove a tree. What goes by itself meanwhile is as good; the first thing that stays is raised."""
    failures: list[OSError] = []

    def failed(_function: object, _path: object, info: tuple[object, BaseException, object]) -> None:
        if isinstance(info[1], OSError) and not isinstance(info[1], FileNotFoundError):
            failures.append(info[1])

    shutil.rmtree(path, onerror=failed)
    if failures:
        raise failures[0]
