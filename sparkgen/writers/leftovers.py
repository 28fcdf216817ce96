"""Folders of a whole repository's render that no document gives any more."""

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
    """The folders below `directory` that hold files of a render and are none of `places`, sorted.

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
    """Delete the files of a render in one of those folders, and folders that are empty then; how many files.

    SparkgenError says what the file system refused. The kustomization goes last, so that a removal that was
    interrupted is found again.
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
