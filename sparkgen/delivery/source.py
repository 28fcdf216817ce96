"""The digest of an artifact's inputs, which is compared with the lock, without a network. Pure."""

from __future__ import annotations

import json

from sparkgen.delivery.oci import sha256
from sparkgen.delivery.values import Contents

FORMAT = 1
"""The version of the packing: increase it with each change that alters layers, to make locks stale."""


def source(contents: Contents) -> str:
    """Returns `sha256:` and 64 digits for the files' paths, modes and contents, and the requirements."""
    required = contents.requirements
    value = {
        "format": FORMAT,
        "files": [[file.inside, file.executable, file.sha256] for file in contents.files],
        "requirements": [required.text, required.python, required.platform] if required else None,
    }
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode())
