"""Write a render into a directory, whole or not at all.

Everything new is staged in a hidden folder of the directory itself (one file system: a rename replaces a file
at once), and the old files are kept there by hard links. Then a few renames follow each other with signals
held back. If one fails, the old files go back; if the process is killed, the next run puts them back before
it starts.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sparkgen.errors import SparkgenError
from sparkgen.writers.held import held, refuse_links
from sparkgen.writers.manifest import KUSTOMIZATION
from sparkgen.writers.recovery import Journal, Stage, recover, remove_empty, settle
from sparkgen.writers.signals import cleanly_ended, held_back
from sparkgen.writers.tree import Changes, compare

Rename = Callable[[Path, Path], object]


@dataclass(frozen=True, slots=True)
class Step:
    """One move of the commit. `path`: relative to the directory; `existed`.

    Whether a file stood there before.
    """

    path: str
    existed: bool
    removes: bool


def write(
    directory: Path, files: Mapping[str, str], *, below: str = "", rename: Rename = os.replace
) -> Changes:
    """Make `directory` hold `files` (text by relative path) and no other file of an earlier render.

    With `below`, it is this folder in it, and no link leads there. The changes are returned. Files that
    differ in their header only are not touched, nor is anything that sparkgen did not write. On any failure
    the directory is as it was. SparkgenError says what is in the way or what the file system refused.
    `rename` is for tests.
    """
    folder = directory / below
    made: list[Path] = []
    try:
        refuse_links(directory, below)
        made = _missing(folder)
        directory.mkdir(parents=True, exist_ok=True)
        with held(directory, below, make=True) as at, _locked(at, folder), cleanly_ended():
            recover(at, shown=folder)
            changes = compare(at, files, shown=folder)
            if changes:
                _replace(Stage(at, folder), changes, rename)
            return changes
    except OSError as error:
        remove_empty(made)
        raise refused(folder, error) from error
    except BaseException:
        remove_empty(made)
        raise


def refused(directory: Path, error: OSError, verb: str = "write to") -> SparkgenError:
    """What the file system would not do, and what to do about it."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        advice = "free some space or choose another directory with --output-dir"
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        advice = "make it writable or choose another directory with --output-dir"
    else:
        advice = "choose another directory with --output-dir"
    reason = error.strerror or str(error)
    return SparkgenError(f"cannot {verb} {directory}: {reason}; nothing in it was changed. Next: {advice}")


def _missing(directory: Path) -> list[Path]:
    """The directory and those of its parents that are not there yet, deepest first."""
    missing = []
    path = directory
    while not path.exists() and not path.is_symlink():
        missing.append(path)
        path = path.parent
    if not path.is_dir():
        raise SparkgenError(f"{path} is not a directory: choose another one with --output-dir")
    return missing


@contextlib.contextmanager
def _locked(directory: Path, shown: Path) -> Iterator[None]:
    """Let one process write at a time.

    The lock goes when the process goes; where the file system has none, there is none.
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
                f"another sparkgen is writing to {shown}: wait until it is done, then run this again"
            ) from error
        except OSError:
            pass  # network file systems may have no locks
        yield
    finally:
        os.close(handle)


def _replace(stage: Stage, changes: Changes, rename: Rename) -> None:
    """Stage everything, then commit."""
    directory = stage.directory
    steps = _steps(changes)
    stage.path.mkdir(mode=0o700)
    try:
        for number, step in enumerate(steps):
            _prepare(stage, number, step, changes)
        settle([stage.new(number) for number, step in enumerate(steps) if not step.removes])
        folders = [name for name in _folders(steps, removes=False) if not (directory / name).exists()]
        journal = Journal(tuple((step.path, step.existed) for step in steps), tuple(folders))
        stage.open(journal)
        with held_back():
            _commit(stage, steps, journal, rename)
            stage.remove()
    finally:
        stage.remove()
    remove_empty(directory / name for name in _folders(steps, removes=True))


def _steps(changes: Changes) -> list[Step]:
    """New files first, then the kustomization that lists them, then what it lists no more.

    A reader never misses a listed file.
    """
    last = [path for path in changes.write if path == KUSTOMIZATION]
    written = [path for path in changes.write if path != KUSTOMIZATION] + last
    return [
        *(Step(path, path in changes.old, removes=False) for path in written),
        *(Step(path, existed=True, removes=True) for path in changes.stale),
    ]


def _folders(steps: Iterable[Step], *, removes: bool) -> list[str]:
    """The folders in which files are written, or removed."""
    names = (step.path.rpartition("/")[0] for step in steps if step.removes is removes)
    return [name for name in dict.fromkeys(names) if name]


def _prepare(stage: Stage, number: int, step: Step, changes: Changes) -> None:
    """Keep the old file and stage the new one."""
    if not step.removes:
        stage.new(number).write_bytes(changes.write[step.path].encode())
    if not step.existed:
        return
    with stage.at(step.path) as target:
        _keep(target, stage.old(number))
    kept = stage.old(number).lstat()
    if not stat.S_ISREG(kept.st_mode):
        raise SparkgenError(f"{stage.shown / step.path} was replaced by a link meanwhile: run this again")
    if not step.removes:
        stage.new(number).chmod(stat.S_IMODE(kept.st_mode))


def _keep(target: Path, backup: Path) -> None:
    try:
        os.link(target, backup, follow_symlinks=False)
    except OSError:  # a file system without hard links
        shutil.copy2(target, backup, follow_symlinks=False)


def _commit(stage: Stage, steps: list[Step], journal: Journal, rename: Rename) -> None:
    """Move everything into place; removing the journal is the moment from which the new files count."""
    directory = stage.directory
    try:
        for name in journal.folders:
            (directory / name).mkdir()
        for number, step in enumerate(steps):
            with stage.at(step.path) as target:
                if step.removes:
                    target.unlink()
                else:
                    rename(stage.new(number), target)
        settle([directory, *(directory / name for name in _folders(steps, removes=False))])
        stage.journal.unlink()
    except BaseException:
        stage.undo(journal)
        raise
