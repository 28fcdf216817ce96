"""Put files into place at once: a reader sees the old one or the new one, and no half."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

_MANY = 100


def replace(folder: Path, files: Mapping[str, str | Iterable[bytes]]) -> None:
    """Write texts, or bytes in pieces, under plain names, with the modes of files that are there.

    All are staged beside their names first, then renamed: a name that has become a link meanwhile is
    replaced, and not followed. OSError says what the file system refused.
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
                if stat.S_ISREG(before):  # a link's own mode lets everybody write
                    path.chmod(stat.S_IMODE(before) & 0o777)
        settle([*staged.values()])
        for name, path in staged.items():
            path.replace(folder / name)
    except BaseException:
        for path in staged.values():
            path.unlink(missing_ok=True)
        raise


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
