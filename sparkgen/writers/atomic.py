"""Replaces files atomically: a reader gets the old file or the new file, never a part."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

_MANY = 100


def replace(folder: Path, files: Mapping[str, str | Iterable[bytes]]) -> None:
    """Write texts, or bytes in pieces, to files of `folder`; replaced files keep their modes.

    All are first written to temporary files beside them, then renamed: if a name has become a link meanwhile,
    the link is replaced, and not followed. Raises OSError as the file system does.
    """
    mark = secrets.token_hex(8)
    staged = {name: folder / f".{name}.{mark}" for name in files}
    try:
        for name, path in staged.items():
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            with open(handle, "wb") as file:  # noqa: PTH123 - a name that must be new
                content = files[name]
                file.writelines((content.encode(),) if isinstance(content, str) else content)
            with contextlib.suppress(FileNotFoundError):
                before = (folder / name).lstat().st_mode
                if stat.S_ISREG(before):  # the mode of a link itself lets everybody write
                    path.chmod(stat.S_IMODE(before) & 0o777)
        settle([*staged.values()])
        for name, path in staged.items():
            path.replace(folder / name)
    except BaseException:
        for path in staged.values():
            path.unlink(missing_ok=True)
        raise


def settle(paths: Sequence[Path]) -> None:
    """Wait until new files, or entries of folders, are on the disk, so that a power cut leaves old or new.

    More than _MANY paths are not waited for: thousands of waits take longer than rendering, and the next
    render writes the files again that a power cut can then damage.
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
    """Remove the folders that are empty."""
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()
