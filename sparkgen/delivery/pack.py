"""Packs files into a layer, and computes its size and digest. Reads files, and keeps none in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from sparkgen.delivery import disk
from sparkgen.delivery.oci import Blob
from sparkgen.delivery.tar import Changed, Member, archive
from sparkgen.delivery.values import LocalFile
from sparkgen.errors import SparkgenError


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer that can be read several times. `unpacked`: bytes of all files."""

    members: tuple[Member, ...]
    blob: Blob
    unpacked: int

    def chunks(self) -> Iterator[bytes]:
        """Yields the layer's bytes. Raises SparkgenError if a file has changed since, or cannot be read."""
        return _told(archive(self.members))


def layer(files: Sequence[LocalFile]) -> Layer:
    """Returns the layer of these files; reads each once. SparkgenError if one changes or is gone."""
    members = tuple(
        Member(file.inside, file.size, file.executable, partial(_unchanged, file)) for file in files
    )
    return Layer(members, measured(_told(archive(members))), sum(file.size for file in files))


def content(file: LocalFile) -> bytes:
    """Returns a file's bytes. SparkgenError if it has changed since it was checked, or cannot be read."""
    return b"".join(_told(_unchanged(file)))


def _unchanged(file: LocalFile) -> Iterator[bytes]:
    """Yields a file's bytes. Changed if they are not those that were checked: they could be a secret."""
    whole = hashlib.sha256()
    for chunk in disk.chunks(file.place):
        whole.update(chunk)
        yield chunk
    if file.sha256 and file.sha256 != whole.hexdigest():
        raise Changed(file.inside)


def measured(chunks: Iterable[bytes]) -> Blob:
    """Returns digest and size of some chunks."""
    whole, size = hashlib.sha256(), 0
    for chunk in chunks:
        whole.update(chunk)
        size += len(chunk)
    return Blob(f"sha256:{whole.hexdigest()}", size)


def _told(chunks: Iterator[bytes]) -> Iterator[bytes]:
    try:
        yield from chunks
    except Changed as error:
        raise SparkgenError(f"{error} changed while it was being packed: try again") from None
    except OSError as error:
        raise SparkgenError(f"cannot read {error.filename}: {error.strerror or error}") from error
