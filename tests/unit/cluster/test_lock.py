"""One user at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster.lock import describe, held
from common.cachedir import ToolError


def test_the_holder_is_named() -> None:
    """What is done, by whom, where, in which process and for how long."""
    text = '{"doing": "make e2e", "user": "ann", "pid": 7, "folder": "/home/ann/sparkgen", "since": 100.0}'
    assert describe(text, 163.2) == "`make e2e` of ann in /home/ann/sparkgen (process 7), for 63 s"


@pytest.mark.parametrize("text", ["", "{", "{}", "[]"])
def test_a_lock_without_words_is_still_a_lock(text: str) -> None:
    """Between taking it and writing who took it there is a moment."""
    assert "another process" in describe(text, 0)


def test_the_second_one_is_told_who_holds_it(tmp_path: Path) -> None:
    """The second user gets a message, not a wait; after the first is done, nothing is left."""
    path = tmp_path / "lock"
    with held(path, "make cluster-up"):
        message = r"in use by `make cluster-up` of .*Wait until it is done"
        with pytest.raises(ToolError, match=message), held(path, "make cluster-down"):
            pytest.fail("two hold one lock")
        assert path.exists()
    assert not path.exists()
    with held(path, "make cluster-down"):
        pass
