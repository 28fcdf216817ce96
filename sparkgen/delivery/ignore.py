"""`.sparkgenignore`: the paths that an artifact leaves out, in the syntax of .gitignore.

Each file applies to its own folder and those below it, and a deeper file overrides. sparkgen's own patterns
(ALWAYS) come first: they leave out files that differ between two machines with the same code. A line
`!pattern` includes a path again.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from pathspec import GitIgnoreSpec

from sparkgen.delivery.work import TooMuch, Work

FILE_NAME = ".sparkgenignore"
ALWAYS = (".git", "__pycache__/", "*.py[cod]", ".ipynb_checkpoints/", ".DS_Store")
"""The paths that are left out unless a `.sparkgenignore` includes them."""


MOST_WILDCARDS = 3
"""The limit of `*` in a name of a line, and of `**` in a line: time grows by a power of that."""
MOST_LINES = 5_000
LONGEST_LINE = 4_096
"""Characters: no path is longer."""
_COST_OF_LINE = 100
"""The cost of reading a line, as a number of comparisons with a path."""
_STAR = "[^/]*"
"""The regular expression for `*`."""


class BadIgnoreFile(Exception):
    """A `.sparkgenignore` cannot be used. Its argument: the reason, to follow the file's path."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a path is left out. `named`: a file's line matched it; `by`: the file, for messages."""

    ignored: bool
    named: bool = False
    by: str = ""


@dataclass(slots=True)
class Ignores:
    """The rules of a repository. `read`: returns the text of a folder's file, or None if it has none.

    Each method raises BadIgnoreFile for a file that cannot be used: the paths in it must not be delivered.

    Paths are relative to the repository's root, with `/`; that of a folder ends with one, and the root is "".
    """

    read: Callable[[str], str | None]
    work: Work
    _specs: dict[str, GitIgnoreSpec | None] = field(default_factory=dict)

    def within(self, path: str) -> Verdict:
        """The verdict on a path or a folder above it: no path in a folder that is left out is included."""
        for folder in reversed(_above(path)):
            if folder and (verdict := self.of(folder)).ignored:
                return verdict
        return self.of(path)

    def of(self, path: str) -> Verdict:
        """The verdict on a path itself; the deepest file that has a matching line decides."""
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
    """Returns an equal expression that reads a name once, however many `*` it has.

    The text between two `*` of a name may match at its first place: the second `*` matches the rest.
    """
    first, *rest = expression.split(_STAR)
    written = first
    for at, piece in enumerate(rest):
        inside = piece.replace("[^/]", "")
        movable = at < len(rest) - 1 and "/" not in inside and "[^" not in inside
        written += f"(?>{_STAR}?{piece})" if movable else f"{_STAR}{piece}"
    return written


_TOO_MUCH = "has too many lines for this many files: list whole folders in it instead of single files"
_DEFAULT = GitIgnoreSpec.from_lines(ALWAYS)


def _above(path: str) -> list[str]:
    """Returns the folders that contain a path, the deepest first, up to the root ""."""
    parts = path.rstrip("/").split("/")[:-1]
    return ["/".join(parts[:number]) + "/" if number else "" for number in range(len(parts), -1, -1)]
