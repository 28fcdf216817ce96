"""Finds files beside rendered manifests by which other tools change what they apply of them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from itertools import takewhile
from pathlib import Path

from sparkgen.errors import SparkgenError
from sparkgen.writers.manifest import KUSTOMIZATION, is_generated, kustomization, without_header
from sparkgen.writers.tree import LISTED, text_of

_READ_BY_ITSELF = re.compile(
    r"(?P<kustomize>kustomization\.yml|Kustomization)|(?P<argo>\.argocd-source(-.*)?\.yaml|Chart\.yaml)"
    r"|(?P<flux>\.sourceignore)"
)
_LEFT_OUT = "+argocd:skip-file-rendering"
_TOOLS = {"kustomize": "kustomize", "argo": "Argo CD", "flux": "Flux"}


def read_by_tools(root: Path, folders: Iterable[Path]) -> list[str]:
    """Returns a sentence for each file that kustomize, Argo CD or Flux reads without being told.

    Looks in `root`, in these folders below it, and between. Raises SparkgenError if a folder cannot be read.
    """
    return [
        f"{path.as_posix()}: {_TOOLS[str(tool.lastgroup)]} reads this file by itself, and may change what it "
        "applies; remove it"
        for folder in sorted(_down_to(root, folders))
        for path in _paths_in(folder)
        if (tool := _READ_BY_ITSELF.fullmatch(path.name))
    ]


def left_out(files: Mapping[str, str]) -> list[str]:
    """Returns a sentence for each of these files, path -> text, that Argo CD leaves out for a text in it.

    Source: "Skipping Kubernetes resource files" in Argo CD's documentation of directories.
    """
    return [
        f"{path}: Argo CD leaves out a file of a directory with the text {_LEFT_OUT}; remove it"
        for path, text in files.items()
        if _LEFT_OUT in text
    ]


def in_kustomizations(root: Path, files: Collection[Path], runtimes: Collection[Path]) -> list[str]:
    """Returns a sentence for each kustomization.yaml that may change what is applied of these files.

    One of sparkgen must list all manifests beside it, or else the folders with some; `runtimes`, and folders,
    may be listed too, and nothing else. It must do nothing else. Beside manifests, sparkgen writes one, so
    one of others has taken its place. Without one, a tool also applies other files beside them. Raises
    SparkgenError if it cannot be read.
    """
    folders = sorted({path.parent for path in files})
    missing = [folder / KUSTOMIZATION for folder in folders if not (folder / KUSTOMIZATION).exists()]
    beside = _beside(root, {*files, *runtimes})
    found = [
        f"{path.as_posix()} is missing, by which kustomize, Argo CD and Flux apply only the manifests beside "
        "it; render the documents again"
        for path in missing
    ]
    for path, names in _kustomizations(root, files):
        text = text_of(path)
        if _changes(text, names, beside[path.parent]):
            found.append(
                f"{path.as_posix()}: kustomize applies what this file says, and that is not each manifest "
                "beside it as it is; render the documents again"
            )
        elif names and not is_generated(text):
            found.append(
                f"{path.as_posix()}: sparkgen has not written this file, by which kustomize may change every "
                "manifest; move it to another folder, and render the documents again"
            )
    return found


def above(root: Path, folders: Collection[Path]) -> list[str]:
    """Returns a sentence for each kustomization.yaml of sparkgen in `root`, or between it and these folders.

    Nothing that writes these folders writes one there. Raises SparkgenError if it cannot be read.
    """
    between = sorted(_down_to(root, folders) - {*folders})
    return [
        f"{path.as_posix()}: kustomize applies what this file says, and nothing has rendered it; remove it"
        for path in (folder / KUSTOMIZATION for folder in between)
        if path.is_file() and is_generated(text_of(path))
    ]


def of_others(root: Path, files: Iterable[Path]) -> list[str]:
    """Returns a sentence for each kustomization.yaml above these files that is not sparkgen's.

    Raises SparkgenError if it cannot be read.
    """
    return [
        f"{path.as_posix()}: sparkgen has not written this file; what kustomize changes by it is not compared"
        for path, names in _kustomizations(root, files)
        if not names and not is_generated(text_of(path))
    ]


def _kustomizations(root: Path, files: Iterable[Path]) -> list[tuple[Path, set[str]]]:
    """The kustomizations in `root`, beside these files and between, each with the names of its files."""
    names: dict[Path, set[str]] = {}
    for path in files:
        names.setdefault(path.parent, set()).add(path.name)
    found = {folder / KUSTOMIZATION: names.get(folder, set()) for folder in _down_to(root, names)}
    return sorted(item for item in found.items() if item[0].is_file())


def _down_to(root: Path, folders: Iterable[Path]) -> set[Path]:
    """`root`, these folders, and all folders between."""
    found = {root}
    for folder in folders:
        found.update(takewhile(lambda one: one not in found, (folder, *folder.parents)))
    return found


def _paths_in(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir()) if folder.is_dir() else []
    except OSError as error:
        raise SparkgenError(f"cannot read {folder}: {error.strerror}") from error


def _beside(root: Path, files: Iterable[Path]) -> Mapping[Path, tuple[set[str], set[str]]]:
    """Of each folder: the names of these files in it, and of the folders in it that have some below them."""
    found: defaultdict[Path, tuple[set[str], set[str]]] = defaultdict(lambda: (set(), set()))
    for path in files:
        found[path.parent][0].add(path.name)
    for folder in _down_to(root, [*found]) - {root}:
        found[folder.parent][1].add(folder.name)
    return found


def _changes(text: str, rendered: Collection[str], beside: tuple[set[str], set[str]]) -> bool:
    """Whether a kustomization of sparkgen does not list all of these files, or does anything else.

    `beside`: files and folders that it may list. Without manifests beside it, it must list the folders.
    """
    listed, (files, folders) = LISTED.findall(text), beside
    only = without_header(text) == without_header(kustomization(listed, version="").text)
    needed = {*rendered} or folders
    return is_generated(text) and not (only and needed <= {*listed} <= files | folders)
