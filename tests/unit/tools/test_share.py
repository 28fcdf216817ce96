"""Which share of the long tests a commit plays."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from common import share
from common.cachedir import ToolError


def commit(root: Path, number: int) -> None:
    """Commit a file to the repository `root`."""
    (root / "file").write_text(str(number))
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    for command in (["add", "file"], [*who, "commit", "-qm", str(number)]):
        subprocess.run(["git", "-C", str(root), *command], check=True)


def test_all_shares_play_every_test(tmp_path: Path) -> None:
    """Each test is played by exactly one of as many commits in a row as there are shares."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    played: list[str] = []
    names = [f"tests/x.py::test[{number}]" for number in range(200)]
    for number in range(share.SHARES):
        commit(tmp_path, number)
        now = share.chosen(tmp_path, {})
        assert len(now) == 1
        played += [name for name in names if share.is_in_share(name, now)]
    assert sorted(played) == sorted(names)


def test_a_shallow_clone_plays_a_share_too(tmp_path: Path) -> None:
    """It cannot count commits: its commit's name decides, and stays what it is."""
    full, shallow = tmp_path / "full", tmp_path / "shallow"
    subprocess.run(["git", "init", "-q", str(full)], check=True)
    for number in range(3):
        commit(full, number)
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{full}", str(shallow)], check=True)
    (found,) = share.chosen(shallow, {})
    assert found in range(share.SHARES)
    assert share.chosen(shallow, {}) == {found}


def test_without_git_it_is_the_first(tmp_path: Path) -> None:
    """An unpacked archive has tests, too."""
    assert share.chosen(tmp_path / "nowhere", {}) == {0}


@pytest.mark.parametrize(("text", "found"), [("all", set(range(share.SHARES))), ("none", set()), ("7", {7})])
def test_the_setting_overrules_the_commit(text: str, found: set[int], tmp_path: Path) -> None:
    """All, none, or one by its number."""
    assert share.chosen(tmp_path, {"SPARKGEN_SHARE": text}) == found


@pytest.mark.parametrize("text", ["24", "-1", "some", "1.5", "٣"])
def test_what_is_no_share_is_told(text: str, tmp_path: Path) -> None:
    """The message says what may be set."""
    with pytest.raises(ToolError, match="set it to all, none, or 0 to 23"):
        share.chosen(tmp_path, {"SPARKGEN_SHARE": text})


def test_all_shares_have_each_name_once() -> None:
    """`.ci/run` asks the module whether it is promtool's turn: the answer is yes in one share."""
    tools = str(Path(share.__file__).parents[1])
    answers = [
        subprocess.run(
            [sys.executable, "-m", "common.share", "promtool"],
            env=os.environ | {"SPARKGEN_SHARE": str(number), "PYTHONPATH": tools},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for number in range(share.SHARES)
    ]
    assert sorted(answers) == ["no\n"] * (share.SHARES - 1) + ["yes\n"]
