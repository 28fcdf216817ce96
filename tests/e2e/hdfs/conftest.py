"""One secure HDFS for all tests of this folder: of this machine alone, or one that pods reach."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.handle import Cluster

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1] / "commands")]

import secure  # noqa: E402 - it is in the folder that was just named


@pytest.fixture(scope="session")
def loopback(tmp_path_factory: pytest.TempPathFactory) -> Iterator[secure.Secure]:
    """A KDC and an HDFS of this machine alone: for drivers that are processes."""
    with secure.on_loopback(tmp_path_factory.mktemp("loopback")) as it:
        yield it


@pytest.fixture(scope="session")
def hadoop(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[secure.Secure]:
    """A KDC and an HDFS that pods reach."""
    with secure.on_cluster(tmp_path_factory.mktemp("hadoop")) as it:
        yield it
