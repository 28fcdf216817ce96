"""Files that others read while they are replaced."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

SHARED = 0o640
"""The driver's container has another user and the same group (fsGroup); nobody else may read."""


def replace_file(path: Path, content: str | bytes, mode: int = SHARED) -> None:
    """Write a file in one step: a reader sees the old content or the new one. OSError when that fails."""
    data = content.encode() if isinstance(content, str) else content
    draft = path.with_name(f".{path.name}.new")
    with contextlib.suppress(FileNotFoundError):
        draft.unlink()
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, mode)  # whatever the umask
        file.write(data)
    draft.replace(path)
