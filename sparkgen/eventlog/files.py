"""The files of an event log, in the order in which Spark wrote them."""

from __future__ import annotations

import re
import zipfile
from importlib.resources.abc import Traversable
from pathlib import Path

from sparkgen.eventlog.errors import EventLogError

CODECS = {"lz4": "lz4", "snappy": "snappy", "zstd": "zstd", "zst": "zstd", "gz": "gz"}
"""Ending of a file's name -> what it was compressed with: Spark's short names, and those of gzip and zstd."""
MOST_UNPACKED = 500
"""Bytes of one byte of a file: events are alike, and unpack to twenty or fifty."""
UNPACKED_ALWAYS = 1 << 28
ROLLING = "eventlog_v2_"
"""What the name of a rolling log's directory begins with (RollingEventLogFilesWriter)."""
_NUMBERED = re.compile(r"events_(\d+)_.+")


def codec_of(name: str) -> str:
    """What a file was compressed with, by its name; "" for a plain one."""
    ending = name.removesuffix(".inprogress").removesuffix(".compact").rpartition(".")[2].lower()
    if ending == "lzf":
        raise EventLogError(
            f"{name} is compressed with lzf, which cannot be read here. "
            "Set spark.eventLog.compression.codec to zstd for the next run"
        )
    return CODECS.get(ending, "")


def log_files(path: Path) -> list[Traversable]:
    """The files of the log at `path`: itself, or those of a rolling log's directory, the oldest first.

    Either may lie in a zip archive, as a history server hands it out. A compacted file holds what is still
    needed of all files up to its number. EventLogError where there is no log.
    """
    try:
        if path.is_dir():
            return _rolled(path)
        if path.is_file():
            return _zipped(path) if zipfile.is_zipfile(path) else [path]
    except OSError as error:
        raise EventLogError(f"cannot read {path}: {error.strerror or error}") from error
    raise EventLogError(
        f"{path} does not exist; give a file, or the directory of a rolling log ({ROLLING}...)"
    )


def _zipped(path: Path) -> list[Traversable]:
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile as error:
        raise EventLogError(f"cannot read {path}: {error}") from error
    size = sum(entry.file_size for entry in archive.infolist())  # no more than this is ever unpacked
    refuse_bomb(path, size, path.stat().st_size)
    entries = [*zipfile.Path(archive).iterdir()]
    if len(entries) != 1:
        raise EventLogError(
            f"{path} contains {len(entries)} event logs, one per attempt; unpack it, and give one of them"
        )
    return _rolled(entries[0]) if entries[0].is_dir() else [entries[0]]


def refuse_bomb(path: Traversable, unpacked: int, packed: int) -> None:
    """EventLogError where no event log unpacks to so many bytes from so few."""
    if unpacked > UNPACKED_ALWAYS + MOST_UNPACKED * packed:
        raise EventLogError(
            f"{path} unpacks to more than {MOST_UNPACKED} times its size; check that it is an event log"
        )


def _rolled(folder: Traversable) -> list[Traversable]:
    numbered = [(int(found[1]), entry) for entry in folder.iterdir() if (found := _numbered(entry))]
    if not numbered:
        raise EventLogError(
            f"{folder} contains no event log; give a file, or a directory with files events_1_..., "
            "events_2_..."
        )
    compacted = [number for number, entry in numbered if _is_compacted(entry)]
    first = max(compacted, default=0)
    kept = [(n, entry) for n, entry in numbered if n > first or (n == first and _is_compacted(entry))]
    return [entry for _, entry in sorted(kept, key=lambda one: (one[0], one[1].name))]


def _numbered(entry: Traversable) -> re.Match[str] | None:
    return _NUMBERED.fullmatch(entry.name) if entry.is_file() else None


def _is_compacted(entry: Traversable) -> bool:
    return entry.name.removesuffix(".inprogress").endswith(".compact")
