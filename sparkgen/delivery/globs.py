"""What a glob finds in a repository: as Python's `glob` has it, in bounded time, and without leaving it.

Python's own follows links anywhere, and goes through a folder once for each way that leads there: two links
in each of thirty folders make a thousand million ways.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import filter as matching
from pathlib import Path

MAGIC = re.compile(r"[*?\[]")
MOST_SEEN = 1_000_000
"""Files and folders that one pattern may go through."""


class TooMany(Exception):
    """A pattern goes through more than `MOST_SEEN` files and folders."""


@dataclass(slots=True)
class Glob:
    """One search. `folder`: where patterns begin; `is_inside`: whether a real path is in the repository."""

    folder: str
    is_inside: Callable[[str], bool]
    _seen: int = 0

    def matches(self, pattern: str) -> list[str]:
        """Paths from the folder, sorted; those of folders end with a slash where the pattern does.

        A name that begins with a dot matches only a part that does. `**` is any number of folders, but not
        those above to which a link leads back.
        """
        *above, last = pattern.split("/")
        found = {""}
        for part in filter(None, above):
            found = {below for path in found for below in self._folders(path, part)}
        if not last:
            return sorted(found)
        return sorted({f"{path}{name}" for path in found for name in self._last(path, last)})

    def _folders(self, path: str, part: str) -> Iterator[str]:
        """The folders that a part of a pattern is below `path`; each of both is "" or ends with a slash."""
        if part == "**":
            yield from self._below(path, (os.path.realpath(self._at(path)),))
            return
        for name in self._names(path, part):
            if Path(self._at(f"{path}{name}")).is_dir():
                yield f"{path}{name}/"

    def _last(self, path: str, part: str) -> Iterator[str]:
        if part != "**":
            yield from self._names(path, part)
            return
        yield ""
        for folder in self._folders(path, part):
            yield from (f"{folder[len(path) :]}{name}" for name in self._names(folder, "*"))

    def _below(self, path: str, above: tuple[str, ...]) -> Iterator[str]:
        """A folder and all below it. `above`: the real paths from where the search began."""
        waiting = [(path, above)]
        while waiting:
            path, above = waiting.pop()
            yield path
            for name in self._names(path, "*"):
                real = os.path.realpath(self._at(f"{path}{name}"))
                if real not in above and Path(real).is_dir():
                    waiting.append((f"{path}{name}/", (*above, real)))

    def _names(self, path: str, part: str) -> list[str]:
        if not MAGIC.search(part):
            return [part] if os.path.lexists(self._at(f"{path}{part}")) else []
        where = self._at(path)
        if not self.is_inside(os.path.realpath(where)):
            return []
        try:
            with os.scandir(where) as entries:
                names = [entry.name for entry in entries]
        except OSError:
            return []
        self._seen += len(names) + 1
        if self._seen > MOST_SEEN:
            raise TooMany
        return matching((name for name in names if part[0] == "." or name[0] != "."), part)

    def _at(self, path: str) -> str:
        return f"{self.folder}/{path}"
