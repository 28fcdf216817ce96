"""How much of what is long a run of the tests plays: a small part, or the whole of it.

`SPARKGEN_SHARE` is the one setting (tools/common/share.py). Without it nothing is played whole, but in CI,
where the share of the commit is. With `all` everything is. What has the mark `long` is skipped unless played
whole.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from common import share

ROOT = Path(__file__).parents[1]


@cache
def played() -> frozenset[int]:
    """The shares of the long tests that this run plays whole."""
    if not os.environ.get(share.SETTING) and not os.environ.get("CI"):
        return frozenset()
    return share.chosen(ROOT, os.environ)


def is_whole(name: str) -> bool:
    """Whether the test, or the file of tests, of this name is played whole."""
    return share.is_in_share(name, played())


def count(name: str, whole: int, small: int) -> int:
    """How many cases the test, or the file of tests, of this name plays."""
    return whole if is_whole(name) else small
