"""The staging server that these tests share."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from cluster.handle import Cluster
from cluster.plan import LAYOUT

sys.path.insert(0, str(Path(__file__).parent))

from staging_server import NODE, Staging, claim, secrets


@pytest.fixture(scope="package")
def staging(cluster: Cluster) -> Iterator[Staging]:
    """A server with TLS and passwords, in a namespace that enforces Pod Security "restricted".

    Its ports of the nodes are fixed, so that there is one for all tests.
    """
    cluster.load_registry()
    cluster.load_runtime()
    word = uuid.uuid4().hex[:8]
    it = Staging(cluster, f"staging-{word}", f"users-{word}")
    for name in (it.namespace, it.users):
        cluster.kubectl("create", "namespace", name)
    cluster.kubectl("label", "namespace", it.namespace, "pod-security.kubernetes.io/enforce=restricted")
    # A hostPath is not handed to the pod's group by the kubelet, as a volume of a CSI driver is.
    folder = LAYOUT.node(NODE) / "srv" / it.namespace
    folder.mkdir()
    folder.chmod(0o777)
    cluster.apply(*claim(it.namespace), *secrets(it.namespace))
    it.apply()
    yield it
    for name in (it.namespace, it.users):
        cluster.kubectl("delete", "namespace", name, "--wait=false")
    cluster.kubectl("delete", "persistentvolume", it.namespace, "--wait=false")
