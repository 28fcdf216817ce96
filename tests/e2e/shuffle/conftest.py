"""What tests of shuffle services share: a service of each Spark version, in a namespace of its own."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from services import Service, start

from cluster.handle import Cluster

Serve = Callable[[str], Service]


@pytest.fixture(scope="session")
def serve(cluster: Cluster, images: None) -> Iterator[Serve]:
    """The shuffle service of a Spark version, started when it is first asked for."""
    namespace, found = f"shuffle-{uuid.uuid4().hex[:6]}", {}
    cluster.kubectl("create", "namespace", namespace)

    def serve(version: str) -> Service:
        if version not in found:
            name = f"shuffle-{version.split('.')[0]}"
            janitor = {"intervalSeconds": 2, "graceSeconds": 10}
            found[version] = start(cluster, namespace, version, name=name, janitor=janitor)
        return found[version]

    yield serve
    cluster.kubectl("delete", "namespace", namespace, "--wait=false")
