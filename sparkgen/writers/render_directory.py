"""Writes a render to a directory: each file completely, and all or none as far as the file system allows.

All new files are first written to a hidden folder in the directory itself (the same file system, so a rename
replaces a file atomically). If the disk refuses a file, nothing has changed yet. Then the files are renamed,
while signals are held back. If this is interrupted, the next run completes it. The old files are not
restored, because users have them in Git.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from sparkgen.errors import SparkgenError
from sparkgen.writers.atomic import remove_empty, replace, settle
from sparkgen.writers.manifest import KUSTOMIZATION
from sparkgen.writers.open_folders import held, refuse_links
from sparkgen.writers.repository import refuse_way_out
from sparkgen.writers.signals import cleanly_ended, held_back
from sparkgen.writers.tree import LIST, STAGE, Changes, begun, compare

Rename = Callable[[Path, Path], object]


def write(
    directory: Path, files: Mapping[str, str], *, below: str = "", rename: Rename = os.replace
) -> Changes:
    """Write `files` (text by relative path) to `directory`, and delete all other files of an earlier render.

    `below`: write to this folder of the directory, and follow no link to it. Returns the changes. Files that
    differ only in their header, and files that sparkgen did not write, are not changed. Raises SparkgenError,
    which says what is in the way or what the file system refused, and whether anything changed. `rename` is
    for tests.
    """
    folder = directory / below
    made: list[Path] = []
    refuse_way_out(directory)
    try:
        refuse_links(directory, below)
        made = _missing(folder)
        directory.mkdir(parents=True, exist_ok=True)
        with held(directory, below, make=True) as at, _locked(at, folder), cleanly_ended():
            changes = compare(at, files, shown=folder)
            if changes:
                _replace(at, folder, changes, rename)
            else:
                remove_stage(at)
            return changes
    except OSError as error:
        remove_empty(made)
        raise refused(folder, error) from error
    except BaseException:
        remove_empty(made)
        raise


def refused(directory: Path, error: OSError, verb: str = "write to") -> SparkgenError:
    """The error that says what the file system refused, and what to do about it."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        advice = "free some space, or choose another --output-dir"
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        advice = "make it writable, or choose another --output-dir"
    else:
        advice = "choose another --output-dir"
    reason = error.strerror or str(error)
    return SparkgenError(
        f"cannot {verb} {directory}: {reason}; nothing in it was changed. To continue, {advice}"
    )


def _missing(directory: Path) -> list[Path]:
    """The directory and its parents that do not exist yet, deepest first."""
    missing = []
    path = directory
    while not path.exists() and not path.is_symlink():
        missing.append(path)
        path = path.parent
    if not path.is_dir():
        raise SparkgenError(f"{path} is not a directory; choose another --output-dir")
    return missing


@contextlib.contextmanager
def _locked(directory: Path, shown: Path) -> Iterator[None]:
    """Let only one process write at a time.

    The lock ends with the process. Without locks in the file system or the system, there is no lock.
    """
    try:
        import fcntl  # noqa: PLC0415 - not on Windows
    except ImportError:
        yield
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise SparkgenError(
                f"another sparkgen is writing to {shown}; wait until it is done, and run this command again"
            ) from error
        except OSError:
            pass  # network file systems may have no locks
        yield
    finally:
        os.close(handle)


def _replace(directory: Path, shown: Path, changes: Changes, rename: Rename) -> None:
    """Stage all new files, then rename them and remove stale files, with signals held back."""
    stage = directory / STAGE
    earlier = begun(directory)
    clear = partial(remove_stage, directory, keep_list=bool(earlier))
    clear()  # files of a killed run: the lock excludes other runs
    stage.mkdir(mode=0o700, exist_ok=bool(earlier))
    try:
        staged = {path: stage / str(number) for number, path in enumerate(changes.write)}
        for path, new in staged.items():
            new.write_bytes(changes.write[path].encode())
            if path in changes.old:
                with _at(directory, shown, path) as target:
                    _copy_mode(target, new)
        replace(stage, {LIST: "\n".join(dict.fromkeys([*earlier, *changes.write]))})
        settle([*staged.values()])
    except BaseException:
        clear()
        raise
    with held_back():
        _commit(directory, shown, changes, lambda path, target: rename(staged[path], target), clear)


def _copy_mode(old: Path, new: Path) -> None:
    mode = old.lstat().st_mode
    if stat.S_ISREG(mode):  # a link that was created meanwhile is replaced, and its mode has no effect
        new.chmod(stat.S_IMODE(mode) & 0o777)


def _commit(
    directory: Path,
    shown: Path,
    changes: Changes,
    put: Callable[[str, Path], object],
    give_up: Callable[[], object],
) -> None:
    """Move the new files into place, and remove the stale files.

    The kustomizations come last: from the lists in the old ones, the next run finds the files that this run
    did not reach.
    """
    done = 0
    try:
        for path in _kustomizations_last(changes.write, removed=changes.stale):
            with _at(directory, shown, path, make=path in changes.write) as target:
                if path in changes.write:
                    put(path, target)
                else:
                    target.unlink(missing_ok=True)
            done += 1
        settle([directory, *(directory / name for name in _folders(changes.write))])
    except (OSError, SparkgenError) as error:
        if not done:
            give_up()
            remove_empty(directory / name for name in _folders(changes.write))
            raise
        reason = getattr(error, "strerror", None) or error
        raise SparkgenError(
            f"writing to {shown} failed partway: {reason}; only some of its files are up to date. To "
            "complete "
            "it, fix the cause and run this command again"
        ) from error
    remove_stage(directory)
    remove_empty(directory / name for name in _folders(changes.stale))


def _kustomizations_last(written: Iterable[str], removed: Iterable[str]) -> list[str]:
    """All paths in the order of the commit; the directory's own kustomization is last."""
    paths = [*written, *removed]
    listings = [path for path in paths if path.rpartition("/")[2] == KUSTOMIZATION]
    others = [path for path in paths if path not in set(listings)]
    return [*others, *sorted(listings, key=lambda path: path == KUSTOMIZATION)]


def _folders(paths: Iterable[str]) -> list[str]:
    """The folders of these files, without the directory itself."""
    return [name for name in dict.fromkeys(path.rpartition("/")[0] for path in paths) if name]


@contextlib.contextmanager
def _at(directory: Path, shown: Path, path: str, *, make: bool = False) -> Iterator[Path]:
    """The path of a file of the directory, in a folder that is kept open (open_folders.py)."""
    folder, _, name = path.rpartition("/")
    with held(directory, folder, shown=shown, make=make) as inside:
        yield inside / name


def remove_stage(directory: Path, *, keep_list: bool = False) -> None:
    """Remove the staged files; `keep_list`: keep the list of the files that an earlier run was to write."""
    stage = directory / STAGE
    if stage.is_symlink():
        stage.unlink()
    elif keep_list:
        for path in stage.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name != LIST:
                path.unlink()
    else:
        shutil.rmtree(stage, ignore_errors=True)
