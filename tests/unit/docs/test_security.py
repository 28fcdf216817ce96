"""The page of security names tests: each of them is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def test_the_files_that_it_names_are_there() -> None:
    """Each file and folder of tests."""
    named = set(re.findall(r"`(tests/[^`]+)`", PAGE))
    assert named
    assert {name for name in named if not (ROOT / name).exists()} == set()


def test_the_tests_that_it_names_are_there() -> None:
    """Each function of the table of attacks without success."""
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    assert named
    assert {name for name in named if f"def {name}(" not in sources} == set()
