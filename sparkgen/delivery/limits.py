"""How much an artifact may hold: a data set that was named by mistake is found before it is sent."""

from __future__ import annotations

DEFAULT_MAX_BYTES = 1 << 30
"""Bytes of all files of one artifact, unless `maxArtifactSize` in .sparkgen.yaml says more: 1 GiB."""
MAX_FILES = 50_000
"""Files of one artifact: half of what `fetch` unpacks."""


def bytes_text(number: int) -> str:
    """A number of bytes for people: 512 bytes, 3.4 KiB, 1.2 GiB."""
    if number < 1024:
        return f"{number} bytes"
    size = float(number)
    for unit in ("KiB", "MiB", "GiB"):
        size /= 1024
        if size < 1024 or unit == "GiB":
            break
    return f"{size:.1f} {unit}"
