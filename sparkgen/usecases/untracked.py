"""Finds pushed files that are not in Git, so that a reviewer of the repository does not see them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sparkgen.delivery.ignore import FILE_NAME
from sparkgen.diff import git
from sparkgen.errors import SparkgenError
from sparkgen.usecases.push import Plan


def untracked(plans: Iterable[Plan]) -> list[str]:
    """Returns the files of artifacts that are not in Git, as paths from the root: other users lack them.

    Leaves out what Git ignores. Empty if there is no repository, or git is not installed.
    Raises SparkgenError for a file that seems to contain a secret, even if Git ignores it: whoever wrote the
    ignore file that allows it may not be who has the file.
    """
    paths: set[str] = set()
    for one in plans:
        files = [file for packed in one.packed for file in packed.contents.files]
        if not files:
            continue
        try:
            repository = git.repository(Path(one.document.source).parent)
            paths.update(repository.untracked([Path(file.place) for file in files], ignored=False))
            secrets = {Path(file.place): file.secret for file in files if file.secret}
            private = repository.untracked(secrets, ignored=True)
        except SparkgenError:
            continue
        for path in private:
            raise SparkgenError(
                f"{path} seems to contain a secret ({secrets[repository.root / path]}) and is not in Git, so "
                f"{FILE_NAME} cannot allow it: put it into a Kubernetes Secret, or into Git if it is none"
            )
    return sorted(paths)
