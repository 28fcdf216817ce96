"""What all cases share: the images with the probe, the web server, and a namespace with its watch."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster import accounts, web
from cluster.handle import Cluster
from cluster.images import REPOSITORY, TESTED_VERSIONS
from differential import inputs
from differential.pods import Watch
from differential.sides import Place

SOURCES = Path(__file__).with_name("inputs")
PORT = 8083


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files that commands name."""
    return inputs.served(SOURCES, tmp_path_factory.mktemp("made"), TESTED_VERSIONS)


@pytest.fixture(scope="module")
def probe_images(cluster: Cluster, files: dict[str, bytes]) -> dict[str, str]:
    """Spark's version -> the name of the stock image with the probe; they are on the nodes."""
    made = {f"{REPOSITORY}:{version}-probe": inputs.image(version, files) for version in TESTED_VERSIONS}
    cluster.load_runtime()
    cluster.load(made)
    return dict(zip(TESTED_VERSIONS, made, strict=True))


@pytest.fixture(scope="module")
def web_address(
    cluster: Cluster, files: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of a web server with the files that commands name."""
    folder = tmp_path_factory.mktemp("web")
    inputs.write(folder, files)
    with web.serving(folder, PORT) as address:
        yield address


@pytest.fixture(scope="module")
def place(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A namespace for all cases, in which they find an account, a Secret and a claim."""
    namespace = f"test-{uuid.uuid4().hex[:8]}"
    cluster.kubectl("create", "namespace", namespace)
    cluster.apply(*objects(namespace))
    token = accounts.token(cluster, namespace)
    kubeconfig = accounts.kubeconfig(cluster, token, tmp_path_factory.mktemp("account") / "kubeconfig")
    watch = Watch(cluster, namespace)
    yield Place(cluster, namespace, watch, kubeconfig)
    watch.close()
    cluster.kubectl("delete", "namespace", namespace, "--wait=false")
    cluster.kubectl("delete", "persistentvolume", namespace, "--wait=false")


def objects(namespace: str) -> Iterator[dict[str, Any]]:
    """A Secret, and a claim with its volume, which is a folder of each node."""
    size, modes = {"storage": "1Mi"}, ["ReadWriteMany"]
    claim = {"name": "probe-claim", "namespace": namespace}
    folder = {"path": f"/srv/{namespace}", "type": "DirectoryOrCreate"}
    common = {"accessModes": modes, "storageClassName": ""}
    volume = {"capacity": size, "hostPath": folder, "claimRef": claim, **common}
    yield _object("Secret", {"name": "probe-secret", "namespace": namespace}, stringData={"word": "hush"})
    yield _object("PersistentVolume", {"name": namespace}, spec=volume)
    wanted = {"resources": {"requests": size}, "volumeName": namespace, **common}
    yield _object("PersistentVolumeClaim", claim, spec=wanted)


def _object(kind: str, metadata: dict[str, str], **rest: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **rest}
