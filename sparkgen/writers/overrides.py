"""Finds files beside rendered manifests by which other tools change what they apply of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from pathlib import Path

from sparkgen.errors import SparkgenError
from sparkgen.writers.manifest import KUSTOMIZATION, is_generated, kustomization, without_header
from sparkgen.writers.tree import LISTED, text_of

_READ_BY_ITSELF = re.compile(
    r"(?P<kustomize>kustomization\.yml|Kustomization)|(?P<argo>\.argocd-source(-.*)?\.yaml|Chart\.yaml)"
)
_TOOLS = {"kustomize": "kustomize", "argo": "Argo CD"}


def read_by_tools(folders: Iterable[Path]) -> list[str]:
    """Returns a sentence for each file in these folders that kustomize or Argo CD reads without being told.

    Raises SparkgenError if a folder cannot be read.
    """
    return [
        f"{path.as_posix()}: {_TOOLS[str(tool.lastgroup)]} reads this file by itself, and may change what it "
        "applies; remove it"
        for folder in sorted({*folders})
        for path in _paths_in(folder)
        if (tool := _READ_BY_ITSELF.fullmatch(path.name))
    ]


def in_kustomizations(files: Iterable[Path]) -> list[str]:
    """Returns a sentence for each kustomization.yaml of sparkgen beside these manifests that changes them.

    It must list all of them, and do nothing else. Raises SparkgenError if it cannot be read.
    """
    return [
        f"{path.as_posix()}: kustomize applies what this file says, and that is not each manifest beside it "
        "as it is; render the documents again"
        for path, names in _kustomizations(files)
        if _changes(text_of(path), names)
    ]


def of_others(files: Iterable[Path]) -> list[str]:
    """Returns a sentence for each kustomization.yaml beside these manifests that sparkgen has not written.

    Raises SparkgenError if it cannot be read.
    """
    return [
        f"{path.as_posix()}: sparkgen has not written this file; what kustomize changes by it is not compared"
        for path, _ in _kustomizations(files)
        if not is_generated(text_of(path))
    ]


def _kustomizations(files: Iterable[Path]) -> list[tuple[Path, set[str]]]:
    """The kustomizations beside these files, each with the names of the files beside it."""
    names: dict[Path, set[str]] = {}
    for path in files:
        names.setdefault(path.parent / KUSTOMIZATION, set()).add(path.name)
    return sorted(item for item in names.items() if item[0].is_file())


def _paths_in(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir()) if folder.is_dir() else []
    except OSError as error:
        raise SparkgenError(f"cannot read {folder}: {error.strerror}") from error


def _changes(text: str, rendered: Collection[str]) -> bool:
    """Whether a kustomization of sparkgen does not list all of these files, or does anything else."""
    listed = LISTED.findall(text)
    only = without_header(text) == without_header(kustomization(listed, version="").text)
    return is_generated(text) and not (only and {*rendered} <= {*listed})
