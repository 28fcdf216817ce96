"""Copies the chart to a folder, for Git repositories that use no registry."""

from __future__ import annotations

import shutil
from pathlib import Path

from sparkgen.chart.files import NAME, files
from sparkgen.errors import SparkgenError
from sparkgen.writers.repository import refuse_way_out

OURS = ("templates", "files")
"""The folders of the chart in which an export first deletes all files of an earlier version."""


def export(target: Path) -> list[str]:
    """Replace the chart in the folder `target`. Returns the paths of the chart's files.

    Files of an earlier version in the folders OURS are deleted. Raises SparkgenError if `target` contains
    something other than this chart, which is never overwritten, if a link leads it out of the repository, or
    if the file system refuses it.
    """
    content = files()
    refuse_way_out(target)
    try:
        _refuse_others(target)
        for name in OURS:
            shutil.rmtree(target / name, ignore_errors=True)
        for name, data in content.items():
            path = target / name
            _refuse_link(target, path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except OSError as error:
        raise SparkgenError(f"cannot write {error.filename or target}: {error.strerror}") from error
    return list(content)


def _refuse_link(target: Path, path: Path) -> None:
    """Raise SparkgenError if a link below the folder would lead a file of the chart elsewhere."""
    for part in (path, *path.parents):
        if part == target:
            return
        if part.is_symlink():
            raise SparkgenError(
                f"{part} is a symbolic link, which sparkgen does not follow: delete it, or name a new folder"
            )


def _refuse_others(target: Path) -> None:
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    described = target / "Chart.yaml"
    if not (described.is_file() and f"\nname: {NAME}\n" in described.read_text("utf-8", "replace")):
        raise SparkgenError(f"{target} holds something other than this chart: name an empty or a new folder")
