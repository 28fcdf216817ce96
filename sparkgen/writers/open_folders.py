"""Opens folders below a root, and keeps them open: files are written there even if a folder is replaced.

The root is the caller's own choice, and may be a link. Below it no link is followed: a link from somebody's
repository, or one that another user creates after a check, would lead the files elsewhere.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from sparkgen.errors import SparkgenError

_DESCRIPTORS = Path("/proc/self/fd")
"""On Linux, the paths of open folders by file descriptor."""


@contextlib.contextmanager
def held(root: Path, below: str = "", *, make: bool = False, shown: Path | None = None) -> Iterator[Path]:
    """A path to the folder `below` (with `/`, "" for the root itself) that always leads to this folder.

    `make`: create missing folders, except the root. `shown`: the root's name in messages. Raises
    SparkgenError if a part of `below` is a link or no folder, and OSError as the file system does.

    On systems without paths for open folders (macOS, Windows), it is the plain path, checked just before.
    """
    refuse_links(root, below, shown=shown)
    if os.open not in os.supports_dir_fd or not _DESCRIPTORS.is_dir():
        if make:
            (root / below).mkdir(parents=True, exist_ok=True)
        yield root / below
        return
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for at, part in enumerate(_parts(below)):
            inner = _inside(handle, part, make=make, name=_name(shown or root, below, at + 1))
            os.close(handle)
            handle = inner
        yield _DESCRIPTORS / str(handle)
    finally:
        os.close(handle)


def refuse_links(root: Path, below: str, *, shown: Path | None = None) -> None:
    """Raise SparkgenError if a part of the path `below` (from `root`) is a link, or is not a folder."""
    path = root
    for at, part in enumerate(_parts(below)):
        path /= part
        try:
            mode = path.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return
        if not stat.S_ISDIR(mode):
            raise _no_folder(_name(shown or root, below, at + 1), link=stat.S_ISLNK(mode))


def _inside(handle: int, part: str, *, make: bool, name: Path) -> int:
    """Open a folder inside an open folder. Returns its file descriptor."""
    if make:
        with contextlib.suppress(FileExistsError):
            os.mkdir(part, dir_fd=handle)
    try:
        return os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=handle)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            link = stat.S_ISLNK(os.stat(part, dir_fd=handle, follow_symlinks=False).st_mode)
            raise _no_folder(name, link=link) from None
        raise


def _parts(below: str) -> list[str]:
    return [part for part in below.split("/") if part not in ("", ".")]


def _name(root: Path, below: str, count: int) -> Path:
    return root.joinpath(*_parts(below)[:count])


def _no_folder(name: Path, *, link: bool) -> SparkgenError:
    what = "is a symbolic link, which sparkgen does not follow" if link else "is not a directory"
    return SparkgenError(f"{name} {what}; delete it, or choose another --output-dir")
