"""Where documents come from: files, directories (as `kubectl -f` reads them) and standard input.

A reader here returns what was asked for, or the problem (SG001; SG005 for a file that is too large) that
says why not.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sparkgen.document.limits import MAX_FILE_BYTES
from sparkgen.document.parse import too_large
from sparkgen.errors import Position, Problem, Severity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

STDIN = "-"
STDIN_NAME = "<stdin>"
GROUP = "sparkgen.dev"
"""The group of sparkgen's apiVersions: a file without this text holds no document of sparkgen's."""

_SUFFIXES = (".yaml", ".yml")
LOCK_SUFFIX = ".lock.yaml"
"""Of the file beside a document that says what was pushed; it is no document."""


class Found(str):
    """The name of a file that was found in a directory: what is not sparkgen's in it is nobody's mistake.

    Text like any other name, so that lists of names can be split, sent to another process, and read there.
    """

    __slots__ = ()


def expand(sources: Iterable[str]) -> list[str]:
    """Names of files (and `-`) in the place of the arguments of a command, each file once.

    A directory becomes the YAML files in it that mention sparkgen, sorted, each as the directory's name as
    given, a slash, and its own. A directory without any stays as it is: reading it gives the problem.
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
    """The files of a directory that may hold documents, sorted; empty for everything else."""
    try:
        if not name or name == STDIN or isinstance(name, Found) or not Path(name).is_dir():
            return []
        with os.scandir(name) as entries:
            files = sorted(entry.name for entry in entries if _is_yaml_file(entry))
    except (OSError, ValueError):
        return []
    base = name.replace(os.sep, "/").rstrip("/")
    paths = [Found(f"{base}/{file}") for file in files]
    return [path for path in paths if _mentions_group(path)]


def _is_yaml_file(entry: os.DirEntry[str]) -> bool:
    if entry.name.startswith(".") or not entry.name.endswith(_SUFFIXES) or entry.name.endswith(LOCK_SUFFIX):
        return False
    try:
        return entry.is_file()
    except OSError:  # a symbolic link that leads to itself
        return False


def _mentions_group(name: str) -> bool:
    """Whether a file is worth reading; one that cannot be read is, because the reading says why."""
    try:
        with Path(name).open("rb") as file:
            return GROUP.encode() in file.read(MAX_FILE_BYTES + 1)
    except OSError:
        return True


def _identity(name: str) -> str:
    """What all names of one file have in common, whatever links they go through."""
    try:
        return os.path.realpath(name)
    except (OSError, ValueError):
        return name


def without_documents(name: str) -> Problem | None:
    """The problem with a directory for which `expand` found no files; None if the name is no directory's."""
    try:
        if not name or name == STDIN or not Path(name).is_dir():
            return None
        with os.scandir(name):
            message = "no *.yaml or *.yml file in this directory is a sparkgen document"
    except (OSError, ValueError) as error:
        return _explain(name, error)
    return _cannot_read(name, message, "give a file or another directory: subdirectories are not searched")


def read_stdin() -> bytes:
    """Standard input, up to one byte more than a file may have: `parse` then sees that it is too large."""
    return sys.stdin.buffer.read(MAX_FILE_BYTES + 1)


def is_there(name: str) -> bool:
    """Whether there is anything of this name; True also where that cannot be told, for `read_file` to say."""
    try:
        Path(name).stat()
    except FileNotFoundError:
        return False
    except (OSError, ValueError):
        return True
    return True


class Reader:
    """Reads the inputs of one call: files as often as asked, standard input once."""

    def __init__(self, stdin: Callable[[], bytes]) -> None:
        self._stdin = stdin
        self._stdin_was_read = False

    def read(self, name: str) -> bytes | Problem:
        """The bytes of a file or, for `-`, of standard input."""
        if name != STDIN:
            return read_file(name)
        if self._stdin_was_read:
            return _cannot_read(
                STDIN_NAME,
                "standard input can be read only once",
                "use - only once; give the others as files",
            )
        self._stdin_was_read = True
        try:
            return self._stdin()
        except (OSError, ValueError) as error:  # it is closed, or the other end of the pipe has failed
            message = f"standard input cannot be read: {error}"
            return _cannot_read(STDIN_NAME, message, "pipe a document into the command")


def shown_name(name: str) -> str:
    """The name of an input as positions carry it."""
    return STDIN_NAME if name == STDIN else str(name)


def read_file(name: str) -> bytes | Problem:
    """A file's bytes. Its size is looked at before it is read; of a pipe no more than the limit is read."""
    if not name:
        step = "give a file, a directory, or - for standard input"
        return _cannot_read(name, "a file name is empty", step)
    path = Path(name)
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            return _cannot_read(name, "it is a directory", "give the files in it")
        if stat.S_ISREG(status.st_mode) and status.st_size > MAX_FILE_BYTES:
            return too_large(name)
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        return _explain(name, error)
    return too_large(name) if len(data) > MAX_FILE_BYTES else data


def _cannot_read(name: str, message: str, next_step: str) -> Problem:
    """SG001: an input that a person named cannot be read."""
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
    """A file beside the missing one whose name is much like it; empty if there is none."""
    from difflib import get_close_matches  # noqa: PLC0415  (only when a file is missing)

    try:
        names = [entry.name for entry in os.scandir(path.parent)]
    except (OSError, ValueError):
        return ""
    near = get_close_matches(path.name, names, n=1, cutoff=0.75)
    return (path.parent / near[0]).as_posix() if near else ""
