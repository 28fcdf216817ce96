"""A fake registry, and a place for what is fetched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sparkgen.runtime.fetch.command import Places
from tests.unit.runtime.fetch.fake_registry import FakeRegistry


@pytest.fixture
def registry() -> Iterator[FakeRegistry]:
    """A registry without anything in it."""
    made = FakeRegistry()
    yield made
    made.close()


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """The volumes of a pod: no cache, credentials or certificates unless a test makes them."""
    (tmp_path / "artifacts").mkdir()
    return Places(tmp_path / "artifacts", tmp_path / "cache", tmp_path / "config.json", tmp_path / "ca.crt")
