"""Writes files that users then edit themselves to a directory: all or none, and through no link."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path

from sparkgen.errors import SparkgenError
from sparkgen.writers.atomic import replace
from sparkgen.writers.open_folders import held
from sparkgen.writers.repository import refuse_way_out


def write_new(directory: Path, files: Mapping[str, str], *, force: bool) -> None:
    """Write files of `directory` (text by name); `force` replaces existing files, which keep their modes.

    Raises SparkgenError if a file exists and `force` is False, if a link or a folder has the name, if a link
    leads `directory` out of the repository, or if the file system refuses it.
    """
    refuse_way_out(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with held(directory) as at:
            for name in files:
                _free(at / name, directory / name, force=force)
            replace(at, files)
    except OSError as error:
        raise SparkgenError(f"cannot write to {directory}: {error.strerror}") from None


def _free(path: Path, shown: Path, *, force: bool) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        what = "a symbolic link, which sparkgen does not follow" if stat.S_ISLNK(mode) else "not a file"
        raise SparkgenError(f"{shown} is {what}; delete it, or choose another --output-dir")
    if not force:
        raise SparkgenError(f"{shown} exists already; choose another --output-dir, or add --force")
