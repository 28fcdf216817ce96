"""A hidden folder with the new files, the old ones and a journal: all that it takes to go back.

The journal stands from the moment before the first move to the moment after the last. Whoever finds one, be
it the run that failed or the run after one that was killed, puts the old files back.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparkgen.errors import SparkgenError
from sparkgen.writers.held import held

STAGE = ".sparkgen-stage"
_MANY = 100
# What a journal may name: a file of the directory, or of a folder in it. A journal that came with somebody's
# repository leads nowhere else.
_INSIDE = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._-]*/)?[A-Za-z0-9][A-Za-z0-9._-]*")


@dataclass(frozen=True, slots=True)
class Journal:
    """What a commit will do. `files`: path below the directory, and whether a file stood there.

    `folders`: new ones.
    """

    files: tuple[tuple[str, bool], ...]
    folders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stage:
    """The hidden folder of a directory, which is named `shown` in messages.

    A file's number is its place in the journal.
    """

    directory: Path
    shown: Path

    @property
    def path(self) -> Path:
        """The folder itself."""
        return self.directory / STAGE

    @property
    def journal(self) -> Path:
        """Where the journal stands while it counts."""
        return self.path / "journal"

    def new(self, number: int) -> Path:
        """Where a new file waits."""
        return self.path / f"new-{number}"

    def old(self, number: int) -> Path:
        """Where an old file is kept."""
        return self.path / f"old-{number}"

    def _put_back(self, number: int, path: str, *, existed: bool) -> None:
        with self.at(path) as target:
            if existed:
                self.old(number).replace(target)
            else:
                target.unlink(missing_ok=True)

    @contextlib.contextmanager
    def at(self, path: str) -> Iterator[Path]:
        """Where a file of the directory stands, in a folder that is held (held.py)."""
        folder, _, name = path.rpartition("/")
        with held(self.directory, folder, shown=self.shown) as inside:
            yield inside / name

    def open(self, journal: Journal) -> None:
        """Write the journal down. It stands under its name only when it is whole."""
        draft = self.path / "draft"
        draft.write_text(json.dumps({"files": journal.files, "folders": journal.folders}), encoding="utf-8")
        settle([draft])
        draft.replace(self.journal)
        settle([self.path])

    def undo(self, journal: Journal) -> None:
        """Put the old files back and close the journal.

        SparkgenError, and the journal stays, if that fails.
        """
        try:
            self._undo(journal)
            self.journal.unlink()
        except (OSError, SparkgenError) as error:
            reason = getattr(error, "strerror", None) or error
            raise SparkgenError(
                f"writing to {self.shown} failed half way, and putting the old files back failed too: "
                f"{reason}. They are kept in {self.shown / STAGE}; mend the cause and run this again: it "
                "starts by putting them back"
            ) from error

    def _undo(self, journal: Journal) -> None:
        """Doing this twice, or half and then again, comes to the same. One that fails stops no other one."""
        failed: OSError | SparkgenError | None = None
        for number, (path, existed) in reversed(list(enumerate(journal.files))):
            kept = self.old(number).exists() if existed else not self.new(number).exists()
            try:
                if kept:
                    self._put_back(number, path, existed=existed)
            except (OSError, SparkgenError) as error:
                failed = error
        if failed is not None:
            raise failed
        remove_empty(self.directory / name for name in journal.folders)

    def remove(self) -> None:
        """Remove the folder, unless a journal says that what is in it may be needed."""
        if not self.journal.exists():
            shutil.rmtree(self.path, ignore_errors=True)


def recover(directory: Path, *, shown: Path | None = None) -> None:
    """Clean up after a run that was killed: undo a commit that did not end, remove what was staged."""
    stage = Stage(directory, shown or directory)
    if stage.path.is_symlink() or not stage.path.is_dir():
        return
    if stage.journal.is_file() and not stage.journal.is_symlink():
        stage.undo(_read(stage))
    stage.remove()


def _read(stage: Stage) -> Journal:
    """The journal; SparkgenError if it names anything that sparkgen would not have written."""
    try:
        value: Any = json.loads(stage.journal.read_bytes())
        files = tuple((str(path), bool(existed)) for path, existed in value["files"])
        folders = tuple(str(name) for name in value["folders"])
        if all(_is_inside(stage.directory, path) for path in [*folders, *(path for path, _ in files)]):
            return Journal(files, folders)
    except (ValueError, TypeError, KeyError):
        pass  # damaged: the same as one that leads elsewhere
    raise SparkgenError(
        f"{stage.shown / STAGE} was left by a run that was killed, and cannot be read: delete it, then run "
        "this again"
    )


def _is_inside(directory: Path, path: str) -> bool:
    folder = path.rpartition("/")[0]
    return bool(_INSIDE.fullmatch(path)) and not (folder and (directory / folder).is_symlink())


def settle(paths: Sequence[Path]) -> None:
    """Wait until new files, or the entries of folders, are on the disk: then a power cut leaves old or new.

    Not for very many: thousands of waits take longer than rendering, and what a power cut can damage then are
    files that the next render writes again.
    """
    if len(paths) > _MANY:
        return
    for path in paths:
        try:
            handle = os.open(path, os.O_RDONLY)
        except PermissionError:  # Windows cannot open folders
            continue
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def remove_empty(folders: Iterable[Path]) -> None:
    """Remove those folders that hold nothing."""
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()
