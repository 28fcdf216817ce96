"""The sources of documents: files, directories (as `kubectl -f` reads them) and standard input.

The functions that read return the bytes, or a problem (SG001; SG005 for a file that is too large).
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sparkgen.document.limits import MAX_FILE_BYTES
from sparkgen.document.parse import too_large
from sparkgen.errors import Position, Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

STDIN = "-"
STDIN_NAME = "<stdin>"
GROUP = "sparkgen.dev"
"""The group of sparkgen's apiVersions: a file without this text contains no sparkgen document."""

SUFFIXES = (".yaml", ".yml")
Follow = Literal["no", "document", "yes"]
"""Whether to read through a link in the repository: never, only to a sparkgen document, or always."""
_COPY = "replace the link with a copy of the file"
LOCK_SUFFIX = ".lock.yaml"
"""The suffix of a lock, the file beside a document that lists what was pushed; it is not a document."""


class Found(str):
    """The name of a file that was found in a directory: other documents in it are ignored, and no problem.

    It must be a regular file: to open a pipe that nobody writes to would take forever. A pipe that a person
    names is read.
    It is a str, so that lists of names can be split, sent to another process, and read there.
    """

    __slots__ = ()


def expand(sources: Iterable[str]) -> list[str]:
    """The names of files (and `-`) for the arguments of a command, each file once.

    A directory is replaced by the YAML files in it that mention sparkgen, sorted, each as the directory's
    name as given, a slash, and the file's own. A directory without any stays as it is: reading it returns the
    problem.
    """
    names: list[str] = []
    seen: set[str] = set()
    for source in sources:
        inside: list[str] = [*documents_in(source)]
        for name in inside or [source]:
            key = name if name == STDIN else _identity(name)
            if name == STDIN or key not in seen:
                names.append(name)
            seen.add(key)
    return names


def documents_in(name: str) -> list[Found]:
    """The files of a directory that may contain documents, sorted; empty if `name` is not a directory."""
    try:
        if not name or name == STDIN or isinstance(name, Found) or not Path(name).is_dir():
            return []
        with os.scandir(name) as entries:
            files = sorted(entry.name for entry in entries if _is_yaml_file(entry))
    except (OSError, ValueError):
        return []
    base = name.replace(os.sep, "/").rstrip("/")
    paths = [Found(f"{base}/{file}") for file in files]
    return [path for path in paths if file_mentions_group(path)]


def is_document_name(name: str) -> bool:
    """Whether a file of this name, without its folder, is read as documents if it is found in a folder."""
    return not name.startswith(".") and name.endswith(SUFFIXES) and not name.endswith(LOCK_SUFFIX)


def mentions_group(data: bytes) -> bool:
    """Whether a file with this content mentions sparkgen's group; one without it contains no document."""
    return GROUP.encode() in data[: MAX_FILE_BYTES + 1]


def file_mentions_group(name: str) -> bool:
    """Whether a file mentions sparkgen's group; True if it cannot be read, so that reading it says why."""
    from sparkgen.repository import way_out  # noqa: PLC0415 - the package alone loads no other

    try:
        if way_out(name, needs_git=True):
            return True
        with Path(name).open("rb") as file:
            return mentions_group(file.read(MAX_FILE_BYTES + 1))
    except OSError:
        return True


def _is_yaml_file(entry: os.DirEntry[str]) -> bool:
    try:
        return is_document_name(entry.name) and entry.is_file()
    except OSError:  # a symbolic link that leads to itself
        return False


def _identity(name: str) -> str:
    """The real path of a file, equal for all of its names and links; the name itself on an error."""
    try:
        return os.path.realpath(name)
    except (OSError, ValueError):
        return name


def without_documents(name: str) -> Problem | None:
    """The problem with a directory for which `expand` found no files; None if `name` is not a directory."""
    try:
        if not name or name == STDIN or not Path(name).is_dir():
            return None
        with os.scandir(name):
            message = "no *.yaml or *.yml file in this directory is a sparkgen document"
    except (OSError, ValueError) as error:
        return _explain(name, error)
    return _cannot_read(name, message, "give a file or another directory: subdirectories are not searched")


