"""Removes a tree that belongs to somebody else: by file descriptors, in steps, and never anything outside it.

User code made the tree, and may still be changing it. So no path is ever looked up twice: a directory is
opened without following links, and its entries are only accessed through its descriptor. Nested directories
are moved to the top before they are emptied: a tree of any depth takes six descriptors and no recursion.
"""

from __future__ import annotations

import enum
import errno
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

DIRECTORY = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
NOT_EMPTY = (errno.ENOTEMPTY, errno.EEXIST)
IS_DIRECTORY = (errno.EISDIR, errno.EPERM)
"""The errors of unlink for a directory: on Linux the first, in POSIX the second."""
OWNER_ALL = 0o700


class RemovalOutcome(enum.Enum):
    """The result of a removal."""

    GONE = "gone"
    UNFINISHED = "unfinished"
    """Its time is over, or somebody still writes to the tree."""
    STUCK = "stuck"
    """This process cannot remove the rest."""


@dataclass(frozen=True, slots=True)
class Removed:
    """The result of a removal. `why`: the first reason why entries remain; `entries`: how many remain."""

    outcome: RemovalOutcome
    why: str = ""
    entries: int = 0


def open_directory(name: str, parent: int | None = None, device: int | None = None) -> int:
    """A descriptor of a directory, for reading, searching and changing it. Raises OSError, also for a link.

    If this user owns the directory without having all rights to it, grants them first, as an owner may.
    `device`: that of the tree; a directory of another file system is refused.
    """
    handle = os.open(name, os.O_PATH | DIRECTORY, dir_fd=parent)
    try:
        status = os.fstat(handle)
        if device is not None and status.st_dev != device:
            raise OSError(errno.EXDEV, "another file system is mounted there")
        if status.st_uid == os.geteuid() and status.st_mode & OWNER_ALL != OWNER_ALL:
            # By the descriptor, because the name may mean something else by now.
            Path(f"/proc/self/fd/{handle}").chmod(OWNER_ALL)
        return os.open(".", os.O_RDONLY | DIRECTORY, dir_fd=handle)
    finally:
        os.close(handle)


def remove_tree(parent: int, name: str, expired: Callable[[], bool], new_name: Callable[[], str]) -> Removed:
    """Remove the entry `name` of the directory `parent`, until `expired`. Never raises OSError.

    `new_name` returns an unpredictable name at each call.
    """
    try:
        os.unlink(name, dir_fd=parent)
        return Removed(RemovalOutcome.GONE)
    except FileNotFoundError:
        return Removed(RemovalOutcome.GONE)
    except OSError as error:
        if error.errno not in IS_DIRECTORY:
            return _stuck(error)
    try:
        top = open_directory(name, parent)
    except FileNotFoundError:
        return Removed(RemovalOutcome.GONE)
    except OSError as error:
        return _remove_closed(parent, name, error)
    try:
        return _Tree(top, expired, new_name).remove(parent, name)
    finally:
        os.close(top)


def _stuck(error: OSError) -> Removed:
    return Removed(RemovalOutcome.STUCK, error.strerror or "unknown error", 1)


def _remove_closed(parent: int, name: str, error: OSError) -> Removed:
    """Remove a directory that cannot be opened, if it is empty."""
    try:
        os.rmdir(name, dir_fd=parent)
    except OSError:
        return _stuck(error)
    return Removed(RemovalOutcome.GONE)


class _Tree:
    """One removal. `top`: the descriptor of the topmost directory, into which nested ones are moved."""

    def __init__(self, top: int, expired: Callable[[], bool], new_name: Callable[[], str]) -> None:
        self._top = top
        self._device = os.fstat(top).st_dev
        self._expired = expired
        self._new_name = new_name
        self._done = 0
        self._failures: list[OSError] = []
        self._failed = 0

    def remove(self, parent: int, name: str) -> Removed:
        """Remove everything that can be removed."""
        while True:
            before, self._failures, self._failed = self._done, [], 0
            if not self._pass(self._top, self._empty):
                return Removed(RemovalOutcome.UNFINISHED)
            if self._done == before:
                break
        try:
            os.rmdir(name, dir_fd=parent)
        except FileNotFoundError:
            return Removed(RemovalOutcome.GONE)
        except OSError as error:
            if not self._failures:
                return Removed(RemovalOutcome.UNFINISHED) if error.errno in NOT_EMPTY else _stuck(error)
            why = self._failures[0].strerror or "unknown error"
            return Removed(RemovalOutcome.STUCK, why, self._failed)
        return Removed(RemovalOutcome.GONE)

    def _pass(self, directory: int, full: Callable[[int, str], None]) -> bool:
        """Remove a directory's entries; calls `full` for non-empty directories. False: out of time."""
        with os.scandir(directory) as entries:
            for entry in entries:
                if self._expired():
                    return False
                try:
                    self._remove(directory, entry.name, full)
                except FileNotFoundError:
                    self._done += 1  # another process has removed it
                except OSError as error:
                    self._fail(error)
        return True

    def _fail(self, error: OSError) -> None:
        self._failed += 1
        if not self._failures:
            self._failures.append(error)

    def _remove(self, directory: int, name: str, full: Callable[[int, str], None]) -> None:
        try:
            os.unlink(name, dir_fd=directory)
        except OSError as error:
            if error.errno not in IS_DIRECTORY:
                raise
            try:
                os.rmdir(name, dir_fd=directory)
            except NotADirectoryError:
                raise error from None
            except OSError as not_empty:
                if not_empty.errno not in NOT_EMPTY:
                    raise
                full(directory, name)
                return
        self._done += 1

    def _empty(self, directory: int, name: str) -> None:
        """Empty a directory at the top, and remove it."""
        inner = open_directory(name, directory, self._device)
        try:
            self._pass(inner, self._move_up)
        finally:
            os.close(inner)
        with suppress(OSError):  # otherwise, the next pass tries again
            os.rmdir(name, dir_fd=directory)
            self._done += 1

    def _move_up(self, directory: int, name: str) -> None:
        """Move a directory that is not empty to the top, where a later step empties it."""
        os.close(open_directory(name, directory, self._device))  # moving it needs its own rights
        os.rename(name, self._new_name(), src_dir_fd=directory, dst_dir_fd=self._top)
        self._done += 1
