"""What end-to-end tests of the scheduler jar share. They need Java and no cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import spark_home
from trial_driver import Trial


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[Callable[[str], Trial]]:
    """A function: an allocator and drivers for a Scala line; all that it started is ended after the test."""
    if spark_home.java() is None:
        pytest.skip("the scheduler jar needs Java 17 or 21 (on the PATH or in JAVA_HOME), and there is none")
    trials: list[Trial] = []

    def make(line: str) -> Trial:
        trials.append(Trial(line, tmp_path))
        return trials[-1]

    yield make
    for made in trials:
        made.end()
