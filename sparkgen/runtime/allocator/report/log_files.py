"""Keeps what the allocator prints in files as well, for the container that archives logs."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

LARGEST = 4 << 20
"""Bytes of a file, as in logged.sh: a file that is complete is copied to the archive once."""


@dataclass(slots=True)
class LogFiles:
    """A stream that prints, and copies into the files of a folder. An error of the copy changes nothing else.

    `now` returns the time for the names of files.
    """

    stream: TextIO
    folder: Path
    now: Callable[[], datetime]
    _file: TextIO | None = None
    _size: int = 0
    _number: int = 0

    def write(self, text: str) -> None:
        """Write a whole line."""
        self.stream.write(text)
        with suppress(OSError):
            if self._file is None or self._size >= LARGEST:
                self._open_next()
            assert self._file is not None  # noqa: S101 - it was just opened
            self._file.write(text)
            self._size += len(text.encode())

    def flush(self) -> None:
        """Pass on what has been written."""
        self.stream.flush()
        with suppress(OSError):
            if self._file is not None:
                self._file.flush()

    def _open_next(self) -> None:
        if self._file is not None:
            old, self._file = self._file, None  # also if it cannot be closed, because the disk is full
            old.close()
        name = f"{self.now().astimezone(UTC):%Y%m%dT%H%M%SZ}-{self._number:06}.log"
        descriptor = os.open(self.folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        self._file, self._size = os.fdopen(descriptor, "w", encoding="utf-8"), 0
        self._number += 1
