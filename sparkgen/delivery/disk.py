"""Lists, measures and reads files below the root of a repository on this machine.

No file outside the root is opened: each path is resolved first, with all links in it.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sparkgen.delivery import secret_files
from sparkgen.delivery.globs import Glob
from sparkgen.delivery.ignore import FILE_NAME, BadIgnoreFile, Ignores
from sparkgen.delivery.work import MOST_SEEN, TooMuch, Work
from sparkgen.repository import repository_root

CHUNK = 1 << 20
LONGEST_IGNORE_FILE = 1 << 20
GIT_FOLDER = ".git"


class Unusable(Exception):
    """A path cannot be delivered. `message` and `next_step`: why, and what to do."""

    def __init__(self, message: str, next_step: str) -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step


@dataclass(frozen=True, slots=True)
class FileOnDisk:
    """A regular file. `place`: its real path; `secret`: the kind of secret that it seems to have, or ""."""

    place: str
    size: int
    executable: bool
    sha256: str
    secret: str


class Disk:
    """The files of a repository, seen from a folder in it. Paths are text with `/`: absolute, or as given."""

    def __init__(self, folder: Path, work: Work) -> None:
        self.folder = os.path.realpath(folder)
        self.root = os.path.realpath(repository_root(Path(self.folder)))
        self.ignores = Ignores(self._ignore_text, work)
        self._glob = Glob(self.folder, self._is_inside, work)

    def absolute(self, path: str) -> str:
        """Returns a document's path, absolute and without `..`. Unusable if it is outside the repository."""
        found = os.path.normpath(os.path.join(self.folder, path))  # noqa: PTH118 - `..` by its text, as in URLs
        self._inside(found, f"`{path}`")
        return found

    def relative(self, path: str) -> str:
        """Returns an absolute path relative to the root, as ignore files use it."""
        return os.path.relpath(path, self.root)

    def matches(self, pattern: str) -> list[str]:
        """Returns a glob's matches, sorted, from the document's folder. Unusable if it searches too much."""
        try:
            return self._glob.matches(pattern)
        except TooMuch:
            raise Unusable(
                f"searches, with the globs before it, more than {MOST_SEEN} files and folders",
                "name the folders more precisely",
            ) from None

    def is_folder(self, path: str) -> bool:
        """Whether an absolute path is a folder. Raises Unusable if it is neither a folder nor a file."""
        real = self._real(path)
        try:
            mode = Path(real).stat().st_mode
        except OSError as error:
            raise _unreadable(error) from None
        if stat.S_ISDIR(mode):
            return True
        _refuse_special(mode)
        return False

    def names(self, folder: str) -> list[str]:
        """The names in a folder, sorted."""
        try:
            return sorted(path.name for path in Path(self._real(folder)).iterdir())
        except OSError as error:
            raise _unreadable(error) from None

    def real(self, path: str) -> str:
        """Returns a path with all links resolved. Raises Unusable if it is outside the repository."""
        return self._real(path)

    def file(self, path: str) -> FileOnDisk:
        """Returns a regular file, with its digest. Unusable if it cannot be read, or is in a folder .git."""
        real = self._real(path)
        if GIT_FOLDER in self.relative(real).lower().split("/"):
            raise Unusable(
                f"leads to {self.relative(real)}, where Git keeps addresses and passwords",
                "copy the files you need to another folder",
            )
        try:
            status = Path(real).stat()
            _refuse_special(status.st_mode)
            digest, secret = _digest(real, status.st_mtime_ns, status.st_size, status.st_ino)
        except OSError as error:
            raise _unreadable(error) from None
        executable = bool(status.st_mode & stat.S_IXUSR)
        return FileOnDisk(real, status.st_size, executable, digest, secret)

    def _real(self, path: str) -> str:
        try:
            found = os.path.realpath(path, strict=True)
        except FileNotFoundError as error:
            if not os.path.islink(path):  # noqa: PTH114 - text, as everywhere here
                raise _unreadable(error) from None
            raise Unusable(
                "is a symbolic link to something that does not exist", "correct or delete the link"
            ) from None
        except OSError as error:
            raise _unreadable(error) from None
        except ValueError:  # NUL, or half a character
            raise Unusable("is not a valid path", "check its characters") from None
        self._inside(found, "a symbolic link to it" if found != path else "it")
        return found

    def _is_inside(self, path: str) -> bool:
        return path == self.root or path.startswith(self.root.rstrip("/") + "/")

    def _inside(self, path: str, what: str) -> None:
        if not self._is_inside(path):
            raise Unusable(
                f"is outside the repository: {what} is {path}, and the root is {self.root}",
                "copy it into the repository, or add it to the image",
            )

    def _ignore_text(self, folder: str) -> str | None:
        """Returns a folder's ignore file, or None. BadIgnoreFile: it is outside, no file, or too large."""
        path = Path(self.root, folder, FILE_NAME)
        try:
            real = os.path.realpath(path, strict=True)
            if not self._is_inside(real):
                raise BadIgnoreFile("is outside the repository")
            if not stat.S_ISREG(Path(real).stat().st_mode):
                raise BadIgnoreFile("is not a regular file")
            with Path(real).open("rb") as file:
                data = file.read(LONGEST_IGNORE_FILE + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadIgnoreFile(f"cannot be read: {error.strerror or error}") from None
        if len(data) > LONGEST_IGNORE_FILE:
            raise BadIgnoreFile(f"is larger than {LONGEST_IGNORE_FILE >> 20} MiB")
        return data.decode("utf-8", "replace")


def chunks(place: str) -> Iterator[bytes]:
    """Yields the bytes of a file, in chunks."""
    with Path(place).open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk


@lru_cache(maxsize=100_000)
def _digest(place: str, _changed: int, _size: int, _inode: int) -> tuple[str, str]:
    """Returns a file's digest, and the kind of secret in its text, or ""; reads each state of it once."""
    whole, last, secret = hashlib.sha256(), b"", ""
    for chunk in chunks(place):
        whole.update(chunk)
        secret = secret or secret_files.by_text(last + chunk)
        last = chunk[-secret_files.OVERLAP :]
    return whole.hexdigest(), secret


def _refuse_special(mode: int) -> None:
    """Raises Unusable for anything but a regular file: reading a named pipe could take for ever."""
    if stat.S_ISREG(mode):
        return
    kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a named pipe"), (stat.S_ISSOCK, "a socket"))
    kind = next((name for is_kind, name in kinds if is_kind(mode)), "a device")
    raise Unusable(f"is {kind}, and not a regular file", "name a file or a folder, or delete it")


def _unreadable(error: OSError) -> Unusable:
    if isinstance(error, FileNotFoundError):
        return Unusable(
            "names a file or folder that does not exist",
            "check the path, which is relative to the document's folder",
        )
    if isinstance(error, PermissionError):
        return Unusable("is not readable", "give yourself permission to read it")
    return Unusable(f"cannot be read: {error.strerror or error}", "check the path")
