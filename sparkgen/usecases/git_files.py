"""Which files of a work tree Git has: only these may be shown to others.

Whoever wrote a document, a script or an ignore file may not be who has the files that it names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sparkgen.delivery import secret_files
from sparkgen.diff import git
from sparkgen.errors import SparkgenError


@dataclass(frozen=True, slots=True)
class GitFiles:
    """The files that Git has. `problem`: why Git cannot tell, or ""; then there are none.

    `hidden`: other files that Git has, with changes that it does not show (Repository.hidden).
    """

    files: frozenset[Path]
    problem: str = ""
    hidden: Mapping[Path, str] = field(default_factory=dict)


def git_files(secrets: Mapping[Path, str], folder: Path) -> GitFiles:
    """Returns those of the files that the index of the folder's repository has.

    `secrets`: what each file seems to contain, "" for no secret. Of a secret, Git must have the same bytes.
    """
    private = {file for file, secret in secrets.items() if secret}
    try:
        where = git.repository(folder)
        known = where.in_index(secrets)
        hidden = where.hidden(known)
        private -= where.tracked(private)
        return GitFiles(frozenset(known - private - hidden.keys()), hidden=hidden)
    except SparkgenError as error:
        return GitFiles(frozenset(), str(error))


def has(root: Path, file: Path, data: bytes) -> bool:
    """Whether the repository at `root` has a file (resolved) with these bytes."""
    inside = file.relative_to(root).as_posix()
    secret = secret_files.by_name(inside) or secret_files.by_text(data)
    return file in git_files({file: secret}, root).files
