"""Compares an output directory with a render: reads all its files and returns the changes; writes nothing."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sparkgen.errors import SparkgenError
from sparkgen.phrases import some_of
from sparkgen.writers.manifest import KUSTOMIZATION, is_generated, with_header_of

# A listed resource is read only if it is a plain name, so that no kustomization can lead out of the
# directory.
_LISTED = re.compile(r"^ *- \"?([A-Za-z0-9][A-Za-z0-9._-]*)\"?\r?$", re.MULTILINE)
_INSIDE = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._-]*/)?[A-Za-z0-9][A-Za-z0-9._-]*")
_SHOWN = 5

STAGE = ".sparkgen-stage"
"""The hidden folder of new files and their list, from which the next run finds the files of a killed run."""
LIST = "files"


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes that make a directory equal to a render. Paths are relative to the directory, with `/`.

    `write`: the new text by path of files that are missing or different, in the order of the render.
    `stale`: the files of an earlier render that this render does not have. `old`: the present texts of all
    these files.
    """

    write: Mapping[str, str]
    stale: tuple[str, ...]
    old: Mapping[str, str]

    def __bool__(self) -> bool:
        return bool(self.write or self.stale)


def compare(directory: Path, files: Mapping[str, str], *, shown: Path | None = None) -> Changes:
    """The changes from the directory to `files` (path -> text). A different header alone is not a change.

    `shown`: the directory's name in messages. Files of an interrupted run count as files of an earlier
    render. Raises SparkgenError if a file that sparkgen did not write, or a link, is at the path of a file:
    such files are never changed. An empty file may be replaced.
    """
    shown = shown or directory
    if _kind(directory) not in ("folder", "nothing", "link to a folder"):
        raise SparkgenError(f"{shown} is not a directory; choose another --output-dir")
    foreign = [
        path
        for path in dict.fromkeys(_folders(files))
        if _kind(directory / path) not in ("folder", "nothing")
    ]
    if foreign:
        raise _in_the_way(shown, foreign)
    old = {path: text for path in files if (text := _read(directory / path)) is not None}
    foreign = [path for path, text in old.items() if text and not is_generated(text)]
    if foreign:
        raise _in_the_way(shown, foreign)
    earlier = [*_earlier(directory, _folders(files)), *_unlisted(directory)]
    stale = {path: text for path, text in earlier if path not in files}
    write = {
        path: text
        for path, text in files.items()
        if path not in old or with_header_of(text, old[path], path) != text
    }
    return Changes(
        write, tuple(sorted(stale)), {**stale, **{path: old[path] for path in write if path in old}}
    )


def begun(directory: Path) -> list[str]:
    """The paths that an interrupted run was to write; they are not checked, and may lead anywhere."""
    stage = directory / STAGE
    if stage.is_symlink() or (stage / LIST).is_symlink() or not (stage / LIST).is_file():
        return []
    return (stage / LIST).read_bytes().decode("utf-8", errors="replace").splitlines()


def _folders(files: Iterable[str]) -> Iterator[str]:
    """The folders that the paths name, once per path."""
    return (path.rpartition("/")[0] for path in files if "/" in path)


def _earlier(directory: Path, folders: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Path and text of each file that an earlier render wrote.

    These are files with sparkgen's header that a kustomization by sparkgen lists.
    """
    listed = list(_generated_names(directory))
    for name in listed:
        text = _read(directory / name)
        if text is not None and is_generated(text):
            yield name, text
    for folder in sorted({*folders, *listed}):
        if _kind(directory / folder) != "folder":
            continue
        names = list(_generated_names(directory / folder))
        for name in [*names, KUSTOMIZATION] if names else []:
            text = _read(directory / folder / name)
            if text is not None and is_generated(text):
                yield f"{folder}/{name}", text


def _unlisted(directory: Path) -> Iterator[tuple[str, str]]:
    """Path and text of each file that an interrupted run added; paths that lead out are ignored."""
    for path in begun(directory):
        folder = path.rpartition("/")[0]
        if _INSIDE.fullmatch(path) and (not folder or _kind(directory / folder) == "folder"):
            text = _read(directory / path)
            if text is not None and is_generated(text):
                yield path, text


def _generated_names(folder: Path) -> Iterator[str]:
    """The names in the kustomization of `folder`, if sparkgen wrote it."""
    text = _read(folder / KUSTOMIZATION)
    if text is not None and is_generated(text):
        yield from _LISTED.findall(text)


def generated_in(folder: Path) -> tuple[str, ...]:
    """The rendered files in a folder itself, its kustomization last.

    Without a kustomization by sparkgen, these are the files that an interrupted run added.
    """
    listed = [*_generated_names(folder)]
    added = [path for path, _ in _unlisted(folder) if "/" not in path and path != KUSTOMIZATION]
    ours = [name for name in dict.fromkeys([*listed, *added]) if is_generated(_read(folder / name) or "")]
    return (*ours, KUSTOMIZATION) if listed else tuple(ours)


def _read(path: Path) -> str | None:
    """The text of a regular file; None if there is nothing at the path.

    For anything else, such as a link, a line without sparkgen's header, so that it never counts as generated.
    """
    kind = _kind(path)
    if kind == "nothing":
        return None
    return path.read_bytes().decode("utf-8", errors="replace") if kind == "file" else f"a {kind}\n"


def _kind(path: Path) -> str:
    """What is at `path`, in words, without following links."""
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return "nothing"
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISLNK(mode):
        return "link to a folder" if path.is_dir() else "link"
    return "file" if stat.S_ISREG(mode) else "special file"


def _in_the_way(directory: Path, paths: list[str]) -> SparkgenError:
    shown = some_of([str(directory / path) for path in paths], _SHOWN)
    return SparkgenError(
        f"sparkgen did not write these files, and must write files with the same names: {shown}. "
        "Move or delete them, or choose another --output-dir"
    )
