"""An artifact as an OCI image of one layer: its configuration and its manifest, byte for byte. Pure.

An image and not an artifact of a type of its own, so that a kubelet mounts it as an image volume. There is
one manifest and no index: what is in it is the same for every processor.
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
    """What is put into a registry beside the layer."""

    config: bytes
    manifest: bytes

    @property
    def digest(self) -> str:
        """What pods name: the digest of the manifest."""
        return sha256(self.manifest)


def image(layer: Blob) -> Image:
    """The image with this layer."""
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
    """The digest of some bytes."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _json(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
