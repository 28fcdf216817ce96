"""CONTRIBUTING.md leads to files that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
MAP = PAGE.partition("| I want to change | open |\n|---|---|\n")[2].partition("\n\n")[0]
ROWS = re.findall(r"^\| (.+?) \| (.+) \|$", MAP, re.MULTILINE)
PATH = re.compile(r"`((?:\.ci|[a-z]+)/[\w./-]+)`")


def test_each_question_leads_to_a_file_or_folder() -> None:
    """A row names at least one, and whoever changes something else has at most forty rows to read."""
    assert 30 <= len(ROWS) <= 40
    assert [question for question, answer in ROWS if not PATH.search(answer)] == []


def test_each_path_of_the_page_exists() -> None:
    """Also those outside of the map. Files that the tests make are no part of it."""
    named = set(PATH.findall(PAGE))
    in_project = {name for name in named if (ROOT / name.split("/")[0]).exists()}
    assert len(in_project) > 40
    assert sorted(name for name in in_project if not (ROOT / name).exists()) == []


def test_each_file_beside_another_exists() -> None:
    """A file without its folder lies in the folder of the path before it."""
    missing = []
    for _, answer in ROWS:
        folder = ROOT
        for name in re.findall(r"`([^`]+)`", answer):
            if "/" in name:
                folder = (ROOT / name).parent
            elif name.endswith(".py") and not (folder / name).is_file():
                missing.append(name)
    assert missing == []
