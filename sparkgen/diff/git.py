"""Reads files at a Git revision with plumbing commands: changes neither the work tree nor the index.

`rev-parse`, `ls-tree`, `ls-files` and `cat-file --batch` only read, and start no program that a repository
names. https://git-scm.com/docs/git#_low_level_commands_plumbing
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from sparkgen.errors import SparkgenError
from sparkgen.repository import repository_root

_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",  # no refresh of the index as a side effect
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    # No fetch on demand: the repository's configuration names programs for it. The first variable needs git
    # 2.45.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "",
}
_SETTINGS = {
    # Files below the root that form a bare repository may be untrusted: its configuration could name
    # programs.
    "safe.bareRepository": "explicit",
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.sshCommand": "false",
}
"""Settings that override the repository's own configuration, which may be untrusted."""
_OPTIONS = [word for name, text in _SETTINGS.items() for word in ("-c", f"{name}={text}")]
_AT_ONCE = 500
"""The most file names in one call of git."""
_PATIENCE = 30.0
"""Seconds for one such call: a named pipe instead of a .gitignore would block git forever."""
_FILE_MODES = (b"100644", b"100755")
_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository, identified by the top folder of its work tree."""

    root: Path

    def commit(self, revision: str) -> str:
        """The commit that a revision names. Raises SparkgenError, which says what may be missing."""
        done = self._git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        if done.returncode:
            raise SparkgenError(
                f"unknown revision {revision} in {self.root}; check its name (git log --oneline), or fetch "
                "it (git fetch origin; for older commits of a shallow clone: git fetch --unshallow)"
            )
        return done.stdout.decode().strip()

    def merge_base(self, one: str, other: str) -> str:
        """The newest common commit of two commits. Raises SparkgenError if there is none."""
        done = self._git("merge-base", one, other)
        if done.returncode:
            raise SparkgenError(
                f"{one} and {other} have no common commit in this clone; fetch more history: "
                "git fetch --unshallow"
            )
        return done.stdout.decode().strip()

    def files(self, commit: str, name: str, *, recursive: bool = False) -> dict[str, str]:
        """The ids of the files that `name` means at a commit, by file name.

        `name` is a file, or a directory, which means its YAML files; with `recursive`, all files below it.
        Empty if neither exists. The file names begin like the caller's: `name`, or `name/...`.
        """
        inside = self._inside(name)
        at = [] if inside == "." else ["--", inside]
        found = self._entries("ls-tree", "-z", commit, *at) if at else {}
        if at and (blob := found.get(inside)) is not None:
            return {name: blob}
        options = ["-r"] if recursive else []
        below = ["--", f"{inside}/"] if at else []
        entries = self._entries("ls-tree", "-z", *options, commit, *below)
        prefix = f"{inside}/" if at else ""
        base = f"{name.rstrip('/')}/" if name != "." else ""
        return {
            base + path.removeprefix(prefix): blob
            for path, blob in sorted(entries.items())
            if path.endswith(_SUFFIXES)
            and not any(part.startswith(".") for part in path.removeprefix(prefix).split("/"))
        }

    def read(self, ids: Iterable[str]) -> dict[str, bytes]:
        """The contents of files by their ids, in one call of git. Raises SparkgenError if one is missing."""
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return {}
        done = self._git("cat-file", "--batch", data="".join(f"{one}\n" for one in wanted).encode())
        contents: dict[str, bytes] = {}
        rest = done.stdout
        for one in wanted:
            header, _, rest = rest.partition(b"\n")
            parts = header.split()
            if len(parts) != 3:
                raise SparkgenError(
                    f"git cannot read {one}: {(done.stderr or header).decode().strip()}; in a partial clone, "
                    "fetch what it left out: git fetch --refetch --no-filter origin"
                )
            size = int(parts[2])
            contents[one], rest = rest[:size], rest[size + 1 :]
        return contents

    def untracked(self, paths: Iterable[Path], *, ignored: bool) -> list[str]:
        """The names, from the root, of those files that are not in the repository.

        `ignored`: with those that it ignores. Empty if git cannot list them.
        """
        inside = [one.relative_to(self.root).as_posix() for one in paths if one.is_relative_to(self.root)]
        found: list[str] = []
        for start in range(0, len(inside), _AT_ONCE):
            some = [f":(top,literal){name}" for name in inside[start : start + _AT_ONCE]]
            left_out = () if ignored else ("--exclude-standard",)
            words = ("ls-files", "-z", "--others", *left_out, "--", *some)
            done = _run(self.root, *words, seconds=_PATIENCE)
            found += [name.decode(errors="surrogateescape") for name in done.stdout.split(b"\0") if name]
        return sorted(set(found) & set(inside))

    def _inside(self, name: str) -> str:
        """The caller's name as a path below the root, with `/`. Raises SparkgenError if it is outside."""
        relative = os.path.relpath(Path(name).absolute().resolve(), self.root)
        if relative.startswith(".."):
            raise SparkgenError(f"{name} is outside the repository {self.root}")
        return Path(relative).as_posix()

    def _entries(self, *arguments: str) -> dict[str, str]:
        done = self._git(*arguments)
        if done.returncode:
            raise SparkgenError(f"git {arguments[0]} failed: {done.stderr.decode().strip()}")
        found: dict[str, str] = {}
        for entry in done.stdout.split(b"\0"):
            description, _, path = entry.partition(b"\t")
            parts = description.split()
            if len(parts) == 3 and parts[0] in _FILE_MODES:
                found[_inside(path.decode(errors="surrogateescape"))] = parts[2].decode()
        return found

    def _git(self, *arguments: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return _run(self.root, *arguments, data=data)


def _inside(path: str) -> str:
    """Returns the name of a file in a commit. SparkgenError for one that leads out: git fetches it, too."""
    if not {"", ".", ".."}.isdisjoint(path.split("/")):
        raise SparkgenError(
            f"the commit has a file named {path!r}, which leads out of the repository: take another commit"
        )
    return path


def repository(near: Path) -> Repository:
    """The repository that contains a folder. Raises SparkgenError if there is none."""
    # From the folder with `.git`: below it, git would take any folder with a repository's files for a
    # repository.
    done = _run(repository_root(near.resolve()), "rev-parse", "--show-toplevel")
    if done.returncode:
        said = done.stderr.decode().strip().removeprefix("fatal: ")
        raise SparkgenError(f"{near.resolve()} is not in a Git repository that git can read: {said}")
    return Repository(Path(done.stdout.decode().rstrip("\n")).resolve())


def _run(
    folder: Path, *arguments: str, data: bytes = b"", seconds: float | None = None
) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            ["git", "--no-pager", *_OPTIONS, *arguments],
            cwd=folder,
            env={**os.environ, **_ENVIRONMENT},
            input=data,
            capture_output=True,
            check=False,
            timeout=seconds,
        )
    except subprocess.TimeoutExpired as error:
        raise SparkgenError(f"git {arguments[0]} in {folder} takes more than {seconds:.0f} s") from error
    except OSError as error:
        raise SparkgenError(f"cannot run git ({error.strerror}); install it, or check PATH") from error
