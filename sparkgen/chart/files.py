"""Finds the chart, and reads its files and version."""

from __future__ import annotations

import re
from pathlib import Path

from sparkgen.errors import SparkgenError

NAME = "spark-app"


def folder() -> Path:
    """The chart's folder: in the installed package, or in a checkout."""
    package = Path(__file__).parent.parent
    installed = package / "_charts" / NAME
    return installed if installed.is_dir() else package.parent / "charts" / NAME


def files() -> dict[str, bytes]:
    """Path below the chart -> content, sorted by path. Raises SparkgenError if the chart cannot be read."""
    root = folder()
    try:
        found = {
            path.relative_to(root).as_posix(): path.read_bytes()
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }
    except OSError as error:
        raise SparkgenError(f"cannot read the chart in {root}: {error.strerror}") from error
    if "Chart.yaml" not in found:
        raise SparkgenError(f"sparkgen is not fully installed: there is no chart in {root}")
    return found


def version(content: dict[str, bytes]) -> str:
    """The chart's version in these files (path -> content). Raises SparkgenError if there is none."""
    found = re.search(rb"^version: (\S+)$", content["Chart.yaml"], re.MULTILINE)
    if found is None:
        raise SparkgenError("the chart's Chart.yaml names no version")
    return found[1].decode()
