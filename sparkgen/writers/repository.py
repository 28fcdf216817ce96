"""Finds a folder's repository, and refuses links that lead out of it. Works without running Git."""

from __future__ import annotations

import os
from pathlib import Path

from sparkgen.errors import SparkgenError


def repository_root(folder: Path) -> Path:
    """The nearest folder with `.git`, from `folder` (resolved) up; `folder` itself if there is none."""
    above = (folder, *folder.parents)
    return next((one for one in above if os.path.exists(one / ".git")), folder)  # noqa: PTH110 - never raises


def refuse_way_out(directory: Path) -> None:
    """Raise SparkgenError if a link in the repository leads a folder for output out of it.

    A link outside the repository is the caller's own; a link in it may come from somebody's commit.
    """
    root = os.path.realpath(repository_root(Path.cwd()))
    named = os.path.normpath(os.path.join(os.path.realpath(Path.cwd()), directory))  # noqa: PTH118 - by its text
    real = os.path.realpath(named)
    if _is_in(named, root) and not _is_in(real, root):
        raise SparkgenError(
            f"{directory} is, or is below, a symbolic link out of the repository, to {real}; delete the "
            f"link, or name {real} itself"
        )


def _is_in(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root.rstrip('/')}/")
