"""Reads compressed files as a stream of bytes, in bounded memory. A truncated file is read up to its end.

gzip and zstd are standard formats. For lz4 and snappy, Spark uses the block streams of its Java libraries
(LZ4BlockOutputStream of lz4-java, SnappyOutputStream of snappy-java), which no other tool writes.
"""

from __future__ import annotations

import gzip
import struct
import zlib
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import IO, Protocol

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
    return _until_broken(file, lambda: gzip.GzipFile(fileobj=file), (EOFError, gzip.BadGzipFile, zlib.error))


def _zstd(file: IO[bytes]) -> Iterator[bytes]:
    try:
        import zstandard  # noqa: PLC0415 - of the extra
    except ImportError as error:
        raise not_installed() from error

    def opened() -> _Unpacker:
        unpacker = zstandard.ZstdDecompressor(max_window_size=_LONGEST_WINDOW)
        reader: _Unpacker = unpacker.stream_reader(file, read_across_frames=True, closefd=False)
        return reader

    return _until_broken(file, opened, (zstandard.ZstdError,))


class _Unpacker(Protocol):
    """Unpacks a file."""

    def read1(self, size: int, /) -> bytes:
        """The next available bytes, at most `size`; b"" at the end."""


def _until_broken(
    file: IO[bytes], opened: Callable[[], _Unpacker], broken: tuple[type[Exception], ...]
) -> Iterator[bytes]:
    """Everything that can be unpacked before an error in `broken`. Raises BrokenStream after such errors."""
    unpacker, given = opened(), 0
    try:
        while chunk := unpacker.read1(CHUNK):
            given += len(chunk)
            yield chunk
    except broken as error:
        yield from _before_break(file, opened, given, broken)
        raise BrokenStream(str(error)) from error


def _before_break(
    file: IO[bytes], opened: Callable[[], _Unpacker], given: int, broken: tuple[type[Exception], ...]
) -> Iterator[bytes]:
    """The bytes that a failed read had unpacked before the break: reads again, byte by byte after `given`."""
    file.seek(0)
    unpacker, last = opened(), bytearray()
    try:
        while given > 0 and (chunk := unpacker.read1(min(CHUNK, given))):
            given -= len(chunk)
        while len(last) < CHUNK and (byte := unpacker.read1(1)):
            last += byte
    except broken:
        pass
    yield bytes(last)


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
            yield bytes(cramjam.lz4.decompress_block(packed, output_len=size))
        except Exception as error:  # cramjam raises its own exception
            raise BrokenStream(str(error)) from error


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
