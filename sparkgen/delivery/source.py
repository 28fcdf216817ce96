"""The digest of what an artifact is made of: what is compared with the lock, without a network. Pure."""

from __future__ import annotations

import json

from sparkgen.delivery.oci import sha256
from sparkgen.delivery.values import Contents

FORMAT = 1
"""Of the packing: whatever would change the layer of unchanged files counts it up, so that locks go stale."""


def source(contents: Contents) -> str:
    """`sha256:` and 64 digits over paths, modes and contents of the files, and the requirements."""
    required = contents.requirements
    value = {
        "format": FORMAT,
        "files": [[file.inside, file.executable, file.sha256] for file in contents.files],
        "requirements": [required.text, required.python, required.platform] if required else None,
    }
    return sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode())
