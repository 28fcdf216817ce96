"""Unpacking an archive that somebody else has made: what is not plainly a file or a folder is refused.

Only what `sparkgen push` writes is read: headers of POSIX.1-1988 (ustar), and pax records for long names.
Python's `tarfile` reads much more, and takes headers of any size into memory.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from sparkgen.runtime.fetch.values import BadArtifact

BLOCK = 512
CHUNK = 1 << 20
MOST_ENTRIES = 100_000
"""Files and folders of one artifact are fewer than this: `sparkgen push` takes half as many files."""
LONGEST_PATH = 4096
LONGEST_NAME = 255
DEEPEST = 100
"""Folders in each other."""
LONGEST_RECORDS = 16 << 10
"""Bytes of pax records: a path, and nothing else."""
FILE_MODE, EXECUTABLE_MODE, FOLDER_MODE = 0o644, 0o755, 0o755
SPECIAL_BITS = 0o7000
"""Set user, set group, sticky."""
_FILE, _OLD_FILE, _FOLDER, _PAX = b"0", b"\0", b"5", b"x"
_KINDS = {
    b"1": "a hard link",
    b"2": "a symbolic link",
    b"3": "a device",
    b"4": "a device",
    b"6": "a named pipe",
    b"g": "a global header",
    b"S": "a sparse file",
}
_OCTAL = re.compile(rb" *+([0-7]*+)[ \0]*+")
_RECORD = re.compile(rb"([1-9][0-9]{0,5}) path=")
ODD = re.compile(r"[\x00-\x1f\x7f\\]")


@dataclass(frozen=True, slots=True)
class Entry:
    """What a header says. `path`: without a `/` at its end."""

    path: str
    folder: bool
    size: int
    mode: int


@dataclass(slots=True)
class _Target:
    """A new folder, what is in it so far, and how many bytes it may still take."""

    descriptor: int
    left: int
    folders: set[str] = field(default_factory=set)
    files: set[str] = field(default_factory=set)

    def count(self) -> None:
        if len(self.folders) + len(self.files) + 1 >= MOST_ENTRIES:
            raise BadArtifact(f"the archive has {MOST_ENTRIES} or more files and folders")


def unpack(archive: BinaryIO, folder: Path, unpacked_size: int) -> int:
    """Unpack into a folder that is new and empty; the number of files.

    BadArtifact for whatever is not allowed, with the folder half full: whoever called removes it. OSError
    where the volume cannot take it.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    target = _Target(descriptor, unpacked_size)
    try:
        for entry in _entries(archive):
            if entry.folder:
                _make_folder(target, entry.path)
            else:
                _write_file(target, entry, archive)
    finally:
        os.close(descriptor)
    return len(target.files)


def _entries(archive: BinaryIO) -> Iterator[Entry]:
    """The entries, up to the end of the archive. Whoever takes a file's entry reads its bytes."""
    long_path: bytes | None = None
    while True:
        header = _exactly(archive, BLOCK)
        if header == bytes(BLOCK):
            _check_end(archive, long_path)
            return
        _check_sum(header)
        kind, size = header[156:157], _number(header[124:136], "size")
        if kind == _PAX:
            if long_path is not None:
                raise BadArtifact("the archive has two headers for one name")
            long_path = _long_path(archive, size)
            continue
        yield _entry(header, kind, size, long_path)
        long_path = None


def _entry(header: bytes, kind: bytes, size: int, long_path: bytes | None) -> Entry:
    if kind not in (_FILE, _OLD_FILE, _FOLDER):
        what = _KINDS.get(kind, f"an entry of unknown type {kind!r}")
        raise BadArtifact(f"the archive has {what}, but may have only files and folders")
    name = header[:100].split(b"\0")[0]
    if prefix := header[345:500].split(b"\0")[0]:
        name = prefix + b"/" + name
    path, folder = _checked(long_path if long_path is not None else name), kind == _FOLDER
    if header[157:257].strip(b"\0"):
        raise BadArtifact(f"{path!r} in the archive is a link")
    mode = _number(header[100:108], "mode")
    if mode & SPECIAL_BITS:
        raise BadArtifact(f"{path!r} in the archive has the setuid, setgid or sticky bit")
    if folder and size:
        raise BadArtifact(f"the folder {path!r} in the archive has a size")
    return Entry(path, folder, size, mode)


