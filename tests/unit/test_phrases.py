"""Phrases that messages of all parts have in common."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sparkgen
from sparkgen.phrases import some_of


@pytest.mark.parametrize(
    ("texts", "separator", "expected"),
    [
        ([], ", ", ""),
        (["a"], ", ", "a"),
        (["a", "b"], ", ", "a, b"),
        (["a", "b", "c"], ", ", "a, b and 1 more"),
        (["a", "b", "c", "d"], "; ", "a; b and 2 more"),
    ],
)
def test_the_first_of_many_texts(texts: list[str], separator: str, expected: str) -> None:
    """And how many more there are, if there are more."""
    assert some_of(texts, 2, separator) == expected


def test_only_one_function_says_how_many_more_there_are() -> None:
    """A second one would say it in other words some day."""
    modules = Path(sparkgen.__file__).parent.rglob("*.py")
    found = [path.name for path in modules if re.search(r" and \{[^{}]+\} more\b", path.read_text())]
    assert found == ["phrases.py"]
