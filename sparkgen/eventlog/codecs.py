"""Reads compressed files as a stream of bytes, in bounded memory. A truncated file is read up to its end.

gzip and zstd are standard formats. For lz4 and snappy, Spark uses the block streams of its Java libraries
(LZ4BlockOutputStream of lz4-java, SnappyOutputStream of snappy-java), which no other tool writes.
"""

from __future__ import annotations

import gzip
import struct
import sys
import zlib
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import IO, Protocol, cast

from sparkgen.eventlog.errors import not_installed

CHUNK = 1 << 20
LARGEST_BLOCK = 64 << 20
"""No writer makes larger blocks: lz4-java allows at most 32 MiB, and Spark uses 32 KiB."""
_LZ4_MAGIC = b"LZ4Block"
_LZ4_HEADER = struct.Struct("<8sBiii")
_LZ4_RAW = 0x10
_SNAPPY_MAGIC = b"\x82SNAPPY\0"
_SNAPPY_HEADER = 16
_LONGEST_WINDOW = 1 << 27
_SMALL_STEP = 500
"""Packed bytes. Two such steps of gzip unpack to less than CHUNK: no read leaves a part of them."""
_LONGEST_FIELD = 16
"""gzip reads fields of its header and trailer, of at most 8 bytes, and expects some of them whole."""


class BrokenStream(Exception):
    """The rest of a file cannot be unpacked: it is truncated, as after a killed driver, or damaged."""


def chunks(file: IO[bytes], codec: str) -> Iterator[bytes]:
    """The bytes of a file that was compressed with `codec` ("" for none), at most a mebibyte at once.

    Raises BrokenStream where the file is truncated or damaged.
    """
    readers: dict[str, Callable[[IO[bytes]], Iterator[bytes]]] = {
        "": _plain,
        "gz": _gzip,
        "zstd": _zstd,
        "lz4": _lz4,
        "snappy": _snappy,
    }
    for piece in readers[codec](file):
        for place in range(0, len(piece), CHUNK):
            yield piece[place : place + CHUNK]


