"""An artifact as an OCI image of one layer: its configuration and its manifest, byte for byte. Pure.

It is an image and not an artifact of its own type, so that a kubelet can mount it as an image volume. There
is one manifest and no index: the content is the same for every processor.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from sparkgen import contract

CONFIG = "application/vnd.oci.image.config.v1+json"


@dataclass(frozen=True, slots=True)
class Blob:
    """A digest, `sha256:` and 64 digits, and a size in bytes."""

    digest: str
    size: int


@dataclass(frozen=True, slots=True)
class Image:
    """The configuration and the manifest, which are pushed with the layer."""

    config: bytes
    manifest: bytes

    @property
    def digest(self) -> str:
        """The digest of the manifest, by which pods refer to the image."""
        return sha256(self.manifest)


def image(layer: Blob) -> Image:
    """Returns the image with this layer."""
    config = _json(
        {
            "architecture": "amd64",
            "config": {},
            "created": "1970-01-01T00:00:00Z",
            "os": "linux",
            "rootfs": {"diff_ids": [layer.digest], "type": "layers"},
        }
    )
    manifest = _json(
        {
            "config": {"digest": sha256(config), "mediaType": CONFIG, "size": len(config)},
            "layers": [
                {"digest": layer.digest, "mediaType": contract.ARTIFACT_LAYER_TYPE, "size": layer.size}
            ],
            "mediaType": contract.ARTIFACT_MANIFEST_TYPE,
            "schemaVersion": 2,
        }
    )
    return Image(config, manifest)


def sha256(data: bytes) -> str:
    """Returns the digest of some bytes: `sha256:` and 64 digits."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
