"""The repository that a folder is in, and whether a link in it leads out of it. No program is asked."""

from __future__ import annotations

import os
from pathlib import Path

from sparkgen.errors import SparkgenError


def repository_root(folder: Path) -> Path:
    """The nearest folder with `.git`, from `folder` (resolved) up; `folder` itself where there is none."""
    above = (folder, *folder.parents)
    return next((one for one in above if os.path.exists(one / ".git")), folder)  # noqa: PTH110 - never raises


def refuse_way_out(directory: Path) -> None:
    """SparkgenError where a link of the repository leads an output directory out of it.

    A link that stands beside the repository is the caller's own; one in it came with somebody's commit.
    """
    root = os.path.realpath(repository_root(Path.cwd()))
    named = os.path.normpath(os.path.join(os.path.realpath(Path.cwd()), directory))  # noqa: PTH118 - by its text
    real = os.path.realpath(named)
    if _is_in(named, root) and not _is_in(real, root):
        raise SparkgenError(
            f"{directory} is, or is below, a symbolic link out of the repository, to {real}; delete the "
            f"link, or give {real} as --output-dir"
        )


def _is_in(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root.rstrip('/')}/")
