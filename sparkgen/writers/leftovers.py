"""Finds and removes the rendered folders of a repository for which there is no document any more."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from sparkgen.writers.atomic import remove_empty
from sparkgen.writers.manifest import KUSTOMIZATION
from sparkgen.writers.open_folders import held
from sparkgen.writers.render_directory import refused, remove_stage
from sparkgen.writers.tree import STAGE, generated_in


def find(directory: Path, places: Collection[str]) -> tuple[str, ...]:
    """The folders below `directory` that contain rendered files and are not in `places`, sorted.

    All paths are relative to `directory`, with `/`. Links are not followed.
    """
    found: list[str] = []
    for path, folders, files in os.walk(directory):
        rendered = KUSTOMIZATION in files or STAGE in folders
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        place = Path(path).relative_to(directory).as_posix()
        if rendered and place not in places and generated_in(Path(path)):
            found.append(place)
    return tuple(sorted(found))


def remove(directory: Path, place: str) -> int:
    """Delete the rendered files in one of these folders, and folders that are then empty.

    Returns the number of files. The kustomization is deleted last, so that the next run finds the folder
    again after an interrupted removal. Raises SparkgenError if the file system refuses it.
    """
    folder = directory / place
    try:
        with held(directory, place) as at:
            names = generated_in(at)
            for name in names:
                (at / name).unlink()
            remove_stage(at)
        parents = [parent for parent in folder.parents if directory in parent.parents]
        remove_empty([folder, *parents])
    except OSError as error:
        raise refused(folder, error) from error
    return len(names)
