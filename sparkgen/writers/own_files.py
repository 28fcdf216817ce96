"""Writes sparkgen's own files without a header, each completely or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from sparkgen.errors import SparkgenError
from sparkgen.writers.atomic import replace
from sparkgen.writers.repository import refuse_way_out


def write(path: Path, content: str | Iterable[bytes]) -> None:
    """Write one file completely or not at all.

    Raises SparkgenError if a link leads its folder out of the repository, or the file system refuses it.
    """
    refuse_way_out(path.parent)
    try:
        replace(path.parent, {path.name: content})
    except OSError as error:
        raise SparkgenError(f"cannot write {path}: {error.strerror or error}") from error


def put(directory: Path, files: Mapping[str, str], is_ours: Callable[[str], bool]) -> int:
    """Write `files` (text by path below `directory`). Returns how many were missing or different.

    Raises SparkgenError, and writes nothing, if a path is not sparkgen's: links below `directory` are never
    followed, and a file is replaced only if `is_ours` is true for its text.
    """
    refuse_way_out(directory)
    try:
        changed = {path: text for path, text in files.items() if _differs(directory, path, text, is_ours)}
        for path, text in changed.items():
            (directory / path).parent.mkdir(parents=True, exist_ok=True)
            replace((directory / path).parent, {Path(path).name: text})
    except OSError as error:
        raise SparkgenError(f"cannot write {error.filename or directory}: {error.strerror}") from error
    return len(changed)


def _differs(directory: Path, path: str, text: str, is_ours: Callable[[str], bool]) -> bool:
    """Whether a file has to be written. Raises SparkgenError if it must not be written."""
    target = directory / path
    for place in (target, *(directory / parent for parent in Path(path).parents[:-1])):
        if place.is_symlink():
            raise SparkgenError(f"{place} is a symbolic link; delete it, or choose another folder")
    if not target.exists():
        return True
    found = target.read_bytes().decode("utf-8", "replace") if target.is_file() else None
    if found is None or not (found == text or is_ours(found)):
        raise SparkgenError(f"{target} was not written by sparkgen; move it, or choose another folder")
    return found != text
