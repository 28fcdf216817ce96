"""Digests and sizes of an artifact, from a lock and from its files: somebody may have changed the lock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sparkgen.delivery.mounted import contents as contents_of
from sparkgen.delivery.oci import image
from sparkgen.delivery.pack import layer

if TYPE_CHECKING:
    from sparkgen.delivery.values import Contents, LocalFile


@dataclass(frozen=True, slots=True)
class Identity:
    """Digests of manifest and layer, and bytes of the layer and of all files.

    `contents`: of a ConfigMap, in place of a manifest.
    """

    manifest: str
    contents: Mapping[str, Any] | None
    digest: str
    size: int
    unpacked_size: int

    @classmethod
    def of(cls, artifact: Mapping[str, Any]) -> Identity:
        """Returns the identity of an artifact as a document has it."""
        manifest = str(artifact.get("reference", "")).partition("@")[2]
        return cls(
            manifest,
            artifact.get("contents"),
            str(artifact.get("digest")),
            artifact.get("size", -1),
            artifact.get("unpackedSize", -1),
        )


def identity(contents: Contents, *, mounted: bool = False) -> Identity:
    """Returns the identity of the files, without packages. Reads them; SparkgenError if one changes.

    `mounted`: as the contents of a ConfigMap, and not of an image.
    """
    made = _identity(contents.files)
    return replace(made, manifest="", contents=contents_of(contents.files)) if mounted else made


@lru_cache(maxsize=64)
def _identity(files: tuple[LocalFile, ...]) -> Identity:
    made = layer(files)
    return Identity(image(made.blob).digest, None, made.blob.digest, made.blob.size, made.unpacked)
