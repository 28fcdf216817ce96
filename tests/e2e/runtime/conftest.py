"""What every test of the runtime needs: the images on the nodes, and a namespace that is restricted."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS

sys.path.insert(0, str(Path(__file__).parent))  # deployed.py: what these tests share


@pytest.fixture(scope="session")
def images(cluster: Cluster) -> None:
    """The runtime image, and Spark of both lines, are on the nodes."""
    cluster.load_runtime()
    cluster.load_spark(TESTED_VERSIONS)


@pytest.fixture
def restricted(cluster: Cluster, namespace: str, images: None) -> str:
    """A namespace that lets in only what Pod Security's level "restricted" allows."""
    cluster.kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted")
    return namespace
