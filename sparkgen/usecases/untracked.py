"""Finds pushed files that are not in Git, so that a reviewer of the repository does not see them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from sparkgen.delivery.ignore import FILE_NAME
from sparkgen.diff import git
from sparkgen.diff.git import Untracked
from sparkgen.errors import SparkgenError
from sparkgen.usecases.git_files import git_files
from sparkgen.usecases.local_files import has_repository
from sparkgen.usecases.push import Plan


def untracked(plans: Iterable[Plan]) -> Untracked:
    """Returns the files of artifacts that Git does not have or show as they are: other users lack them.

    None if there is no repository, or git cannot list its files.
    Raises SparkgenError for a file of a repository that seems to contain a secret, unless git says that it is
    in Git: whoever wrote the ignore file that allows it may not be who has the file.
    """
    new: set[str] = set()
    ignored: set[str] = set()
    hidden: dict[Path, str] = {}
    for one in plans:
        files = [file for packed in one.packed for file in packed.contents.files]
        folder = Path(one.document.source).parent
        if not files or not has_repository(folder):
            continue
        _refuse_private({Path(file.place): file.secret for file in files if file.secret}, folder)
        try:
            found = git.repository(folder).untracked(Path(file.place) for file in files)
        except SparkgenError:
            continue
        new.update(found.new)
        ignored.update(found.ignored)
        hidden.update(found.hidden)
    return Untracked(sorted(new), sorted(ignored), hidden)


def _refuse_private(secrets: Mapping[Path, str], folder: Path) -> None:
    if not secrets:
        return
    known = git_files(secrets, folder)
    why = f"may not be in Git ({known.problem})" if known.problem else "is not in Git"
    for place in sorted(set(secrets) - known.files):
        raise SparkgenError(
            f"{place} seems to contain a secret ({secrets[place]}) and {why}, so {FILE_NAME} cannot allow "
            "it: put it into a Kubernetes Secret, or into Git if it is none"
        )
