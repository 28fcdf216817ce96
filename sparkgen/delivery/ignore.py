"""`.sparkgenignore`: what of a folder is left out, in the syntax of .gitignore.

Each file is about its own folder and those below, and a deeper one overrides. The first lines are ours: they
keep out what differs between two machines with the same code. A line `!pattern` takes something in again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from pathspec import GitIgnoreSpec

FILE_NAME = ".sparkgenignore"
ALWAYS = (".git", "__pycache__/", "*.py[cod]", ".ipynb_checkpoints/", ".DS_Store")
"""What is left out unless a `.sparkgenignore` takes it in."""


MOST_WILDCARDS = 3
"""Of `*` in one name of a line, and of `**` in a line: time grows by a power of them."""


class BadIgnoreFile(Exception):
    """A `.sparkgenignore` that cannot be used. Its argument: why, to follow the file's path."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a path is left out. `named`: a line of a file says so; `by`: which file, for people."""

    ignored: bool
    named: bool = False
    by: str = ""


@dataclass(slots=True)
class Ignores:
    """The rules of a repository. `read`: the text of a folder's file, None where it has none.

    Each method raises BadIgnoreFile for a file that cannot be used: what it keeps out must not be taken in.

    Paths are relative to the repository's root, with `/`; that of a folder ends with one, and the root is "".
    """

    read: Callable[[str], str | None]
    _specs: dict[str, GitIgnoreSpec | None] = field(default_factory=dict)

    def within(self, path: str) -> Verdict:
        """What is said of a path or of a folder above it: nothing in a folder that is left out comes in."""
        for folder in reversed(_above(path)):
            if folder and (verdict := self.of(folder)).ignored:
                return verdict
        return self.of(path)

    def of(self, path: str) -> Verdict:
        """What is said of a path itself, the deepest file first."""
        for folder in _above(path):
            spec = self._spec(folder)
            said = spec.check_file(path[len(folder) :]).include if spec is not None else None
            if said is not None:
                return Verdict(said, named=True, by=f"{folder}{FILE_NAME}")
        return Verdict(bool(_DEFAULT.check_file(path).include), by="its name")

    def _spec(self, folder: str) -> GitIgnoreSpec | None:
        if folder not in self._specs:
            self._specs[folder] = self._new_spec(folder)
        return self._specs[folder]

    def _new_spec(self, folder: str) -> GitIgnoreSpec | None:
        try:
            text = self.read(folder)
            return None if text is None else _spec_of(text)
        except BadIgnoreFile as error:
            raise BadIgnoreFile(f"{folder}{FILE_NAME} {error}") from None


def _spec_of(text: str) -> GitIgnoreSpec:
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        names = line.split("/")
        if names.count("**") > MOST_WILDCARDS or any(
            len(re.findall(r"\*+", name)) > MOST_WILDCARDS for name in names
        ):
            raise BadIgnoreFile(f"has more than {MOST_WILDCARDS} wildcards in line {number}")
        try:
            GitIgnoreSpec.from_lines([line])
        except (ValueError, re.error):
            raise BadIgnoreFile(f"has an invalid pattern in line {number}") from None
    return GitIgnoreSpec.from_lines(lines)


_DEFAULT = GitIgnoreSpec.from_lines(ALWAYS)


def _above(path: str) -> list[str]:
    """The folders that a path is in, the deepest first, down to the root ""."""
    parts = path.rstrip("/").split("/")[:-1]
    return ["/".join(parts[:number]) + "/" if number else "" for number in range(len(parts), -1, -1)]
