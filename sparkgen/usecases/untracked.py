"""Finds pushed files that are not in Git, so that a reviewer of the repository does not see them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sparkgen.diff import git
from sparkgen.errors import SparkgenError
from sparkgen.usecases.push import Plan


def untracked(plans: Iterable[Plan]) -> list[str]:
    """Returns the files of artifacts that are not in Git, as paths from the root: other users lack them.

    Empty if there is no repository, or git is not installed.
    """
    paths: set[str] = set()
    for one in plans:
        places = [Path(file.place) for packed in one.packed for file in packed.contents.files]
        try:
            paths.update(git.repository(Path(one.document.source).parent).untracked(places) if places else ())
        except SparkgenError:
            continue
    return sorted(paths)
