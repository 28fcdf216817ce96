"""Finds files beside rendered manifests by which other tools change what they apply of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from sparkgen.writers.manifest import KUSTOMIZATION, is_generated, kustomization, without_header
from sparkgen.writers.tree import LISTED, regular_text

_LARGEST = 1 << 20
"""The most bytes of a kustomization: 2,000 files have some 100 KiB."""
_READ_BY_ITSELF = re.compile(
    r"(?P<kustomize>kustomization\.yml|Kustomization)|(?P<argo>\.argocd-source(-.*)?\.yaml|Chart\.yaml)"
)
_TOOLS = {"kustomize": "kustomize", "argo": "Argo CD"}


def found_in(files: Iterable[Path], *, listings: bool = False) -> list[str]:
    """Returns a sentence for each such file beside these rendered manifests.

    Argo CD reads some files without being told, and a directory is applied as its kustomization says.
    `listings`: checks each kustomization.yaml of sparkgen beside them, too: it must list all of them, and do
    nothing else.
    """
    return [
        text
        for folder, rendered in _by_folder(files).items()
        for text in _in_folder(folder, rendered if listings else None)
    ]


def of_others(files: Iterable[Path]) -> list[str]:
    """Returns a sentence for each kustomization.yaml beside these manifests that sparkgen has not written."""
    paths = (folder / KUSTOMIZATION for folder in _by_folder(files))
    return [
        f"{path.as_posix()}: sparkgen has not written this file; what kustomize changes by it is not compared"
        for path in paths
        if path.is_file() and not is_generated(_text(path))
    ]


def _by_folder(files: Iterable[Path]) -> dict[Path, set[str]]:
    names: dict[Path, set[str]] = {}
    for path in files:
        names.setdefault(path.parent, set()).add(path.name)
    return dict(sorted(names.items()))


def _in_folder(folder: Path, rendered: Collection[str] | None) -> Iterator[str]:
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if tool := _READ_BY_ITSELF.fullmatch(path.name):
            reader = _TOOLS[str(tool.lastgroup)]
            yield (
                f"{path.as_posix()}: {reader} reads this file by itself, and may change what it applies; "
                "remove it"
            )
        elif rendered is not None and path.name == KUSTOMIZATION and _changes(_text(path), rendered):
            yield (
                f"{path.as_posix()}: kustomize applies what this file says, and that is not each manifest "
                "beside it as it is; render the documents again"
            )


def _changes(text: str, rendered: Collection[str]) -> bool:
    """Whether a kustomization of sparkgen does not list all of these files, or does anything else."""
    listed = LISTED.findall(text)
    only = without_header(text) == without_header(kustomization(listed, version="").text)
    return is_generated(text) and not (only and {*rendered} <= {*listed})


def _text(path: Path) -> str:
    return (regular_text(path, _LARGEST) or "").replace("\r\n", "\n")
