"""Both helms, and the chart as a user calls it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gotools import gotools
from tests import reading, scale

CHART = Path(__file__).parents[2] / "charts" / "spark-app"

Template = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session", params=["helm", pytest.param("helm3", marks=pytest.mark.long)])
def helm(request: pytest.FixtureRequest) -> Path:
    """Each helm that the chart is for: 4, and 3."""
    return gotools.ensure(request.param)


@pytest.fixture(scope="session")
def helms() -> tuple[Path, ...]:
    """Both at once, for tests that make many documents first; 4 alone where few are played."""
    names = ("helm", "helm3") if scale.is_whole("tests/chart/test_parity.py") else ("helm",)
    return tuple(gotools.ensure(name) for name in names)


@pytest.fixture(scope="session")
def helm_call(helm: Path) -> Template:
    """A function: one call of helm; the chart is the working folder's `spark-app`."""

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(helm), *arguments], capture_output=True, text=True, check=False, cwd=CHART.parent
        )

    return call


@pytest.fixture(scope="session")
def objects() -> Callable[[str], list[dict[str, Any]]]:
    """A function: the objects in what helm printed."""

    def parse(text: str) -> list[dict[str, Any]]:
        return [item for item in reading.load_all(text) if item]

    return parse
