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
LISTED = re.compile(r"^ *- \"?([A-Za-z0-9][A-Za-z0-9._-]*)\"?\r?$", re.MULTILINE)
_INSIDE = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._-]*/)?[A-Za-z0-9][A-Za-z0-9._-]*")
_SHOWN = 5
LARGEST = 8 << 20
"""The most bytes of a file that is read. Kubernetes stores no object above 1.5 MiB; YAML may need more."""
_LARGEST_MANIFEST = 2 << 20
"""The most bytes of a single manifest, or of a kustomization with some 40,000 files."""

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
    earlier = (*_earlier(directory, _folders(files)), *_unlisted(directory))
    stale = dict(_generated(directory, (path for path in earlier if path not in files)))
    write = {
        path: text
        for path, text in files.items()
        if path not in old or with_header_of(text, old[path], path) != text
    }
    return Changes(
        write, tuple(sorted(stale)), {**stale, **{path: old[path] for path in write if path in old}}
    )


def begun(directory: Path) -> list[str]:
    """The paths that an interrupted run was to write, each once; not checked: they may lead anywhere."""
    stage = directory / STAGE
    if stage.is_symlink() or _kind(stage / LIST) != "file":
        return []
    return [*dict.fromkeys((_read(stage / LIST) or "").splitlines())]


def _folders(files: Iterable[str]) -> Iterator[str]:
    """The folders that the paths name, once per path."""
    return (path.rpartition("/")[0] for path in files if "/" in path)


def _earlier(directory: Path, folders: Iterable[str]) -> Iterator[str]:
    """Yields the path of each file that a kustomization by sparkgen lists; not checked, and some repeat."""
    listed = _generated_names(directory)
    yield from listed
    for folder in sorted({*folders, *listed}):
        if _kind(directory / folder) == "folder" and (names := _generated_names(directory / folder)):
            yield from (f"{folder}/{name}" for name in (*names, KUSTOMIZATION))


def _unlisted(directory: Path) -> Iterator[str]:
    """Yields the path of each file that an interrupted run was to add; those that lead out are ignored."""
    for path in begun(directory):
        folder = path.rpartition("/")[0]
        if _INSIDE.fullmatch(path) and (not folder or _kind(directory / folder) == "folder"):
            yield path


def _generated(directory: Path, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yields path and text of each of these files with sparkgen's header, and reads each once."""
    for path in dict.fromkeys(paths):
        text = _read(directory / path)
        if text is not None and is_generated(text):
            yield path, text


def _generated_names(folder: Path) -> list[str]:
    """The names in the kustomization of `folder`, each once, if sparkgen wrote it."""
    text = _read(folder / KUSTOMIZATION)
    return [*dict.fromkeys(LISTED.findall(text))] if text is not None and is_generated(text) else []


def generated_in(folder: Path) -> tuple[str, ...]:
    """The rendered files in a folder itself, its kustomization last.

    Without a kustomization by sparkgen, these are the files that an interrupted run added.
    """
    listed = _generated_names(folder)
    added = [path for path in _unlisted(folder) if "/" not in path and path != KUSTOMIZATION]
    ours = [name for name, _ in _generated(folder, [*listed, *added])]
    return (*ours, KUSTOMIZATION) if listed else tuple(ours)


def _read(path: Path) -> str | None:
    """The text of a regular file; None if there is nothing at the path.

    For anything else, such as a link, a line without sparkgen's header, so that it never counts as generated.
    """
    kind = _kind(path)
    if kind == "nothing":
        return None
    text = regular_text(path)
    return f"a {kind}\n" if text is None else text


def regular_text(path: Path, most: int = LARGEST) -> str | None:
    """The text of a regular file of at most `most` bytes; None for anything else, such as a link.

    Raises OSError if it cannot be read.
    """
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > most:
        return None
    with path.open("rb") as file:
        return file.read(most).decode("utf-8", errors="replace")


def text_of(path: Path) -> str:
    """The text of a file; "" for a link, or if it is too large for a manifest. Raises SparkgenError."""
    try:
        return (regular_text(path, _LARGEST_MANIFEST) or "").replace("\r\n", "\n")
    except OSError as error:
        raise SparkgenError(f"cannot read {path}: {error.strerror}") from error


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
