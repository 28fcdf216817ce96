"""`-R DIR`: which documents a repository holds, for which environments, and where each one's files go.

Each file in a folder `environments` is an overlay for an environment: `environments/prod.yaml` is for `prod`.
It applies to all documents in the folder that contains `environments`, and below. A document is rendered for
each environment that has an overlay on the way from DIR to the document. All overlays of the environment are
merged into it, those of DIR first.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sparkgen.errors import SparkgenError

ENVIRONMENTS = "environments"
"""Folders with this name contain overlays, and no documents."""


@dataclass(frozen=True, slots=True)
class Part:
    """A file with documents, for one environment ("" if there is none).

    `folder`: the file's, below DIR, with `/` ("" for DIR itself); `overlays`: files, the outermost first.
    """

    file: str
    folder: str
    environment: str
    overlays: tuple[str, ...]

    def place(self, name: str) -> str:
        """Returns the folder of its application `name`, below the output directory.

        If the last folder already has the application's name, the name is not repeated.
        """
        folders = [self.environment, *self.folder.split("/")]
        if folders[-1] != name:
            folders.append(name)
        return "/".join(filter(None, folders))


def parts(root: str, output: str) -> list[Part]:
    """Returns all parts to render below `root`, by folder, file and environment. `output` is not searched."""
    if not Path(root).is_dir():
        raise SparkgenError(
            f"{root} is not a directory; with -R, give the directory that contains all documents"
        )
    skipped = os.path.realpath(output)
    if os.path.realpath(root) == skipped or os.path.realpath(root).startswith(skipped + os.sep):
        raise SparkgenError(
            f"{root} is inside the output directory {output}, which may contain only rendered files; "
            "choose another --output-dir"
        )
    return [part for folder, levels in _folders(root, "", (), skipped) for part in _in_folder(folder, levels)]


Levels = tuple[Mapping[str, str], ...]
"""For each folder from DIR to a folder: environment -> overlay."""


def _folders(root: str, below: str, above: Levels, skipped: str) -> Iterator[tuple[tuple[str, str], Levels]]:
    """Yields each folder (its path, its path below `root`) with the overlays of the folders down to it."""
    path = f"{root.rstrip('/')}/{below}".rstrip("/") or "/"
    levels = (*above, _overlays(f"{path}/{ENVIRONMENTS}"))
    yield (path, below), levels
    with os.scandir(path) as entries:
        names = sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    for name in names:
        if name.startswith(".") or name == ENVIRONMENTS or os.path.realpath(f"{path}/{name}") == skipped:
            continue
        yield from _folders(root, f"{below}/{name}".lstrip("/"), levels, skipped)


def _overlays(folder: str) -> dict[str, str]:
    """Returns environment -> file for a folder with overlays; empty if the folder does not exist."""
    from sparkgen.document.sources import Found  # noqa: PLC0415 - see validate.py

    if not Path(folder).is_dir():
        return {}
    files = sorted(path for path in Path(folder).iterdir() if path.suffix in (".yaml", ".yml"))
    overlays: dict[str, str] = {}
    for path in files:
        if path.name.startswith("."):
            continue
        if path.stem in overlays:
            raise SparkgenError(
                f"{overlays[path.stem]} and {path} are overlays of the same environment; delete one"
            )
        overlays[path.stem] = Found(path.as_posix())
    return overlays


def _in_folder(folder: tuple[str, str], levels: Levels) -> Iterator[Part]:
    from sparkgen.document.sources import documents_in  # noqa: PLC0415 - see validate.py

    path, below = folder
    environments = sorted({name for level in levels for name in level}) or [""]
    for file in documents_in(path):
        for environment in environments:
            overlays = tuple(level[environment] for level in levels if environment in level)
            yield Part(file, below, environment, overlays)
