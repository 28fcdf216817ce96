"""Writes a tar archive whose bytes depend only on paths, contents and the right to execute. Pure.

This module writes the headers itself, by POSIX.1-1988 (ustar) with pax records for long names: Python's
`tarfile` and the tar programs have changed theirs between versions, but a digest must stay for years.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

BLOCK = 512
FILE_MODE, EXECUTABLE_MODE, FOLDER_MODE = 0o644, 0o755, 0o755
_FILE, _FOLDER, _PAX = b"0", b"5", b"x"
_LONGEST_NAME = 100


class Changed(Exception):
    """A file has another size or text than when it was checked. Its argument: the path inside the archive."""


@dataclass(frozen=True, slots=True)
class Member:
    """A file of an archive. `path`: inside it, with `/`; `read`: yields all its bytes, at each call."""

    path: str
    size: int
    executable: bool
    read: Callable[[], Iterator[bytes]]


def archive(members: Iterable[Member]) -> Iterator[bytes]:
    """Yields the archive of these files and the folders above them, in chunks. Raises Changed."""
    by_path = {member.path: member for member in members}
    folders = {folder for path in by_path for folder in folders_above(path)}
    for path in sorted({*by_path, *folders}, key=lambda path: path.encode()):
        if path in folders:
            yield from _header(path, 0, FOLDER_MODE, _FOLDER)
        else:
            yield from _file(by_path[path])
    yield bytes(2 * BLOCK)


def folders_above(path: str) -> list[str]:
    """Returns the folders that contain a path, each with `/` at its end."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: number + 1]) + "/" for number in range(len(parts))]


def _file(member: Member) -> Iterator[bytes]:
    yield from _header(member.path, member.size, EXECUTABLE_MODE if member.executable else FILE_MODE, _FILE)
    left = member.size
    for chunk in member.read():
        left -= len(chunk)
        if left < 0:
            break
        yield chunk
    if left:
        raise Changed(member.path)
    yield bytes(-member.size % BLOCK)


def _header(path: str, size: int, mode: int, kind: bytes) -> Iterator[bytes]:
    name = path.encode()
    if len(name) > _LONGEST_NAME or not path.isascii():
        record = _pax_record(b"path", name)
        yield _block(b"pax", len(record), FILE_MODE, _PAX)
        yield record + bytes(-len(record) % BLOCK)
        name = path.encode("ascii", "replace")[-_LONGEST_NAME:].lstrip(b"/")
    yield _block(name, size, mode, kind)


def _pax_record(key: bytes, value: bytes) -> bytes:
    """Returns `LENGTH KEY=VALUE`; the length includes its own digits."""
    rest = b" " + key + b"=" + value + b"\n"
    length = len(rest)
    while length != len(rest) + len(str(length)):
        length = len(rest) + len(str(length))
    return str(length).encode() + rest


def _block(name: bytes, size: int, mode: int, kind: bytes) -> bytes:
    """Returns a header, with owner and group 0 without names, and time 0."""
    fields = (
        name.ljust(_LONGEST_NAME, b"\0"),
        _octal(mode, 8),
        _octal(0, 8),
        _octal(0, 8),
        _octal(size, 12),
        _octal(0, 12),
        b" " * 8,
        kind,
        bytes(100),
        b"ustar\0" + b"00",
        bytes(32 + 32),
        _octal(0, 8),
        _octal(0, 8),
        bytes(155 + 12),
    )
    block = b"".join(fields)
    checksum = f"{sum(block):06o}\0 ".encode()
    return block[:148] + checksum + block[156:]


def _octal(number: int, width: int) -> bytes:
    return f"{number:0{width - 1}o}\0".encode()
