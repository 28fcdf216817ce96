"""Numbers in a registry's headers: only plain ones, and pauses within bounds."""

from __future__ import annotations

import pytest

from sparkgen.runtime.registry.headers import asked_pause, is_number


@pytest.mark.parametrize("text", ["0", "007", "9" * 18])
def test_numbers(text: str) -> None:
    """Of at most eighteen digits."""
    assert is_number(text)


@pytest.mark.parametrize("text", ["", "-1", "1.5", " 1", "1\n", "\u00b2", "\u0661", "9" * 19, "soon"])
def test_what_is_no_number(text: str) -> None:
    """Digits of other scripts are none."""
    assert not is_number(text)


@pytest.mark.parametrize(
    ("asked", "pause"),
    [("5", 5.0), ("0", 0.0), ("31", 30.0), ("", 2.0), ("Wed, 21 Oct 2015 07:28:00 GMT", 2.0)],
)
def test_pauses(asked: str, pause: float) -> None:
    """What is asked for, at most the longest; the usual one without a number."""
    assert asked_pause(asked, longest=30.0, usual=2.0) == pause
