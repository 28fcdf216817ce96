"""Kueue's published definitions on the cluster, and a queue for the test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from deployed import wait_until

from cluster.handle import Cluster
from k8s import crds
from tests.e2e.queues.stand_in import StandIn, webhooks


@pytest.fixture(scope="session")
def kueue_definitions(cluster: Cluster) -> Iterator[None]:
    """Kueue's custom resource definitions, of the version that tools/k8s/crds.py pins."""
    files = [str(path) for path in sorted(crds.ensure().glob("kueue.x-k8s.io_*.yaml"))]
    options = [word for path in files for word in ("-f", path)]
    cluster.kubectl("apply", "--server-side", *options)

    def established() -> bool:  # kubectl gives up on one that has no condition yet
        wait = ("wait", "--for=condition=Established", *options, "--timeout=5s")
        return cluster.try_kubectl(*wait).returncode == 0

    wait_until(established, 60, "Kueue's definitions are served")
    yield
    cluster.kubectl("delete", *options)  # and wait: a test that is played again makes them again


@pytest.fixture
def queue(cluster: Cluster, restricted: str, kueue_definitions: None) -> Iterator[StandIn]:
    """A stand-in for Kueue, which has not begun to look: what waits stays."""
    with webhooks(cluster, restricted):
        stand_in = StandIn(cluster, restricted)
        yield stand_in
        stand_in.die()
