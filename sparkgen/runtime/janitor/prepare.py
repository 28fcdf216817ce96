"""The init container `prepare`: makes the directories fit for use before the service starts."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from sparkgen.runtime.exits import Refused
from sparkgen.runtime.janitor.disk import TRASH, Disk, open_untrusted, opened

DATABASES = ("registeredExecutors.ldb", "registeredExecutors.rdb")
"""Where Spark's service saves what executors registered (ExternalShuffleService); LevelDB or RocksDB."""
DATABASE_LOCK = "LOCK"
"""The database's file that RocksDB and LevelDB keep locked while they have the database open (fcntl)."""
MODE = 0o2770
"""Readable and writable for the group, which new files and folders inherit."""


class BadDirectory(Exception):
    """A directory that cannot be used; the text says what to do."""


def wait_for_the_end(
    folders: Sequence[Path], patience: float, clock: Callable[[], float], sleep: Callable[[float], None]
) -> None:
    """Wait until no service has its database open; a service whose pod was deleted by force may still run.

    Raises Refused if one has it open for longer than `patience` (seconds): the kubelet then retries.
    """
    deadline = clock() + patience
    while database := open_database(folders):
        if clock() > deadline:
            raise Refused(
                f"{database} is open: a shuffle service still uses these directories, and a second one "
                "would lose the data of the first. Stop the first one, or give each service its own "
                "directories"
            )
        sleep(0.2)


def prepare(directories: Sequence[Path], number: str) -> list[str]:
    """Make directories fit for service, executors and janitor. Returns what was done, in words.

    Raises BadDirectory. Runs as their owner, root, without any capability: an owner may give a directory to a
    group that it belongs to. The service does not run yet, so its database may be removed if no application
    in it has files left. `number` is one that was not used here before.
    """
    for directory in directories:
        with opened(directory, follow=True) as found:
            _make_fit(directory, found)
    done = [f"{directory} has group {os.getegid()} and mode {MODE:o}" for directory in directories]
    there = Disk(directories).look()
    if not there.owners and not there.faults:
        for directory in directories:
            with opened(directory, follow=True) as found:
                names = [name for name in DATABASES if _discarded(name, found, number)]
            done += [
                f"removed {directory / name}: none of the applications in it has files left" for name in names
            ]
    return done


def _discarded(name: str, parent: int, number: str) -> bool:
    """Mark a database for removal. Returns whether there is one."""
    try:
        os.rename(name, f"{TRASH}{name}-{number}", src_dir_fd=parent, dst_dir_fd=parent)
    except FileNotFoundError:
        return False
    return True


def _make_fit(directory: Path, descriptor: int) -> None:
    status = os.fstat(descriptor)
    group, fits = os.getegid(), stat.S_IMODE(status.st_mode) == MODE
    if status.st_gid == group and fits:
        return
    if status.st_uid != os.geteuid():
        raise BadDirectory(
            f"{directory} belongs to user {status.st_uid}: on this node, give it to user {os.geteuid()}, or "
            f"to group {group} with mode {MODE:o}"
        )
    checked = Path(f"/proc/self/fd/{descriptor}")  # by its path, another one could be there by now
    os.chown(checked, -1, group)
    checked.chmod(MODE)


def open_database(directories: Sequence[Path]) -> Path | None:
    """The database that a service has open; None if there is none.

    A service that starts beside another one takes the locked database for a broken one and deletes it. Then
    it knows no executor any more (RocksDBProvider.initRockDB, LevelDBProvider.initLevelDB).
    """
    found = (directory / name for directory in directories for name in DATABASES)
    return next((database for database in found if _is_open(database)), None)


def _is_open(database: Path) -> bool:
    try:
        with opened(database) as folder:
            lock = open_untrusted(DATABASE_LOCK, folder)
            try:
                fcntl.lockf(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)  # a shared lock needs no write permission
            finally:
                os.close(lock)
    except BlockingIOError:
        return True
    except OSError:  # there is no database
        return False
    return False
