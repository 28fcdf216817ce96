"""`sparkgen image build --load containerd` on a real node: it has its whole name there."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from cluster import images, nodes, ociimage, processes
from cluster.handle import Cluster
from cluster.plan import LAYOUT, NODES
from gotools import gotools
from sparkgen.image import builders, loading
from sparkgen.local.view import Plain

pytestmark = pytest.mark.own_cluster

NAME = "local.example.com/team/loaded:1"


@pytest.fixture
def on_the_first_node(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`ctr` is on the PATH, and the containerd of a node is its default, as on the node itself."""
    init = processes.read(nodes.pid_file(LAYOUT, NODES[0], "init"))
    assert init
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ctr").symlink_to(gotools.ensure("ctr"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/sbin:/usr/bin:/sbin:/bin")
    monkeypatch.setenv("CONTAINERD_ADDRESS", f"/proc/{init.pid}/root/run/containerd/containerd.sock")


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A small image in a local storage of buildah, which is the test's own."""
    settings = tmp_path / "storage.conf"
    folders = f'graphroot = "{tmp_path}/graph"\nrunroot = "{tmp_path}/run"\n'
    settings.write_text(f'[storage]\ndriver = "vfs"\n{folders}', encoding="utf-8")
    monkeypatch.setenv("CONTAINERS_STORAGE_CONF", str(settings))
    with (tmp_path / "busybox.tar").open("wb") as file:
        ociimage.write(file, {NAME: images.busybox()})
    pull = ["buildah", "pull", "--quiet", f"oci-archive:{tmp_path / 'busybox.tar'}"]
    pulled = subprocess.run(pull, capture_output=True, text=True, check=True).stdout.strip()
    subprocess.run(["buildah", "tag", pulled, NAME], check=True)
    return NAME


def test_an_image_is_loaded_onto_a_node(
    built: str, on_the_first_node: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the file that buildah writes, and the import of ctr."""
    steps = partial(builders.saved, "buildah", built)
    loading.load("containerd", "", steps, tmp_path, Plain(sys.stderr))
    monkeypatch.delenv("CONTAINERD_ADDRESS")  # on the node itself, the socket has another path
    try:
        assert built in nodes.images_on(LAYOUT, NODES[0])
    finally:
        nodes.remove_images(LAYOUT, NODES[0], [built])
