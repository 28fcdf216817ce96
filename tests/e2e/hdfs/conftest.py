"""One secure HDFS for all tests of this folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import secure


@pytest.fixture(scope="session")
def loopback(tmp_path_factory: pytest.TempPathFactory) -> Iterator[secure.Secure]:
    """A KDC and an HDFS of this machine alone: for drivers that are processes."""
    with secure.on_loopback(tmp_path_factory.mktemp("loopback")) as it:
        yield it
