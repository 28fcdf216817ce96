"""`.sparkgenignore`: what of a folder is left out, in the syntax of .gitignore.

Each file is about its own folder and those below, and a deeper one overrides. The first lines are ours: they
keep out what differs between two machines with the same code. A line `!pattern` takes something in again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from pathspec import GitIgnoreSpec

from sparkgen.delivery.work import TooMuch, Work

FILE_NAME = ".sparkgenignore"
ALWAYS = (".git", "__pycache__/", "*.py[cod]", ".ipynb_checkpoints/", ".DS_Store")
"""What is left out unless a `.sparkgenignore` takes it in."""


MOST_WILDCARDS = 3
"""Of `*` in one name of a line, and of `**` in a line: time grows by a power of the latter."""
MOST_LINES = 5_000
LONGEST_LINE = 4_096
"""Characters: no path is longer."""
_COST_OF_LINE = 100
"""Of reading a line, in comparisons with a path."""
_STAR = "[^/]*"
"""What `*` becomes in a regular expression."""


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
    work: Work
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
            said = self._said(spec, path[len(folder) :], folder) if spec is not None else None
            if said is not None:
                return Verdict(said, named=True, by=f"{folder}{FILE_NAME}")
        return Verdict(bool(self._said(_DEFAULT, path, "")), by="its name")

    def _said(self, spec: GitIgnoreSpec, path: str, folder: str) -> bool | None:
        try:
            self.work.check(len(spec.patterns))
        except TooMuch:
            raise BadIgnoreFile(f"{folder}{FILE_NAME} {_TOO_MUCH}") from None
        return spec.check_file(path).include

    def _spec(self, folder: str) -> GitIgnoreSpec | None:
        if folder not in self._specs:
            self._specs[folder] = self._new_spec(folder)
        return self._specs[folder]

    def _new_spec(self, folder: str) -> GitIgnoreSpec | None:
        try:
            text = self.read(folder)
            return None if text is None else _spec_of(text, self.work)
        except TooMuch:
            raise BadIgnoreFile(f"{folder}{FILE_NAME} {_TOO_MUCH}") from None
        except BadIgnoreFile as error:
            raise BadIgnoreFile(f"{folder}{FILE_NAME} {error}") from None


def _spec_of(text: str, work: Work) -> GitIgnoreSpec:
    lines = text.splitlines()
    if len(lines) > MOST_LINES:
        raise BadIgnoreFile(f"has more than {MOST_LINES} lines")
    work.check(_COST_OF_LINE * len(lines))
    for number, line in enumerate(lines, 1):
        if len(line) > LONGEST_LINE:
            raise BadIgnoreFile(f"has more than {LONGEST_LINE} characters in line {number}")
        names = line.split("/")
        if names.count("**") > MOST_WILDCARDS or any(
            len(re.findall(r"\*+", name)) > MOST_WILDCARDS for name in names
        ):
            raise BadIgnoreFile(f"has more than {MOST_WILDCARDS} wildcards in line {number}")
        try:
            GitIgnoreSpec.from_lines([line])
        except (ValueError, re.error):
            raise BadIgnoreFile(f"has an invalid pattern in line {number}") from None
    spec = GitIgnoreSpec.from_lines(lines)
    for pattern in spec.patterns:
        if pattern.regex is not None:
            pattern.regex = re.compile(linear(pattern.regex.pattern))
    return spec


def linear(expression: str) -> str:
    """The same expression, which goes through a name once however many `*` are in it.

    What stands between two `*` of a name may be taken where it is found first: the second `*` takes the rest.
    """
    first, *rest = expression.split(_STAR)
    written = first
    for at, piece in enumerate(rest):
        inside = piece.replace("[^/]", "")
        movable = at < len(rest) - 1 and "/" not in inside and "[^" not in inside
        written += f"(?>{_STAR}?{piece})" if movable else f"{_STAR}{piece}"
    return written


_TOO_MUCH = "has too many lines for this many files: name folders instead of files"
_DEFAULT = GitIgnoreSpec.from_lines(ALWAYS)


def _above(path: str) -> list[str]:
    """The folders that a path is in, the deepest first, down to the root ""."""
    parts = path.rstrip("/").split("/")[:-1]
    return ["/".join(parts[:number]) + "/" if number else "" for number in range(len(parts), -1, -1)]
