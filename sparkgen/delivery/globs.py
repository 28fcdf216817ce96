"""Finds the matches of a glob in a repository: as Python's `glob`, but in bounded time, and only inside it.

Python's `glob` follows links anywhere, and reads a folder once for each path to it: two links in each of
thirty folders make a thousand million paths.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fnmatch import filter as matching
from pathlib import Path

from sparkgen.delivery.work import Work

MAGIC = re.compile(r"[*?\[]")


@dataclass(slots=True)
class Glob:
    """Searches. `folder`: where patterns begin; `is_inside`: whether a real path is in the repository."""

    folder: str
    is_inside: Callable[[str], bool]
    work: Work
    _listed: dict[str, dict[str, bool]] = field(default_factory=dict)
    """Folder -> name -> whether it is a folder, or a link to one."""

    def matches(self, pattern: str) -> list[str]:
        """Returns paths from the folder, sorted; only folders, with a slash, if the pattern ends with one.

        A name with a leading dot matches only a part with one. `**` is any number of folders, and does not
        follow a link back to a folder above. Raises TooMuch for a pattern that searches too many files.
        """
        *above, last = _without_repeats(pattern.split("/"))
        found = {""}
        for part in filter(None, above):
            found = {below for path in found for below in self._folders(path, part)}
        if not last:
            return sorted(found)
        return sorted({f"{path}{name}" for path in found for name in self._last(path, last)})

    def _folders(self, path: str, part: str) -> Iterator[str]:
        """Yields folders below `path` that match a part of a pattern; paths are "" or end with a slash."""
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
        """Yields a folder and all below it. `above`: the real paths from where the search began."""
        waiting = [(path, above)]
        while waiting:
            path, above = waiting.pop()
            yield path
            for name in self._names(path, "*"):
                if not self._listed.get(path, {}).get(name):
                    continue
                real = os.path.realpath(self._at(f"{path}{name}"))
                if real not in above:
                    waiting.append((f"{path}{name}/", (*above, real)))

    def _names(self, path: str, part: str) -> list[str]:
        if not MAGIC.search(part):
            self.work.see(1)
            return [part] if os.path.lexists(self._at(f"{path}{part}")) else []
        names = self._listing(path)
        self.work.see(len(names) + 1)
        return matching((name for name in names if part[0] == "." or name[0] != "."), part)

    def _listing(self, path: str) -> dict[str, bool]:
        """Returns the content of a folder, reading it once; empty if it is unreadable or outside."""
        if path not in self._listed:
            where = self._at(path)
            names: dict[str, bool] = {}
            with contextlib.suppress(OSError):
                if self.is_inside(os.path.realpath(where)):
                    with os.scandir(where) as entries:
                        for entry in entries:
                            self.work.see(1)
                            names[entry.name] = entry.is_dir()
            self._listed[path] = names
        return self._listed[path]

    def _at(self, path: str) -> str:
        return f"{self.folder}/{path}"


def _without_repeats(parts: list[str]) -> list[str]:
    """Returns the parts of a pattern, without a `**` that follows another `**`: it matches nothing more."""
    return [part for at, part in enumerate(parts) if part != "**" or at == 0 or parts[at - 1] != "**"]