def _plain(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(CHUNK):
        yield chunk


def _gzip(file: IO[bytes]) -> Iterator[bytes]:
    # A file may have a hundred thousand members in a megabyte: GzipFile does not copy the rest after each.
    return _until_broken(file, lambda source: gzip.GzipFile(fileobj=source), (gzip.BadGzipFile, zlib.error))


def _zstd(file: IO[bytes]) -> Iterator[bytes]:
    try:
        import zstandard  # noqa: PLC0415 - of the extra
    except ImportError as error:
        raise not_installed() from error

    def opened(source: IO[bytes]) -> _Unpacker:
        unpacker = zstandard.ZstdDecompressor(max_window_size=_LONGEST_WINDOW)
        reader: _Unpacker = unpacker.stream_reader(source, read_across_frames=True, closefd=False)
        return reader

    return _until_broken(file, opened, (zstandard.ZstdError,))


class _Unpacker(Protocol):
    """Unpacks a file."""

    def read1(self, size: int, /) -> bytes:
        """The next available bytes, at most `size`; b"" at the end."""


class _Stepped:
    """Reads a file from its beginning: at most `step` bytes at once, and from `start` on byte by byte."""

    def __init__(self, file: IO[bytes], step: int, start: int) -> None:
        self._file, self._step, self._start = file, step, start
        self.last = 0
        """Where the last piece begins."""
        file.seek(0)

    def read(self, size: int) -> bytes:
        """The next bytes, at most `size`: all of them for a field of a header."""
        self.last = self._file.tell()
        if size > _LONGEST_FIELD:
            size = min(size, self._step, max(1, self._start - self.last))
        return self._file.read(size)


def _until_broken(
    file: IO[bytes], opened: Callable[[IO[bytes]], _Unpacker], broken: tuple[type[Exception], ...]
) -> Iterator[bytes]:
    """Everything that can be unpacked before an error in `broken`. Raises BrokenStream after such errors.

    A read that fails loses what it has unpacked. So the file is read again in small steps, to find the one
    that fails, and again, byte by byte from there: no work depends on how much a packed byte unpacks to.
    """
    given, start, why = 0, sys.maxsize, ""
    for step in (CHUNK, _SMALL_STEP, _SMALL_STEP):
        source, place = _Stepped(file, step, start), 0
        unpacker = opened(cast(IO[bytes], source))
        try:
            while chunk := unpacker.read1(CHUNK):
                place += len(chunk)
                if place > given:
                    new, given = chunk[given - place :], place
                    yield new
        except EOFError as error:  # all was read, and nothing lost
            raise BrokenStream(str(error)) from error
        except broken as error:
            why = str(error)
            if step == _SMALL_STEP:
                # GzipFile unpacks the rest of a step with the next one. The byte before brings what is left.
                start = source.last - _SMALL_STEP - 1
        else:
            return
    raise BrokenStream(why)


def _lz4(file: IO[bytes]) -> Iterator[bytes]:
    cramjam = _cramjam()
    while header := file.read(_LZ4_HEADER.size):
        if len(header) < _LZ4_HEADER.size:
            raise BrokenStream("the file is truncated")
        magic, token, packed_size, size, _ = _LZ4_HEADER.unpack(header)
        if magic != _LZ4_MAGIC or not (0 <= packed_size <= LARGEST_BLOCK and 0 <= size <= LARGEST_BLOCK):
            raise BrokenStream("not a block of lz4-java")
        packed = _exactly(file, packed_size)
        if size == 0:  # the end of one stream; another may follow
            continue
        if token & 0xF0 == _LZ4_RAW:
            yield packed
            continue
        try:
            unpacked = bytearray(size)
            found = cramjam.lz4.decompress_block_into(packed, unpacked, output_len=size)
        except Exception as error:  # cramjam raises its own exception
            raise BrokenStream(str(error)) from error
        if found != size:
            raise BrokenStream("a block is shorter than it says")
        yield bytes(unpacked)


def _snappy(file: IO[bytes]) -> Iterator[bytes]:
    cramjam = _cramjam()
    while word := file.read(4):
        if word == _SNAPPY_MAGIC[:4]:
            _exactly(file, _SNAPPY_HEADER - 4)
            continue
        size = int.from_bytes(word, "big")
        if len(word) < 4 or size > LARGEST_BLOCK:
            raise BrokenStream("not a block of snappy-java")
        packed = _exactly(file, size)
        if _snappy_length(packed) > LARGEST_BLOCK:
            raise BrokenStream("a block is too large")
        try:
            yield bytes(cramjam.snappy.decompress_raw(packed))
        except Exception as error:
            raise BrokenStream(str(error)) from error


def _snappy_length(packed: bytes) -> int:
    """The unpacked size at the start of a snappy block, seven bits per byte."""
    size = 0
    for place, byte in enumerate(packed[:5]):
        size |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            break
    return size


def _exactly(file: IO[bytes], size: int) -> bytes:
    data = file.read(size)
    if len(data) < size:
        raise BrokenStream("the file is truncated")
    return data


def _cramjam() -> ModuleType:
    try:
        import cramjam  # noqa: PLC0415 - of the extra
    except ImportError as error:
        raise not_installed() from error
    return cramjam


def recognised(start: bytes) -> str | None:
    """The codec of a file by its first bytes ("" for none); None if they do not tell."""
    if start.startswith(b"\x1f\x8b"):
        return "gz"
    if start.startswith(b"\x28\xb5\x2f\xfd"):
        return "zstd"
    if start.startswith(_LZ4_MAGIC):
        return "lz4"
    if start.startswith(_SNAPPY_MAGIC):
        return "snappy"
    return "" if start.startswith(b"{") else None
