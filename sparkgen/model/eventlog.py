"""Directories of event logs: which of them are in a pod, and where a claim for them is mounted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sparkgen.model.application import LogClaim

LOCAL = re.compile(r"file:(?:///|/)([^/].*)")
"""A directory in the pod: an absolute path, with or without the empty host of a URL."""


def local_path(directory: str) -> str | None:
    """The path of a directory in the pod, without a slash at its end; None for other directories."""
    match = LOCAL.fullmatch(directory)
    return f"/{match[1].rstrip('/')}" if match else None


def log_claim(section: Mapping[str, Any] | None) -> LogClaim | None:
    """The claim that a valid document's section `eventLog` mounts; None if it has none."""
    if section is None or "claim" not in section or not section.get("enabled", True):
        return None
    path = local_path(section.get("dir", ""))
    return None if path is None else LogClaim(section["claim"], path)
