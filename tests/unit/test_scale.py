"""How much of what is long is played."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings

from common import share
from tests import scale

THIS = "tests/unit/test_scale.py"
AT_IMPORT = settings.default.max_examples


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    scale.played.cache_clear()
    yield
    scale.played.cache_clear()


def test_properties_have_the_examples_of_their_file(request: pytest.FixtureRequest) -> None:
    """When a module is imported, which is when `given` takes them, and while its tests run."""
    wanted = 100 if scale.is_whole(THIS) else 15
    if request.config.getoption("hypothesis_profile"):
        pytest.skip("a profile was asked for")
    assert (AT_IMPORT, settings.default.max_examples) == (wanted, wanted)


def test_all_shares_play_everything_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file, and each part of the schedules, in one of them."""
    names = [
        THIS,
        "tests/chart/test_parity.py",
        *(f"schedules from {first}" for first in range(0, 10_000, 500)),
    ]
    played = []
    for number in range(share.SHARES):
        monkeypatch.setenv(share.SETTING, str(number))
        scale.played.cache_clear()
        played += [name for name in names if scale.count(name, 100, 1) == 100]
    assert sorted(played) == sorted(names)


@pytest.mark.parametrize(
    ("ci", "setting", "shares"),
    [("", "", 0), ("", "all", share.SHARES), ("true", "none", 0), ("true", "", 1)],
)
def test_only_ci_plays_a_share_unasked(
    monkeypatch: pytest.MonkeyPatch, ci: str, setting: str, shares: int
) -> None:
    """Who has just cloned the repository waits for nothing long."""
    monkeypatch.setenv("CI", ci)
    monkeypatch.setenv(share.SETTING, setting)
    assert len(scale.played()) == shares
