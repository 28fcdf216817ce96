"""The cache of things that are built once: Go tools, schemas, a Go where there is none, images.

It is the user's own cache (sparkgen.local.cache), outside the checkout, so that several checkouts share it
and `git clean` keeps it. Every entry is a folder whose name holds a key of all that went into it.
"""

from __future__ import annotations

import os

from sparkgen.local import cache
from sparkgen.local.cache import cache_root, publish
from sparkgen.local.errors import CannotRun as ToolError

__all__ = ["ToolError", "cache_root", "environment", "key", "publish"]


KEY_LENGTH = 12
"""Of a key: all that goes into a tool is in this repository or pinned by it, so a short one is enough."""


def key(*parts: str | bytes) -> str:
    """A short name for `parts`, in their order."""
    return cache.key(*parts)[:KEY_LENGTH]


def environment() -> dict[str, str]:
    """The environment of this process, as a value that can be changed and passed on."""
    return dict(os.environ)
