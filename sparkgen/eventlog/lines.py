"""Reads the lines of an event log, one event each, up to a maximum length."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from zipfile import BadZipFile

from sparkgen.eventlog import codecs
from sparkgen.eventlog.archive import Member
from sparkgen.eventlog.errors import EventLogError
from sparkgen.eventlog.files import LogFile, codec_of, refuse_bomb

LONGEST_LINE = 32 << 20
"""The most bytes of a line. A job of ten thousand stages has some megabytes; longer lines are broken."""
MOST_BROKEN = 1_000_000
"""The most unreadable lines: a file with more is no event log, and would take minutes to read."""
LINES_ALWAYS = 2_000_000
"""The most lines of any length."""
SHORTEST_USUAL = 100
"""The fewest bytes of a line for each further one: Spark's shortest events have as many, most have more."""
_LINE = re.compile(rb"[^\n]+")


@dataclass(slots=True)
class Counts:
    """The counts so far. `cut_off`: files that are truncated, or whose rest cannot be unpacked."""

    read_bytes: int = 0
    """Bytes of the files as they are, packed or not."""
    unpacked_bytes: int = 0
    lines: int = 0
    broken: int = 0
    first_broken: str = ""
    """The file and number of the first broken line, and what is wrong with it."""
    cut_off: int = 0

    def note_broken(self, file: str, line: int, why: str) -> None:
        """Count an unreadable line. Raises EventLogError above MOST_BROKEN."""
        self.broken += 1
        if self.broken > MOST_BROKEN:
            raise EventLogError(
                f"{file} is not a Spark event log: over {MOST_BROKEN:,} lines are unreadable, the first at "
                f"{self.first_broken}"
            )
        self.first_broken = self.first_broken or f"{file}:{line}: {why}"

    def note_line(self, file: str) -> None:
        """Count a line that is not empty. Raises EventLogError if there are too many for so few bytes."""
        self.lines += 1
        if self.lines > LINES_ALWAYS + self.unpacked_bytes // SHORTEST_USUAL:
            raise EventLogError(
                f"{file} is not a Spark event log: {self.lines:,} lines have only {self.unpacked_bytes:,} "
                f"bytes, and Spark's events have at least {SHORTEST_USUAL} bytes each"
            )


def lines(
    files: list[LogFile], counts: Counts, progress: Callable[[int], None]
) -> Iterator[tuple[LogFile, int, bytes]]:
    """File, number and bytes of each line that is not empty.

    `progress` is called with the number of bytes of the files that were read.
    """
    for path in files:
        for number, line in _lines_of(path, counts, progress):
            counts.note_line(str(path))
            if len(line) > LONGEST_LINE:
                counts.note_broken(str(path), number, f"longer than {LONGEST_LINE >> 20} MiB")
                continue
            yield path, number, line


def _lines_of(path: LogFile, counts: Counts, progress: Callable[[int], None]) -> Iterator[tuple[int, bytes]]:
    number, rest = 1, bytearray()
    try:
        for chunk in _chunks(path, counts, progress):
            place = 0
            for found in _LINE.finditer(chunk):
                if (ended := chunk.count(b"\n", place, found.start())) and rest:
                    yield number, bytes(rest)
                    rest = bytearray()
                number, place = number + ended, found.end()
                if place < len(chunk) and not rest:
                    yield number, found[0]
                else:
                    _extend(rest, found[0])
            if (ended := chunk.count(b"\n", place)) and rest:
                yield number, bytes(rest)
                rest = bytearray()
            number += ended
    except (codecs.BrokenStream, BadZipFile, zlib.error, EOFError):  # the last three are from a zip archive
        counts.cut_off += 1
    except OSError as error:
        raise EventLogError(f"cannot read {path}: {error.strerror or error}") from error
    if rest:  # from a driver that was killed in the middle of a line, or a last line without a line break
        yield number, bytes(rest)


def _chunks(path: LogFile, counts: Counts, progress: Callable[[int], None]) -> Iterator[bytes]:
    """The unpacked bytes of a file; `counts` and `progress` are updated as they are read."""
    before = counts.read_bytes
    with path.open("rb") as file:
        known = codecs.recognised(file.read(16))
        file.seek(0)
        for chunk in codecs.chunks(file, codec_of(path.name) if known is None else known):
            counts.read_bytes = before + file.tell()
            counts.unpacked_bytes += len(chunk)
            refuse_bomb(path, counts.unpacked_bytes, _packed(path, counts.read_bytes))
            progress(counts.read_bytes)
            yield chunk
        counts.read_bytes = before + file.tell()


def _packed(path: LogFile, read_bytes: int) -> int:
    """How many bytes on the disk were read: those of an archive's file may themselves be unpacked ones."""
    return min(read_bytes, path.archive_size) if isinstance(path, Member) else read_bytes


def _extend(rest: bytearray, part: bytes) -> None:
    """Append to a line; once it is longer than LONGEST_LINE, further bytes are dropped."""
    if len(rest) <= LONGEST_LINE:
        rest += part
