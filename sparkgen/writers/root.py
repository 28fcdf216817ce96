"""Records the directory of documents from which an output directory is rendered.

`render -R` removes the files of documents that do not exist: rendering one directory would remove the output
of another. So a file in the output directory names its directory of documents, by the relative path, which is
the same on every machine with the same repository.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Collection
from pathlib import Path

from sparkgen.errors import SparkgenError
from sparkgen.jsonvalue import decode
from sparkgen.writers.atomic import replace
from sparkgen.writers.open_folders import held
from sparkgen.writers.render_directory import refused
from sparkgen.writers.repository import refuse_way_out

MARKER = ".sparkgen-root"
_OPENING = """\
# sparkgen render -R renders the directory named here to this one, and removes everything else in it.
# It refuses to render another directory to this one.
"""
_MOST_BYTES = 16 * 1024


def refuse_other(directory: Path, root: Path, places: Collection[str], stale: Collection[str]) -> None:
    """Raise SparkgenError if `directory` contains the render of a directory other than `root`.

    `places`: the folders to which applications are rendered now; `stale`: the rendered folders that would be
    removed. Output without a marker file counts as this root's, unless everything in it would be removed.
    """
    named = _named(directory)
    own = _relative(directory, root)
    if named is not None and named != own:
        raise SparkgenError(
            f"{directory} contains manifests of {_shown(directory, named)}, which this command would remove; "
            f"choose another --output-dir for {root}, or, if {root} replaces that directory, delete "
            f"{directory}/{MARKER}"
        )
    if named is None and stale and not any((directory / place).is_dir() for place in places):
        raise SparkgenError(
            f"{directory} contains other manifests ({', '.join(sorted(stale)[:3])}) and none of {root}; this "
            "command would remove them. Choose another --output-dir, or delete them first"
        )


def mark(directory: Path, root: Path) -> None:
    """Write the marker file, which names `root`, unless there is one. Raises SparkgenError if this fails."""
    text = f"{_OPENING}{json.dumps(_relative(directory, root))}\n"
    refuse_way_out(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with held(directory) as at:
            if (at / MARKER).is_file() and not (at / MARKER).is_symlink():
                return
            replace(at, {MARKER: text})
    except OSError as error:
        raise refused(directory, error) from error


def _named(directory: Path) -> str | None:
    """The root in the marker file; None if there is no file, "" if it cannot be read."""
    try:
        handle = os.open(directory / MARKER, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError:
        return ""
    with open(handle, "rb") as file:  # noqa: PTH123 - a handle that was opened without following a link
        lines = file.read(_MOST_BYTES).decode("utf-8", errors="replace").splitlines()
    for line in lines:
        if not line.startswith("#"):
            with contextlib.suppress(ValueError):
                value = decode(line)
                return value if isinstance(value, str) else ""
    return ""


def _relative(directory: Path, root: Path) -> str:
    """The relative path from output to documents, with links resolved; absolute between drives of Windows."""
    there = os.path.realpath(root)
    try:
        return Path(os.path.relpath(there, os.path.realpath(directory))).as_posix()
    except ValueError:
        return Path(there).as_posix()


def _shown(directory: Path, named: str) -> str:
    if not named:
        return f"an unknown directory ({directory}/{MARKER} is damaged)"
    return os.path.relpath(os.path.join(os.path.realpath(directory), named))  # noqa: PTH118 - `..` in the middle
