"""The cluster that end-to-end tests run on: this machine's own, or the one that KUBECONFIG names."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import gotools
from cluster import lifecycle, lock, network, requirements
from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from cluster.plan import LAYOUT, LOCK, NAME

HERE = Path(__file__).parent
CHART = HERE.parents[1] / "charts" / "spark-app"
sys.path[:0] = [str(HERE), str(HERE / "faults")]  # deployed.py, recorder.py, ...: what tests share

Helm = Callable[..., subprocess.CompletedProcess[str]]

FULL = "SPARKGEN_E2E_FULL"
"""The variable that asks for the tests that take long."""


def pytest_configure(config: pytest.Config) -> None:
    """Tell pytest of the mark that says what another cluster cannot do."""
    config.addinivalue_line(
        "markers", "own_cluster: needs the cluster of tools/cluster (its faults, namespaces, audit log)"
    )
    config.addinivalue_line("markers", "full: takes minutes; `make e2e-full` runs it, `make e2e` does not")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what takes long, unless it is asked for; on somebody's cluster, skip what needs ours.

    pytest lists both. The tests that take the cluster down come first: images that `images` has brought to
    the nodes stay there for all others. Those of Argo CD, which runs until the end, come last.
    """
    items.sort(key=lambda item: {"cluster": 0, "argocd": 2}.get(item.path.parent.name, 1))
    for item in items:
        if item.get_closest_marker("full") and not os.environ.get(FULL):
            item.add_marker(pytest.mark.skip(reason="takes minutes: make e2e-full"))
    if os.environ.get("KUBECONFIG"):
        for item in items:
            if item.get_closest_marker("own_cluster"):
                item.add_marker(pytest.mark.skip(reason="KUBECONFIG names a cluster that is not ours"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell what the first attempt said of each test that was played again."""
    for report in terminalreporter.getreports("rerun"):
        terminalreporter.section(f"played again: {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A running cluster, held for these tests alone; it stays up for the next run."""
    if named := os.environ.get("KUBECONFIG"):
        yield Cluster(Path(named), own=False)
        return
    requirements.check()
    with lock.held(LOCK, "make e2e"):
        lifecycle.up()
        yield Cluster(LAYOUT.kubeconfig, own=True)


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    """A namespace of the test's own, removed after it."""
    name = f"test-{uuid.uuid4().hex[:8]}"
    cluster.kubectl("create", "namespace", name)
    yield name
    cluster.kubectl("delete", "namespace", name, "--wait=false")


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


@pytest.fixture(params=["helm", pytest.param("helm3", marks=pytest.mark.full)])
def helm(request: pytest.FixtureRequest, cluster: Cluster, tmp_path: Path) -> Helm:
    """A function: one call of helm on the cluster, with each of the two; CHART stands for the chart."""
    command = [*(network.enter(NAME) if cluster.own else []), str(gotools.ensure(request.param))]
    homes = {f"HELM_{name}_HOME": str(tmp_path / name) for name in ("CACHE", "CONFIG", "DATA")}

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        given = [str(CHART) if word == "CHART" else word for word in arguments]
        return subprocess.run(
            [*command, *given, f"--kubeconfig={cluster.kubeconfig}"],
            capture_output=True,
            text=True,
            check=False,
            timeout=400,
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(tmp_path), **homes},
        )

    return call
