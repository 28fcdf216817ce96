"""Finds a folder's repository, and links that lead out of it. Works without running Git."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

LinkTarget = Literal["file", "folder", "nothing", "outside"]
"""Where a symbolic link leads; "outside": out of the repository, or nobody can tell."""


def repository_root(folder: Path) -> Path:
    """The nearest folder with `.git`, from `folder` (resolved) up; `folder` itself if there is none."""
    return _root(folder) or folder


def _root(folder: Path) -> Path | None:
    above = (folder, *folder.parents)
    return next((one for one in above if os.path.exists(one / ".git")), None)  # noqa: PTH110 - never raises


def way_out(path: str | Path, *, needs_git: bool = False) -> str:
    """Where a link in the repository of the working directory leads a path out of it; "" if none does.

    A link outside the repository is the caller's own; a link in it may come from somebody's commit. Without a
    repository, the working directory counts as one, unless `needs_git`.
    """
    here = Path(os.path.realpath(os.curdir))
    root = _root(here) if needs_git else repository_root(here)
    real = os.path.realpath(_named(here, path))
    leads_out = root is not None and not Path(real).is_relative_to(root) and _first_link(here, path, root)
    return real if leads_out else ""


def link_on(path: str | Path) -> str:
    """The first link on a path that is in the repository of the working directory; "" if there is none.

    Somebody's commit may have made it, and it may lead to a file that no commit contains.
    """
    here = Path(os.path.realpath(os.curdir))
    root = _root(here)
    return _first_link(here, path, root) if root is not None else ""


def _named(here: Path, path: str | Path) -> str:
    return os.path.normpath(here / path)  # by its text: `..` goes up in what is written


def _first_link(here: Path, path: str | Path, root: Path) -> str:
    """The first link below `root` (resolved) on a path; links above the root are followed."""
    named = _named(here, path)
    if os.path.realpath(named) == named:
        return ""
    real = Path(named).anchor
    for part in Path(named).parts[1:]:
        step = Path(real, part)
        if step.is_symlink() and step.is_relative_to(root):
            return str(step)
        real = os.path.realpath(step)
    return ""


def is_hidden(inside: str) -> bool:
    """Whether a name in a path (with `/`) begins with a dot."""
    return any(part.startswith(".") for part in inside.split("/"))


def leads_to(link: str) -> LinkTarget:
    """Where a symbolic link on the disk leads."""
    try:
        if way_out(link, needs_git=True):
            return "outside"
        at = Path(link)
        return "folder" if at.is_dir() else "file" if at.is_file() else "nothing"
    except (OSError, ValueError):
        return "outside"
