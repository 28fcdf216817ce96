"""Refuses folders for output that a link leads out of the repository."""

from __future__ import annotations

from pathlib import Path

from sparkgen.errors import SparkgenError
from sparkgen.repository import way_out


def refuse_way_out(directory: Path) -> None:
    """Raise SparkgenError if a link in the repository leads a folder for output out of it."""
    if real := way_out(directory):
        raise SparkgenError(
            f"{directory} is, or is below, a symbolic link out of the repository, to {real}; delete the "
            f"link, or name {real} itself"
        )