def _checked(name: bytes) -> str:
    """A path as text. BadArtifact for what is not plainly below the folder."""
    try:
        text = name.decode("utf-8")
    except UnicodeDecodeError:
        raise BadArtifact("the archive has a name that is not UTF-8") from None
    path = text.removesuffix("/")
    parts = path.split("/")
    if (
        len(parts) > DEEPEST
        or len(name) > LONGEST_PATH
        or any(len(part.encode()) > LONGEST_NAME for part in parts)
    ):
        raise BadArtifact(f"the archive has a path that is too long or too deep: {text[:80]!r}...")
    if ODD.search(text) or any(part in ("", ".", "..") for part in parts):
        raise BadArtifact(f"the archive has a path that is not allowed: {text[:200]!r}")
    return path


def _long_path(archive: BinaryIO, size: int) -> bytes:
    if size > LONGEST_RECORDS:
        raise BadArtifact(f"the archive has a header of {size} bytes")
    records = _exactly(archive, size)
    _exactly(archive, -size % BLOCK)
    found = _RECORD.match(records)
    if found is None or int(found[1]) != size or records[-1:] != b"\n":
        raise BadArtifact("the archive has a header with more than a path")
    return records[found.end() : -1]


def _make_folder(target: _Target, path: str) -> None:
    """A folder and those above it; one that is there already is made once."""
    if path in target.files:
        raise BadArtifact(f"the archive has {path!r} twice, as a file and as a folder")
    if path in target.folders:
        return
    if above := path.rpartition("/")[0]:
        _make_folder(target, above)
    target.count()
    os.mkdir(path, FOLDER_MODE, dir_fd=target.descriptor)
    os.chmod(path, FOLDER_MODE, dir_fd=target.descriptor)  # whatever the umask
    target.folders.add(path)


def _write_file(target: _Target, entry: Entry, archive: BinaryIO) -> None:
    if entry.path in target.files or entry.path in target.folders:
        raise BadArtifact(f"the archive has {entry.path!r} twice")
    target.left -= entry.size
    if target.left < 0:
        raise BadArtifact("the archive unpacks to more bytes than unpackedSize in the lock")
    if above := entry.path.rpartition("/")[0]:
        _make_folder(target, above)
    target.count()
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(entry.path, flags, 0o600, dir_fd=target.descriptor)
    with os.fdopen(descriptor, "wb") as file:
        for chunk in _chunks(archive, entry.size):
            file.write(chunk)
        os.fchmod(descriptor, EXECUTABLE_MODE if entry.mode & 0o100 else FILE_MODE)
    _exactly(archive, -entry.size % BLOCK)
    target.files.add(entry.path)


def _chunks(archive: BinaryIO, size: int) -> Iterator[bytes]:
    while size:
        chunk = _exactly(archive, min(size, CHUNK))
        size -= len(chunk)
        yield chunk


def _exactly(archive: BinaryIO, size: int) -> bytes:
    data = archive.read(size)
    if len(data) < size:
        raise BadArtifact("the archive is truncated")
    return data


def _check_end(archive: BinaryIO, long_path: bytes | None) -> None:
    if long_path is not None or _exactly(archive, BLOCK) != bytes(BLOCK):
        raise BadArtifact("the archive has no valid end marker")
    while chunk := archive.read(CHUNK):
        if chunk.strip(b"\0"):
            raise BadArtifact("the archive has data after its end marker")


def _check_sum(header: bytes) -> None:
    counted = sum(header) - sum(header[148:156]) + 8 * ord(" ")
    if header[257:263] != b"ustar\0" or _number(header[148:156], "checksum") != counted:
        raise BadArtifact("the layer is not a ustar archive as sparkgen push writes it")


def _number(text: bytes, what: str) -> int:
    found = _OCTAL.fullmatch(text)
    if found is None:
        raise BadArtifact(f"the archive has a {what} that is not an octal number")
    return int(found[1] or b"0", 8)
