"""`-R DIR`: which documents a repository holds, for which environments, and where each one's files go.

Each file in a folder `environments` is an overlay for an environment: `environments/prod.yaml` is for `prod`.
It applies to all documents in the folder that contains `environments`, and below. A document is rendered for
each environment that has an overlay on the way from DIR to the document. All overlays of the environment are
merged into it, those of DIR first.

`seen` gathers the files on the disk, `sparkgen.diff.git` those of a commit, and `found` decides for both.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sparkgen.document.sources import SUFFIXES, Found, file_mentions_group, is_document_name
from sparkgen.errors import SparkgenError
from sparkgen.repository import LinkTarget, is_hidden, leads_to

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


@dataclass(frozen=True, slots=True)
class Seen:
    """What there is in DIR, by names below it, with `/`: its YAML files, and links that may lead to one.

    `mentions`: whether a file, or the file to which a link leads, mentions sparkgen's group.
    """

    files: Collection[str]
    links: Mapping[str, LinkTarget]
    mentions: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Finding:
    """The parts of a directory, by folder, file and environment, and the links that must not be there."""

    parts: Sequence[Part]
    links: Mapping[str, LinkTarget]


Levels = Mapping[str, Mapping[str, str]]
"""For each folder below DIR: environment -> overlay."""


def parts(root: str, output: str) -> list[Part]:
    """Returns all parts to render below `root`. `output` is not searched."""
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
    base = f"{root.rstrip('/')}/"
    finding = found(seen(root, skipped), base)
    if finding.links:
        raise SparkgenError(about_links(finding.links))
    return [*finding.parts]


def about_links(links: Mapping[str, LinkTarget]) -> str:
    """Returns the message about the links of a finding."""
    each = (
        f"{name} is a symbolic link{' out of the repository' if target == 'outside' else ''}"
        for name, target in links.items()
    )
    return (
        f"{', '.join(each)}; with -R, documents, overlays and folders `{ENVIRONMENTS}` must not be links, so "
        "replace each with a copy of what it leads to"
    )


def found(tree: Seen, base: str) -> Finding:
    """Decide which files are documents and which are overlays; their names get `base` before them."""
    shown = [name for name in tree.files if not is_hidden(name)]
    levels = _levels([name for name in shown if _is_overlay(name)], base)
    documents = sorted(
        (name for name in shown if _may_be_document(name) and tree.mentions(name)),
        key=lambda name: (name.split("/")[:-1], name),
    )
    refused = sorted(one for one in tree.links.items() if _is_refused(*one, tree.mentions))
    return Finding(
        [part for name in documents for part in _parts_of(name, levels, base)],
        {f"{base}{name}": target for name, target in refused},
    )


def _is_overlay(name: str) -> bool:
    *folders, last = name.split("/")
    return folders[-1:] == [ENVIRONMENTS] and folders.count(ENVIRONMENTS) == 1 and last.endswith(SUFFIXES)


def _may_be_document(name: str) -> bool:
    *folders, last = name.split("/")
    return ENVIRONMENTS not in folders and is_document_name(last)


def _is_refused(name: str, target: LinkTarget, mentions: Callable[[str], bool]) -> bool:
    """Whether a link stands where a document, an overlay or a folder with overlays may be."""
    if is_hidden(name):
        return False
    if _is_overlay(name):
        return True
    *folders, last = name.split("/")
    if last == ENVIRONMENTS:
        return ENVIRONMENTS not in folders and target in ("folder", "outside")
    if target == "outside":
        return _may_be_document(name)
    return target == "file" and _may_be_document(name) and mentions(name)


def _levels(overlays: Sequence[str], base: str) -> Levels:
    levels: dict[str, dict[str, str]] = {}
    for name in sorted(overlays):
        folder, _, last = name.rpartition("/")
        level = levels.setdefault(folder.removesuffix(ENVIRONMENTS).rstrip("/"), {})
        environment, path = last.rpartition(".")[0], Found(f"{base}{name}")
        if environment in level:
            raise SparkgenError(
                f"{level[environment]} and {path} are overlays of the same environment; delete one"
            )
        level[environment] = path
    return levels


def _parts_of(name: str, levels: Levels, base: str) -> Iterator[Part]:
    folder = name.rpartition("/")[0]
    above = folder.split("/") if folder else []
    ways = ["/".join(above[:depth]) for depth in range(len(above) + 1)]
    own = [levels[way] for way in ways if way in levels]
    for environment in sorted({one for level in own for one in level}) or [""]:
        overlays = tuple(level[environment] for level in own if environment in level)
        yield Part(Found(f"{base}{name}"), folder, environment, overlays)


@dataclass(slots=True)
class _Walk:
    """A walk through a directory on the disk. `skipped`: the real path of a folder not to search."""

    root: str
    skipped: str
    files: list[str] = field(default_factory=list)
    links: dict[str, LinkTarget] = field(default_factory=dict)

    def path(self, name: str) -> str:
        return f"{self.root.rstrip('/')}/{name}"

    def search(self, below: str) -> list[str]:
        """Gather what is in a folder ("" for the root, else its name and a slash). Returns folders in it."""
        with os.scandir(self.path(below)) as scanned:
            entries = [entry for entry in scanned if not entry.name.startswith(".")]
        overlays = below.rstrip("/").rpartition("/")[2] == ENVIRONMENTS
        folders: list[str] = []
        for entry in entries:
            name, is_yaml = f"{below}{entry.name}", entry.name.endswith(SUFFIXES)
            if entry.is_symlink():
                if is_yaml or entry.name == ENVIRONMENTS:
                    self.links[name] = leads_to(self.path(name))
            elif is_yaml and (overlays or entry.is_file()):
                self.files.append(name)  # whatever an overlay is: reading it says what is wrong
            elif entry.is_dir() and os.path.realpath(self.path(name)) != self.skipped:
                folders.append(f"{name}/")
        return folders


def seen(root: str, skipped: str = "") -> Seen:
    """Gather the files of a directory on the disk; `skipped`: the real path of a folder not to search."""
    walk = _Walk(root, skipped)
    todo = [""]
    while todo:
        todo += walk.search(todo.pop())
    return Seen(walk.files, walk.links, lambda name: file_mentions_group(walk.path(name)))
