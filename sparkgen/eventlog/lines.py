"""The lines of an event log, one event each, with a bound for how long one may be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from zipfile import BadZipFile

from sparkgen.eventlog import codecs
from sparkgen.eventlog.errors import EventLogError
from sparkgen.eventlog.files import codec_of, refuse_bomb

LONGEST_LINE = 64 << 20
"""Bytes. A job of ten thousand stages takes some megabytes; what is longer counts as broken."""


@dataclass(slots=True)
class Counts:
    """What was read so far. `cut_off`: files that break off, or whose rest cannot be unpacked."""

    read_bytes: int = 0
    """Of the files, as they lie there."""
    unpacked_bytes: int = 0
    lines: int = 0
    broken: int = 0
    first_broken: str = ""
    """Where the first broken line stands, and what is wrong with it."""
    cut_off: int = 0

    def note_broken(self, file: str, line: int, why: str) -> None:
        """Count a line that cannot be read."""
        self.broken += 1
        self.first_broken = self.first_broken or f"{file}:{line}: {why}"


def lines(
    files: list[Traversable], counts: Counts, progress: Callable[[int], None]
) -> Iterator[tuple[Traversable, int, bytes]]:
    """File, number and bytes of each line. `progress` is told the bytes of the files that were read."""
    for path in files:
        for number, line in enumerate(_lines_of(path, counts, progress), 1):
            counts.lines += 1
            if len(line) > LONGEST_LINE:
                counts.note_broken(str(path), number, f"longer than {LONGEST_LINE >> 20} MiB")
                continue
            yield path, number, line


def _lines_of(path: Traversable, counts: Counts, progress: Callable[[int], None]) -> Iterator[bytes]:
    before, rest = counts.read_bytes, bytearray()
    try:
        with path.open("rb") as file:
            known = codecs.recognised(file.read(16))
            file.seek(0)
            for chunk in codecs.chunks(file, codec_of(path.name) if known is None else known):
                first, *more = chunk.split(b"\n")
                _extend(rest, first)
                if more:
                    yield bytes(rest)
                    yield from more[:-1]
                    rest = bytearray(more[-1])
                counts.read_bytes = before + file.tell()
                counts.unpacked_bytes += len(chunk)
                refuse_bomb(path, counts.unpacked_bytes, counts.read_bytes)
                progress(counts.read_bytes)
            if rest:  # of a driver that was killed in the middle of a line, or a last line without its end
                yield bytes(rest)
            counts.read_bytes = before + file.tell()
    except (codecs.BrokenStream, BadZipFile):
        counts.cut_off += 1
        if rest:
            yield bytes(rest)
    except OSError as error:
        raise EventLogError(f"cannot read {path}: {error.strerror or error}") from error


def _extend(rest: bytearray, part: bytes) -> None:
    """Go on with a line; of one that is too long no more is kept than shows that it is."""
    if len(rest) <= LONGEST_LINE:
        rest += part