def read_stdin(most: int = MAX_FILE_BYTES) -> bytes:
    """At most one byte more of standard input than a file may have, so that `parse` refuses larger input."""
    return sys.stdin.buffer.read(most + 1)


def is_there(name: str) -> bool:
    """Whether there is a file of this name; also True on other errors, which `read_file` then reports."""
    try:
        Path(name).stat()
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return True
    return True


class Reader:
    """Reads the inputs of one command: files any number of times, standard input once."""

    def __init__(self, stdin: Callable[[], bytes]) -> None:
        self._stdin = stdin
        self._stdin_was_read = False

    def read(self, name: str, follow: Follow = "no") -> bytes | Problem:
        """The bytes of a file (see `read_file`) or, for `-`, of standard input."""
        if name != STDIN:
            return read_file(name, follow)
        if self._stdin_was_read:
            return _cannot_read(
                STDIN_NAME,
                "standard input can be read only once",
                "use - only once; give the others as files",
            )
        self._stdin_was_read = True
        try:
            return self._stdin()
        except (OSError, ValueError) as error:  # it is closed, or the pipe is broken
            message = f"standard input cannot be read: {error}"
            return _cannot_read(STDIN_NAME, message, "pipe a document into the command")


def shown_name(name: str) -> str:
    """The name of an input as used in positions."""
    return STDIN_NAME if name == STDIN else str(name)


def read_file(name: str, follow: Follow = "no", most: int = MAX_FILE_BYTES) -> bytes | Problem:
    """The bytes of a file. A large file is refused before it is read; a pipe, once it exceeds the limit.

    So is a link in the repository, if it leads out of it or if `follow` forbids it: it may come from a
    stranger's commit, and messages show lines of what is read, such as passwords that Git ignores.
    """
    from sparkgen.repository import link_on, way_out  # noqa: PLC0415 - the package alone loads no other

    if not name:
        step = "give a file, a directory, or - for standard input"
        return _cannot_read(name, "a file name is empty", step)
    path = Path(name)
    try:
        if out := way_out(name, needs_git=True):
            message = f"it is, or is below, a symbolic link out of the repository, to {out}"
            return _cannot_read(name, message, "delete the link, and copy the file into the repository")
        is_linked = follow != "yes" and bool(link_on(name))
        if is_linked and follow == "no":
            return _cannot_read(name, "it is, or is below, a symbolic link", _COPY)
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            return _cannot_read(name, "it is a directory", "give the files in it")
        if isinstance(name, Found) and not stat.S_ISREG(status.st_mode):
            return _cannot_read(name, "it is a pipe, a socket or a device", "replace it with a regular file")
        if stat.S_ISREG(status.st_mode) and status.st_size > most:
            return too_large(name, most)
        with path.open("rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError) as error:
        return _explain(name, error)
    if is_linked and not mentions_group(data):
        return _cannot_read(name, "it is, or is below, a link to no sparkgen document", _COPY)
    return too_large(name, most) if len(data) > most else data


def _cannot_read(name: str, message: str, next_step: str) -> Problem:
    """SG001: an input of the command cannot be read."""
    return Problem("SG001", Severity.ERROR, Position(str(name), 1, 1), (), message, next_step=next_step)


def _explain(name: str, error: OSError | ValueError) -> Problem:
    if isinstance(error, FileNotFoundError):
        near = _nearest(Path(name))
        step = f"did you mean {near}?" if near else "check the path and the current directory"
        return _cannot_read(name, "there is no such file or directory", step)
    if isinstance(error, PermissionError):
        return _cannot_read(name, "permission denied", f"check its permissions: ls -ld {name}")
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return _cannot_read(name, f"it cannot be read: {reason}", "check the path")


def _nearest(path: Path) -> str:
    """A file beside the missing one with a similar name; "" if there is none."""
    from sparkgen.textdiff import nearest  # noqa: PLC0415  (only when a file is missing)

    try:
        names = [entry.name for entry in os.scandir(path.parent)]
    except (OSError, ValueError):
        return ""
    near = nearest(path.name, names, cutoff=0.75)
    return (path.parent / near).as_posix() if near else ""
