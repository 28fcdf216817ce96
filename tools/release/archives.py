"""What an OCI archive says about its image."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from common.cachedir import ToolError


def index(files: tarfile.TarFile) -> dict[str, Any]:
    """The index of an open OCI archive."""
    found = files.extractfile("index.json")
    return dict(json.load(found)) if found else {"manifests": []}


def image_digest(archive: Path) -> str:
    """The digest of the archive's image, for all its architectures: the one that a registry then has."""
    with tarfile.open(archive) as files:
        manifests = index(files)["manifests"]
    if len(manifests) != 1:
        raise ToolError(f"{archive} has {len(manifests)} images, but a release has one")
    return str(manifests[0]["digest"])


def blob(files: tarfile.TarFile, digest: str) -> IO[bytes]:
    """A blob of an open OCI archive. Raises ToolError if it is missing."""
    name = f"blobs/{digest.replace(':', '/')}"
    found = files.extractfile(name) if name in files.getnames() else None
    if found is None:
        raise ToolError(f"the OCI archive has no {digest}")
    return found


def manifests(files: tarfile.TarFile) -> list[dict[str, Any]]:
    """The manifests of the images in an open OCI archive, one for each architecture."""
    return list(_manifests(files, index(files)))


def _manifests(files: tarfile.TarFile, found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "manifests" not in found:
        yield found
    for entry in found.get("manifests", []):
        # Docker adds a manifest with the provenance for each architecture.
        if entry.get("platform", {}).get("architecture") != "unknown":
            yield from _manifests(files, json.load(blob(files, entry["digest"])))
