"""Write a render into a directory, whole or not at all.

Everything new is staged in a hidden folder of the directory itself (one file system: a rename replaces a file
at once), the old files are kept there by hard links, and a journal says what will move. Then a few renames
follow each other with signals held back. If one fails, the old files go back. If the process is killed, the
next run finds the journal and puts them back before it starts.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import shutil
import signal
import stat
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparkgen.errors import SparkgenError
from sparkgen.writers.manifest import KUSTOMIZATION
from sparkgen.writers.tree import Changes, compare

STAGE = ".sparkgen-stage"
_JOURNAL = "journal"
# What a journal may name: a file of the directory or of a folder in it. A journal found in somebody's
# repository leads nowhere else.
_INSIDE = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._-]*/)?[A-Za-z0-9][A-Za-z0-9._-]*")
_HELD = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

Rename = Callable[[Path, Path], object]


@dataclass(frozen=True, slots=True)
class Step:
    """One move of the commit. `path`: relative to the directory; `existed`.

    Whether a file stood there before.
    """

    number: int
    path: str
    existed: bool
    removes: bool


def write(directory: Path, files: Mapping[str, str], *, rename: Rename = os.replace) -> Changes:
    """Make `directory` hold `files` (text by relative path) and no other file of an earlier render.

    The changes are returned. Files that differ in their header only are not touched, nor is anything
    that sparkgen did not write. On any failure the directory is as it was. SparkgenError says what is in the
    way or what the file system refused. `rename` is for tests.
    """
    made: list[Path] = []
    try:
        made = _make(directory)
        with _locked(directory):
            _recover(directory)
            changes = compare(directory, files)
            if changes:
                _replace(directory, changes, rename)
            return changes
    except OSError as error:
        _remove_empty(made)
        raise refused(directory, error) from error
    except BaseException:
        _remove_empty(made)
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


def _make(directory: Path) -> list[Path]:
    """Create the directory and its parents; return those that are new, deepest first."""
    missing = []
    path = directory
    while not path.exists() and not path.is_symlink():
        missing.append(path)
        path = path.parent
    if path.exists() and not path.is_dir():
        raise SparkgenError(f"{path} is not a directory: choose another one with --output-dir")
    directory.mkdir(parents=True, exist_ok=True)
    return missing


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Let one process write at a time. The lock goes when the process goes.

    Where the file system has none, there is none.
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
                f"another sparkgen is writing to {directory}: wait until it is done, then run this again"
            ) from error
        except OSError:
            pass  # network file systems may have no locks
        yield
    finally:
        os.close(handle)


def _replace(directory: Path, changes: Changes, rename: Rename) -> None:
    """Stage everything, then commit."""
    stage = directory / STAGE
    steps = _steps(changes)
    stage.mkdir(mode=0o700)
    try:
        for step in steps:
            _stage(directory, stage, step, changes)
        folders = [name for name in _folders(steps) if not (directory / name).exists()]
        _write_journal(stage, steps, folders)
        with _signals_held():
            _commit(directory, stage, steps, folders, rename)
            _remove_stage(stage)
    finally:
        _remove_stage(stage)
    _remove_empty(
        [
            directory / name
            for name in {step.path.rpartition("/")[0] for step in steps if step.removes}
            if name
        ]
    )


def _steps(changes: Changes) -> list[Step]:
    """New files first, then the kustomization that lists them, then what it lists no more.

    A reader never misses a listed file.
    """
    last = [path for path in changes.write if path == KUSTOMIZATION]
    written = [path for path in changes.write if path != KUSTOMIZATION] + last
    plan = [(path, False) for path in written] + [(path, True) for path in changes.stale]
    return [Step(number, path, path in changes.old, removes) for number, (path, removes) in enumerate(plan)]


def _folders(steps: list[Step]) -> list[str]:
    names = (step.path.rpartition("/")[0] for step in steps if not step.removes)
    return [name for name in dict.fromkeys(names) if name]


def _stage(directory: Path, stage: Path, step: Step, changes: Changes) -> None:
    target = directory / step.path
    if step.existed:
        _keep(target, stage / f"old-{step.number}")
    if step.removes:
        return
    new = stage / f"new-{step.number}"
    _write_synced(new, changes.write[step.path].encode())
    if step.existed:
        new.chmod(stat.S_IMODE(target.stat().st_mode))


def _keep(target: Path, backup: Path) -> None:
    try:
        os.link(target, backup)
    except OSError:  # a file system without hard links
        shutil.copy2(target, backup, follow_symlinks=False)


def _write_synced(path: Path, data: bytes) -> None:
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync_folders(folders: list[Path]) -> None:
    """Bring renames to the disk, so that a power cut leaves one state or the other."""
    for folder in folders:
        with contextlib.suppress(
            OSError
        ):  # Windows cannot open folders; some network file systems cannot sync them
            handle = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


def _write_journal(stage: Path, steps: list[Step], folders: list[str]) -> None:
    """Write down what the commit will do. It stands under its name only when it is whole."""
    value = {"folders": folders, "files": [[step.path, step.existed] for step in steps]}
    draft = stage / "draft"
    _write_synced(draft, json.dumps(value).encode())
    draft.replace(stage / _JOURNAL)
    _sync_folders([stage])


def _commit(directory: Path, stage: Path, steps: list[Step], folders: list[str], rename: Rename) -> None:
    """Move everything into place; removing the journal is the moment from which the new files count."""
    try:
        for name in folders:
            (directory / name).mkdir()
        for step in steps:
            if step.removes:
                (directory / step.path).unlink()
            else:
                rename(stage / f"new-{step.number}", directory / step.path)
        _sync_folders([directory, *(directory / name for name in _folders(steps))])
        (stage / _JOURNAL).unlink()
    except BaseException:
        _put_back(directory, stage, [(step.path, step.existed) for step in steps], folders)
        raise


def _put_back(directory: Path, stage: Path, files: list[tuple[str, bool]], folders: list[str]) -> None:
    """Undo a commit and close its journal. SparkgenError, and the journal stays, if that fails too."""
    try:
        _undo(directory, stage, files, folders)
        (stage / _JOURNAL).unlink()
    except OSError as error:
        raise SparkgenError(
            f"writing to {directory} failed half way, and putting the old files back failed too: "
            f"{error.strerror or error}. They are kept in {stage}; mend the cause and run this again: "
            "it starts by putting them back"
        ) from error


def _undo(directory: Path, stage: Path, files: list[tuple[str, bool]], folders: list[str]) -> None:
    """Put every old file back and take every new one away.

    Doing it twice, or half and then again, is the same.
    """
    for number, (path, existed) in reversed(list(enumerate(files))):
        backup = stage / f"old-{number}"
        if existed:
            if backup.exists():
                backup.replace(directory / path)
        elif not (stage / f"new-{number}").exists():
            (directory / path).unlink(missing_ok=True)
    _remove_empty([directory / name for name in folders])


def _recover(directory: Path) -> None:
    """Clean up after a run that was killed: undo a commit that did not end, then remove what it staged."""
    stage = directory / STAGE
    if stage.is_symlink() or not stage.is_dir():
        return
    journal = stage / _JOURNAL
    if journal.is_file() and not journal.is_symlink():
        files, folders = _read_journal(directory, journal.read_bytes())
        _put_back(directory, stage, files, folders)
    _remove_stage(stage)


def _read_journal(directory: Path, data: bytes) -> tuple[list[tuple[str, bool]], list[str]]:
    """The files and new folders of a journal.

    SparkgenError if it names anything that sparkgen would not have written.
    """
    try:
        value: Any = json.loads(data)
        files = [(str(path), bool(existed)) for path, existed in value["files"]]
        folders = [str(name) for name in value["folders"]]
        inside = all(_is_inside(directory, path) for path in [*folders, *(path for path, _ in files)])
    except (ValueError, TypeError, KeyError):
        inside = False
    if not inside:
        raise SparkgenError(
            f"{directory / STAGE} was left by a run that was killed, and cannot be read: "
            "delete it, then run this again"
        )
    return files, folders


def _is_inside(directory: Path, path: str) -> bool:
    folder = path.rpartition("/")[0]
    return bool(_INSIDE.fullmatch(path)) and not (directory / folder).is_symlink()


def _remove_stage(stage: Path) -> None:
    """Remove the staged files; keep them while a journal says that they may be needed."""
    if not (stage / _JOURNAL).exists():
        shutil.rmtree(stage, ignore_errors=True)


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """Hold back the signals that would end the process; deliver the first one afterwards."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python runs handlers in the main thread only
        return
    seen: list[int] = []
    before = {number: signal.getsignal(number) for number in _HELD}
    try:
        for number in _HELD:
            signal.signal(number, lambda number, _frame: seen.append(number))
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)
        if seen:
            signal.raise_signal(seen[0])
