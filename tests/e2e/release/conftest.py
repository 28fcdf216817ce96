"""A release of what is checked out, made once for all tests of this folder."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))  # succeeding.py, public_home.py

from succeeding import run

TOOLS = Path(__file__).parents[3] / "tools"


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `make release` writes."""
    folder = tmp_path_factory.mktemp("made") / "release"
    run(sys.executable, "-m", "release", folder, "--dirty", environment={"PYTHONPATH": str(TOOLS)})
    return folder
