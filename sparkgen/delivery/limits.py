"""Limits of an artifact: a data set that was named by mistake is found before it is pushed."""

from __future__ import annotations

from sparkgen.runtime.fetch.archive import DEEPEST, ODD

DEFAULT_MAX_BYTES = 1 << 30
"""Bytes of all files of one artifact, unless .sparkgen.yaml sets `maxArtifactSize`: 1 GiB."""
MAX_FILES = 50_000
"""Files of one artifact: half of what `fetch` unpacks."""
MAX_MEMBER = 0o77777777777
"""The largest size in bytes that the header of an archive can hold: 8 GiB less one."""
LONGEST_PATH = 4000
"""Bytes of a path inside an artifact: Linux allows 4095 below the folder where it is unpacked."""
MOST_SEEN = 4 * MAX_FILES
"""Files and folders that may be seen in one document's folders: links can multiply a few to millions."""


def not_unpacked(inside: str) -> str:
    """Returns why `fetch` would refuse a path inside an artifact; "" if it accepts it."""
    if ODD.search(inside):
        return "has a control character or a backslash in its name"
    if inside.count("/") >= DEEPEST:
        return f"is nested deeper than {DEEPEST} folders"
    if len(inside.encode("utf-8", "surrogateescape")) > LONGEST_PATH:
        return f"has a path longer than {LONGEST_PATH} bytes"
    return ""


def bytes_text(number: int) -> str:
    """Returns a number of bytes as text for messages: 512 bytes, 3.4 KiB, 1.2 GiB."""
    if number < 1024:
        return f"{number} bytes"
    size = float(number)
    for unit in ("KiB", "MiB", "GiB"):
        size /= 1024
        if size < 1024 or unit == "GiB":
            break
    return f"{size:.1f} {unit}"
