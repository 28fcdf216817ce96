"""Write files that are a person's from then on, into a directory: all of them or none, through no link."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path

from sparkgen.errors import SparkgenError
from sparkgen.writers.held import held


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
            _write(at, files)
    except OSError as error:
        raise SparkgenError(f"cannot write to {directory}: {error.strerror}") from None


def _free(path: Path, shown: Path, *, force: bool) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        what = "a link, which is not followed" if stat.S_ISLNK(mode) else "no file"
        raise SparkgenError(f"{shown} is {what}: delete it, or name another --output-dir")
    if not force:
        raise SparkgenError(f"{shown} is there already: name another --output-dir, or add --force")


def _write(at: Path, files: Mapping[str, str]) -> None:
    """Stage all, then rename: a name that has become a link meanwhile is replaced, and not followed."""
    mark = secrets.token_hex(8)
    staged = {name: at / f".{name}.{mark}" for name in files}
    try:
        for name, path in staged.items():
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            with open(handle, "wb") as file:  # noqa: PTH123 - a name that must be new
                file.write(files[name].encode())
                file.flush()
                os.fsync(handle)
            with contextlib.suppress(FileNotFoundError):
                path.chmod(stat.S_IMODE((at / name).lstat().st_mode) & 0o777)
        for name, path in staged.items():
            path.replace(at / name)
    except BaseException:
        for path in staged.values():
            path.unlink(missing_ok=True)
        raise
