"""What tests of faults share: a cluster that is whole again after each, and where its pods may go."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from places import Nodes

from cluster import lifecycle
from cluster.handle import Cluster
from cluster.plan import LAYOUT


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test in this folder needs the cluster of tools/cluster."""
    for item in items:
        if Path(__file__).parent in item.path.parents and not item.get_closest_marker("own_cluster"):
            item.add_marker(pytest.mark.own_cluster)


@pytest.fixture
def nodes(cluster: Cluster) -> Iterator[Nodes]:
    """The cluster's nodes, whole again afterwards."""
    found = Nodes(cluster)
    found.reset()
    try:
        yield found
    finally:
        lifecycle.up(LAYOUT)
        found.reset()
