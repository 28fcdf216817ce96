"""Compares a directory with what a render would write, as a unified diff; nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from sparkgen.writers.manifest import with_header_of
from sparkgen.writers.render_directory import refused
from sparkgen.writers.tree import compare


def difference(directory: Path, files: Mapping[str, str]) -> str:
    """The diff that `files` (text by relative path) would make in `directory`; "" if it is up to date.

    Missing files are changes from /dev/null, stale files changes to it. Headers are treated as in `compare`.
    Raises SparkgenError if the directory cannot be read, or as `compare` does.
    """
    try:
        changes = compare(directory, files)
    except OSError as error:
        raise refused(directory, error, verb="read") from error
    paths = sorted([*changes.write, *changes.stale])
    return "".join(
        line
        for path in paths
        for line in _diff(directory / path, changes.old.get(path), changes.write.get(path))
    )


def _diff(path: Path, old: str | None, new: str | None) -> Iterator[str]:
    from sparkgen.textdiff import unified  # noqa: PLC0415 - 5 ms that only a check pays

    if old is not None and new is not None:
        old = with_header_of(new, old, path.name)
    return unified(
        _lines(old),
        _lines(new),
        path.as_posix() if old is not None else "/dev/null",
        path.as_posix() if new is not None else "/dev/null",
    )


def _lines(text: str | None) -> list[str]:
    """The lines to compare, each with its line break.

    A last line without a line break gets one, so that the diff is easier to read.
    """
    if text is None:
        return []
    return [f"{line}\n" for line in text.removesuffix("\n").split("\n")]
