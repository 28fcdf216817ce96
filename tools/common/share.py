"""Which share of the long tests a commit plays: one of 24, so that as many commits play them all.

`SPARKGEN_SHARE` overrides the commit: `all`, `none`, or the number of a share (0 to 23).

    PYTHONPATH=tools .venv/bin/python -m common.share promtool   print whether it is this commit's turn
"""

from __future__ import annotations

import os
import subprocess
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path

from common.cachedir import ToolError

SETTING = "SPARKGEN_SHARE"
SHARES = 24
"""So many commits play every long test."""


def commit_number(root: Path) -> int:
    """A number that grows by one with each commit of a branch.

    A clone that has not all of the history cannot count: its number is made from the commit's name. Without
    git it is 0.
    """
    shallow = _git(root, "rev-parse", "--is-shallow-repository")
    if shallow == "false":
        return int(_git(root, "rev-list", "--count", "--first-parent", "HEAD") or 0)
    return int(_git(root, "rev-parse", "HEAD")[:8] or "0", 16)


def share_of(test_id: str, shares: int = SHARES) -> int:
    """The share of a test, by its id alone: the same on every machine."""
    return zlib.crc32(test_id.encode()) % shares


def chosen(root: Path, settings: Mapping[str, str]) -> frozenset[int]:
    """The shares to play: the commit's, or what `SPARKGEN_SHARE` asks for. ToolError when it is no share."""
    text = settings.get(SETTING, "")
    if text in ("all", "none"):
        return frozenset(range(SHARES)) if text == "all" else frozenset()
    if not text:
        return frozenset({commit_number(root) % SHARES})
    if not (text.isascii() and text.isdigit() and int(text) < SHARES):
        raise ToolError(f"{SETTING}={text!r} is not a share; set it to all, none, or 0 to {SHARES - 1}.")
    return frozenset({int(text)})


def is_in_share(test_id: str, played: frozenset[int]) -> bool:
    """Whether a test is in one of the shares that are played."""
    return share_of(test_id) in played


def _git(root: Path, *arguments: str) -> str:
    """What git says, without the line's end; "" when it cannot."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


if __name__ == "__main__":
    print("yes" if is_in_share(sys.argv[1], chosen(Path(__file__).parent, os.environ)) else "no")
