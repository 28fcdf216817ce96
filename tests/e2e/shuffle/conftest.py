"""What tests of shuffle services share: a service of each Spark version, in a namespace of its own."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from services import HOST_PORT, SECOND_PORT, Service, start

from cluster.handle import Cluster

Serve = Callable[..., Service]


@pytest.fixture(scope="session")
def serve(cluster: Cluster, images: None) -> Iterator[Serve]:
    """The shuffle service of a Spark version, started when it is first asked for, and ready when it is given.

    `host_network`: one in the nodes' own network, with a port of its own. `second`: one more of the version,
    with a port, directories and a Secret of its own.
    """
    namespace = f"shuffle-{uuid.uuid4().hex[:6]}"
    found: dict[tuple[str, bool, bool], Service] = {}
    cluster.kubectl("create", "namespace", namespace)

    def serve(version: str, *, host_network: bool = False, second: bool = False) -> Service:
        known = version, host_network, second
        if known not in found:
            name = f"shuffle-{version.split('.')[0]}{'-host' if host_network else ''}{'-b' if second else ''}"
            janitor = {"intervalSeconds": 2, "graceSeconds": 10}
            more: dict[str, Any] = {"hostNetwork": True, "port": HOST_PORT} if host_network else {}
            if second:
                more |= {"port": SECOND_PORT, "secretName": "another-secret"}
            found[known] = start(cluster, namespace, version, name=name, janitor=janitor, **more)
        found[known].wait()  # another test may have killed its pods, or their node
        return found[known]

    yield serve
    cluster.kubectl("delete", "namespace", namespace, "--wait=false")
