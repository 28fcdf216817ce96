"""The files of an event log, in the order in which Spark wrote them."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from pathlib import Path

from sparkgen.eventlog.archive import Member, by_first_part, members
from sparkgen.eventlog.errors import EventLogError

LogFile = Path | Member
"""A file on disk, or in an archive."""

CODECS = {"lz4": "lz4", "snappy": "snappy", "zstd": "zstd", "zst": "zstd", "gz": "gz"}
"""Ending of a file's name -> its codec: Spark's short names, and the endings of gzip and zstd."""
MOST_UNPACKED = 500
"""The most unpacked bytes for one byte of a file: events are similar, and unpack to twenty or fifty."""
UNPACKED_ALWAYS = 1 << 28
ROLLING = "eventlog_v2_"
"""The prefix of the name of a rolling log's directory (RollingEventLogFilesWriter)."""
_NUMBERED = re.compile(r"events_([0-9]{1,18})_.+")


def codec_of(name: str) -> str:
    """The codec of a file by its name; "" if it is not compressed. Raises EventLogError for lzf."""
    ending = name.removesuffix(".inprogress").removesuffix(".compact").rpartition(".")[2].lower()
    if ending == "lzf":
        raise EventLogError(
            f"{name} is compressed with lzf, which cannot be read here. "
            "Set spark.eventLog.compression.codec to zstd for the next run"
        )
    return CODECS.get(ending, "")


def log_files(path: Path) -> list[LogFile]:
    """The files of the log at `path`: the file itself, or those of a rolling log's directory, oldest first.

    Either may be in a zip archive from a history server. A compacted file has everything that is still needed
    of all files up to its number. Raises EventLogError if there is no log.
    """
    try:
        if path.is_dir():
            return _rolled((entry for entry in path.iterdir() if entry.is_file()), str(path))
        if path.is_file():
            return _zipped(path) if zipfile.is_zipfile(path) else [path]
    except OSError as error:
        raise EventLogError(f"cannot read {path}: {error.strerror or error}") from error
    raise EventLogError(
        f"{path} does not exist; give a file, or the directory of a rolling log ({ROLLING}...)"
    )


_PADDING = 64 << 10
"""Bytes of a compressed log in an archive that may be anything, such as the headers of many blocks."""


def _zipped(path: Path) -> list[LogFile]:
    found = members(path)
    # `zipfile` never unpacks more than this size.
    refuse_bomb(path, sum(member.info.file_size for member in found), path.stat().st_size)
    for member in found:
        # What is compressed cannot be compressed much again: a file of zeros can, and takes long to read.
        if codec_of(member.name) and member.info.file_size > 2 * member.info.compress_size + _PADDING:
            raise EventLogError(f"{path}: {member.name} is no compressed log; check that it is an event log")
    folders = by_first_part(found)
    if not folders:
        raise EventLogError(f"{path} contains no event log; download the archive again")
    if len(folders) != 1:
        raise EventLogError(
            f"{path} contains {len(folders)} event logs, one per attempt; unpack it, and give one of them"
        )
    (name,) = folders
    if any(len(member.parts) == 1 for member in found):
        return [found[0]]
    return _rolled([member for member in found if len(member.parts) == 2], f"{path}/{name}")


def refuse_bomb(path: LogFile, unpacked: int, packed: int) -> None:
    """Raise EventLogError if so few packed bytes cannot be an event log of so many unpacked bytes."""
    if unpacked > UNPACKED_ALWAYS + MOST_UNPACKED * packed:
        raise EventLogError(
            f"{path} unpacks to more than {MOST_UNPACKED} times its size; check that it is an event log"
        )


def _rolled(entries: Iterable[LogFile], folder: str) -> list[LogFile]:
    numbered = [(int(found[1]), entry) for entry in entries if (found := _NUMBERED.fullmatch(entry.name))]
    if not numbered:
        raise EventLogError(
            f"{folder} contains no event log; give a file, or a directory with files events_1_..., "
            "events_2_..."
        )
    compacted = [number for number, entry in numbered if _is_compacted(entry)]
    first = max(compacted, default=0)
    kept = [(n, entry) for n, entry in numbered if n > first or (n == first and _is_compacted(entry))]
    return [entry for _, entry in sorted(kept, key=lambda one: (one[0], one[1].name))]


def _is_compacted(entry: LogFile) -> bool:
    return entry.name.removesuffix(".inprogress").endswith(".compact")
