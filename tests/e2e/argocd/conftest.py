"""What the tests of Argo CD share: one Argo CD beside the cluster, and repositories of their own."""

from __future__ import annotations

import shutil
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # argo.py

from argo import Application, Repository, scripts

from cluster import argocd
from cluster.handle import Cluster
from cluster.runtime_image import CONFIGURED
from sparkgen.document.configuration import FILE_NAME

Make = Callable[..., Application]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test in this folder needs the cluster of tools/cluster: Argo CD reads Git from this machine."""
    for item in items:
        if Path(__file__).parent in item.path.parents and not item.get_closest_marker("own_cluster"):
            item.add_marker(pytest.mark.own_cluster)


@pytest.fixture(scope="session")
def argo(cluster: Cluster, images: None) -> Iterator[None]:
    """Argo CD runs; it is ended after the tests, so that those of others have the machine for themselves."""
    argocd.start()
    yield
    argocd.stop()


def new_repository(folder: Path) -> Repository:
    """An empty repository, whose documents get the image of the runtime that nodes have."""
    repository = Repository(folder)
    folder.mkdir(parents=True, exist_ok=True)
    repository.git("init", "-q", "-b", "main")
    shutil.copy(CONFIGURED / FILE_NAME, folder)  # sparkgen looks no further up than the folder with .git
    return repository


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository of the test's own."""
    return new_repository(tmp_path / "git")


@pytest.fixture(scope="module")
def module_repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A repository of the module's own."""
    return new_repository(tmp_path_factory.mktemp("git"))


@pytest.fixture(scope="module")
def module_namespace(cluster: Cluster, argo: None) -> Iterator[str]:
    """A namespace of the module's own, with the programs; level "restricted"."""
    name = f"test-{uuid.uuid4().hex[:8]}"
    cluster.kubectl("create", "namespace", name)
    cluster.kubectl("label", "namespace", name, "pod-security.kubernetes.io/enforce=restricted")
    scripts(cluster, name)
    yield name
    cluster.kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture
def make(cluster: Cluster, argo: None, repository: Repository, restricted: str) -> Iterator[Make]:
    """Have an Application for a folder of the repository, in the test's namespace; deleted after the test."""
    scripts(cluster, restricted)
    made: list[Application] = []

    def application(name: str, namespace: str = restricted) -> Application:
        made.append(Application(cluster, repository, name, namespace))
        made[-1].create()
        return made[-1]

    yield application
    for one in made:
        cluster.try_kubectl("delete", "application", one.id, "-n", "argocd", "--timeout=60s")
