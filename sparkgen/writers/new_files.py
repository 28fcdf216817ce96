"""Write files that are a person's from then on, into a directory: all of them or none, through no link."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path

from sparkgen.errors import SparkgenError
from sparkgen.writers.atomic import replace
from sparkgen.writers.open_folders import held


def write_new(directory: Path, files: Mapping[str, str], *, force: bool) -> None:
    """Write texts under plain names; `force` replaces files that are there, with their modes.

    SparkgenError when a file is there without `force`, or a link or a folder at all, and for what the file
    system refuses.
    """
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
