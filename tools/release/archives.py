"""What an OCI archive says about its image."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

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
