"""The cache of built things: where it is, what names an entry, and that an entry is whole or absent."""

from __future__ import annotations

import errno
import re
import threading
import time
from pathlib import Path

import pytest

from common.cachedir import ToolError, cache_root, key, publish
from sparkgen.local import cache


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"SPARKGEN_CACHE": "/a", "XDG_CACHE_HOME": "/b"}, Path("/a")),
        ({"SPARKGEN_CACHE": "", "XDG_CACHE_HOME": "/b"}, Path("/b/sparkgen")),
        ({"SPARKGEN_CACHE": "~/a"}, Path.home() / "a"),
        ({"SPARKGEN_CACHE": "a"}, Path.cwd() / "a"),
        ({"XDG_CACHE_HOME": ""}, Path.home() / ".cache" / "sparkgen"),
        ({}, Path.home() / ".cache" / "sparkgen"),
    ],
)
def test_the_root_follows_the_environment(settings: dict[str, str], expected: Path) -> None:
    """SPARKGEN_CACHE wins over XDG_CACHE_HOME over ~/.cache; an empty variable counts as unset."""
    assert cache_root(settings) == expected


def test_a_key_depends_on_every_part_and_on_where_parts_end() -> None:
    """Equal parts give an equal key; any other content, order or border gives another one."""
    assert key("ab", "c") == key("ab", b"c")
    assert len({key("ab", "c"), key("a", "bc"), key("c", "ab"), key("abc"), key("ab", "d")}) == 5


def test_a_key_of_sparkgen_s_own_cache_is_a_whole_digest() -> None:
    """Requirements are somebody's words: with 48 bits, minutes of search give two of them one folder."""
    assert re.fullmatch("[0-9a-f]{64}", cache.key("x"))


@pytest.mark.parametrize("there", [True, False])
def test_a_lock_follows_no_link(tmp_path: Path, there: bool) -> None:
    """In a shared folder, the link is a neighbour's: the file behind it is neither emptied nor created."""
    victim = tmp_path / "victim"
    if there:
        victim.write_text("precious")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / ".lock").symlink_to(victim)
    with pytest.raises(ToolError, match="cannot write"):
        publish(tmp_path / "cache" / "x", lambda _: None)
    assert victim.exists() == there
    assert not there or victim.read_text() == "precious"


def test_an_entry_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    """When making an entry fails midway, nothing is left, and the next attempt succeeds."""
    target = tmp_path / "tools" / "v1-abc"

    def half(folder: Path) -> None:
        (folder / "half").touch()
        assert not target.exists()
        raise ToolError("no")

    with pytest.raises(ToolError, match=r"^no$"):
        publish(target, half)
    assert [path.name for path in target.parent.iterdir()] == [".lock"]
    assert publish(target, lambda folder: (folder / "whole").touch()) == target
    assert [path.name for path in target.iterdir()] == ["whole"]


def test_an_entry_that_is_there_is_not_made_again(tmp_path: Path) -> None:
    """A second call finds the entry, and neither makes nor changes it."""
    target = tmp_path / "entry"
    publish(target, lambda folder: (folder / "first").touch())
    publish(target, lambda folder: (folder / "second").touch())
    assert [path.name for path in target.iterdir()] == ["first"]


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    """An unfinished folder of an earlier run does not fill the disk forever."""
    (tmp_path / ".new-dead").mkdir()
    publish(tmp_path / "entry", lambda folder: None)
    assert not (tmp_path / ".new-dead").exists()


def test_one_of_several_at_once_makes_it_and_the_others_wait(tmp_path: Path) -> None:
    """Four callers at once: one makes the entry, the others say that they wait, and all get it."""
    made: list[Path] = []
    waited = threading.Semaphore(0)
    found: list[bool] = []

    def make(folder: Path) -> None:
        made.append(folder)
        for _ in range(3):  # so slow that the three others certainly meet the lock
            assert waited.acquire(timeout=10)
        time.sleep(0.05)
        (folder / "command").touch()

    def call() -> None:
        target = publish(tmp_path / "entry", make, waiting=waited.release)
        found.append((target / "command").is_file())

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert found == [True] * 4
    assert len(made) == 1


def test_a_full_disk_is_told_with_the_way_out(tmp_path: Path) -> None:
    """A disk that fills up gives the entry's path and SPARKGEN_CACHE, and leaves nothing half-made."""

    def fill(folder: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(folder))

    with pytest.raises(ToolError, match=r"cannot write .*entry: No space left.*SPARKGEN_CACHE"):
        publish(tmp_path / "entry", fill)
    assert not list(tmp_path.glob(".new-*"))


def test_a_cache_that_cannot_be_a_folder_is_told(tmp_path: Path) -> None:
    """A file where the cache should be is a message, not a traceback."""
    (tmp_path / "file").touch()
    with pytest.raises(ToolError, match="SPARKGEN_CACHE"):
        publish(tmp_path / "file" / "tools" / "entry", lambda folder: None)
