"""Whether a directory is what a render would write, as a unified diff; nothing is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from sparkgen.writers.manifest import with_header_of
from sparkgen.writers.render_directory import refused
from sparkgen.writers.tree import compare


def difference(directory: Path, files: Mapping[str, str]) -> str:
    """What `files` (text by relative path) would change in `directory`; "" when it is up to date.

    Missing files come from /dev/null, stale ones go there. Headers count as they do in `compare`.
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
    import difflib  # noqa: PLC0415 - 5 ms that only a check pays

    if old is not None and new is not None:
        old = with_header_of(new, old, path.name)
    return difflib.unified_diff(
        _lines(old),
        _lines(new),
        fromfile=path.as_posix() if old is not None else "/dev/null",
        tofile=path.as_posix() if new is not None else "/dev/null",
    )


def _lines(text: str | None) -> list[str]:
    """The lines to compare, each with its end.

    A last line without one gets it, for a diff is read by people.
    """
    if text is None:
        return []
    return [f"{line}\n" for line in text.removesuffix("\n").split("\n")]
