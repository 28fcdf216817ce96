"""Event logs in a zip archive, as downloaded from a history server. Nothing is unpacked to disk.

`zipfile.Path` is not used, because it loops forever for an entry whose name begins with slashes.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from sparkgen.eventlog.errors import EventLogError

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How history servers pack. Other methods have errors of their own; LZMA reserves what a file asks for."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive."""

    archive: zipfile.ZipFile
    info: zipfile.ZipInfo
    parts: tuple[str, ...]
    """Its folders and its name."""
    archive_size: int = 0
    """Bytes of the whole archive: what is unpacked of a compressed file in it is measured by them."""

    @property
    def name(self) -> str:
        """Its name, without folders."""
        return self.parts[-1]

    def __str__(self) -> str:
        return "/".join((self.archive.filename or "", *self.parts))

    def open(self, _mode: Literal["rb"] = "rb") -> IO[bytes]:
        """The stream of its bytes. EventLogError where it cannot be unpacked."""
        if self.info.compress_type not in _METHODS:
            raise EventLogError(
                f"cannot read {self}: it is packed by a rare method; unpack the archive first"
            )
        try:
            return self.archive.open(self.info)
        except (RuntimeError, ValueError, struct.error) as error:  # encrypted, or with a damaged header
            raise EventLogError(f"cannot read {self}: {error}; unpack the archive first") from error


def members(path: Path) -> list[Member]:
    """The files of an archive. Raises EventLogError if it is broken."""
    try:
        size = path.stat().st_size
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:  # damaged, or newer
        raise EventLogError(f"cannot read {path}: {error}") from error
    return [
        Member(archive, info, parts, size)
        for info in archive.infolist()
        if not info.is_dir() and (parts := _parts(info.filename))
    ]


def _parts(name: str) -> tuple[str, ...]:
    return tuple(part for part in name.split("/") if part not in ("", "."))


def by_first_part(found: Sequence[Member]) -> Mapping[str, Sequence[Member]]:
    """Name at the top of an archive -> the files in this folder, or the file itself."""
    folders: dict[str, list[Member]] = {}
    for member in found:
        folders.setdefault(member.parts[0], []).append(member)
    return folders
