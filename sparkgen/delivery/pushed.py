"""Digests and sizes of an artifact, from a lock and from its files: somebody may have changed the lock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sparkgen.delivery.oci import image
from sparkgen.delivery.pack import layer

if TYPE_CHECKING:
    from sparkgen.delivery.values import Contents, LocalFile


@dataclass(frozen=True, slots=True)
class Identity:
    """Digests of manifest and layer, and bytes of the layer and of all files."""

    manifest: str
    digest: str
    size: int
    unpacked_size: int

    @classmethod
    def of(cls, artifact: Mapping[str, Any]) -> Identity:
        """Returns the identity of an artifact as a document has it."""
        manifest = str(artifact.get("reference")).partition("@")[2]
        return cls(
            manifest,
            str(artifact.get("digest")),
            artifact.get("size", -1),
            artifact.get("unpackedSize", -1),
        )


def identity(contents: Contents) -> Identity:
    """Returns the identity of the files, without packages. Reads them; SparkgenError if one changes."""
    return _identity(contents.files)


@lru_cache(maxsize=64)
def _identity(files: tuple[LocalFile, ...]) -> Identity:
    made = layer(files)
    return Identity(image(made.blob).digest, made.blob.digest, made.blob.size, made.unpacked)
