"""Copies the chart to a folder, for Git repositories that use no registry."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from sparkgen.chart.files import NAME, files
from sparkgen.errors import SparkgenError
from sparkgen.writers.atomic import replace
from sparkgen.writers.open_folders import held
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
        target.mkdir(parents=True, exist_ok=True)
        for folder, inside in _by_folder(content).items():
            with held(target, folder, make=True) as at:
                for name in inside:
                    _refuse_link(at / name, target / folder / name)
                replace(at, inside)
    except OSError as error:
        raise SparkgenError(f"cannot write {error.filename or target}: {error.strerror}") from error
    return list(content)


def _by_folder(content: Mapping[str, bytes]) -> dict[str, dict[str, Iterable[bytes]]]:
    """The folders of the chart, each with its files by their names."""
    found: dict[str, dict[str, Iterable[bytes]]] = {}
    for path, data in content.items():
        folder, _, name = path.rpartition("/")
        found.setdefault(folder, {})[name] = (data,)
    return found


def _refuse_link(path: Path, shown: Path) -> None:
    """Raise SparkgenError if there is a link in the place of a file of the chart."""
    if path.is_symlink():
        raise SparkgenError(
            f"{shown} is a symbolic link, which sparkgen does not follow: delete it, or name a new folder"
        )


def _refuse_others(target: Path) -> None:
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    described = target / "Chart.yaml"
    if not (described.is_file() and f"\nname: {NAME}\n" in described.read_text("utf-8", "replace")):
        raise SparkgenError(f"{target} holds something other than this chart: name an empty or a new folder")
