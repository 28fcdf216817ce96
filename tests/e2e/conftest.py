"""The cluster that end-to-end tests run on: this machine's own, or the one that KUBECONFIG names."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cluster import lifecycle, lock, network, requirements
from cluster import registry as registries
from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from cluster.plan import FAMILY, LAYOUT, LOCK, NAME
from cluster.registry import Registry
from cluster.runtime_image import CONFIGURED
from common import share
from gotools import gotools
from sparkgen.document.configuration import FILE_NAME
from tests.fake_runtime import VARIABLE

HERE = Path(__file__).parent
CHART = HERE.parents[1] / "charts" / "spark-app"
sys.path[:0] = [str(HERE), str(HERE / "faults")]  # deployed.py, recorder.py, ...: what tests share

# What tests/conftest.py sets for unit tests. The last two are for programs that live briefly: with them, the
# API server of a cluster does little else than collect garbage.
for name in (VARIABLE, "GOGC", "GOMEMLIMIT"):
    os.environ.pop(name, None)
import shares  # noqa: E402 - it is in the folder that was just named

Helm = Callable[..., subprocess.CompletedProcess[str]]

FULL = "SPARKGEN_E2E_FULL"
"""The variable that asks for every test, however long it takes."""

SECONDS: dict[str, float] = {}
"""How long each test of this run took, with its fixtures."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--record-durations`."""
    parser.addoption(
        "--record-durations", action="store_true", help=f"write how long tests took into {shares.TABLE.name}"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Tell pytest of the mark that says what another cluster cannot do."""
    config.addinivalue_line(
        "markers", "own_cluster: needs the cluster of tools/cluster (its faults, namespaces, audit log)"
    )
    config.addinivalue_line("markers", "core: played at every commit, however long it takes")
    config.addinivalue_line("markers", "families: played with `make e2e FAMILY=ipv6` and `FAMILY=dual`, too")
    config.addinivalue_line(
        "markers", "full: takes minutes; `make e2e-full` plays it, `make e2e` one commit in 24"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave slow tests to the commits whose share they are in; on somebody's cluster, skip what needs ours.

    pytest lists both. The tests that take the cluster down come first: images that `images` has brought to
    the nodes stay there for all others. Those of Argo CD, which runs until the end, come last.
    """
    items.sort(key=lambda item: {"cluster": 0, "argocd": 2}.get(item.path.parent.name, 1))
    if not os.environ.get(FULL):
        for item, reason in _left_out(items, whole=_is_whole(config)):
            item.add_marker(pytest.mark.skip(reason=reason))
    if os.environ.get("KUBECONFIG"):
        for item in items:
            if item.get_closest_marker("own_cluster"):
                item.add_marker(pytest.mark.skip(reason="KUBECONFIG names a cluster that is not ours"))


def _is_whole(config: pytest.Config) -> bool:
    """Whether all tests were asked for: whoever names some of them wants those."""
    return not config.option.keyword and [Path(name).resolve() for name in config.args] == [HERE]


def _left_out(items: list[pytest.Item], *, whole: bool) -> list[tuple[pytest.Item, str]]:
    """The tests that this commit does not play, and why."""
    full = frozenset(item.nodeid for item in items if item.get_closest_marker("full"))
    names = frozenset(item.nodeid for item in items)
    if not whole:
        return [(item, "takes minutes: make e2e-full") for item in items if item.nodeid in full]
    if FAMILY != "ipv4":
        others = [item for item in items if not item.get_closest_marker("families")]
        return [
            (item, f"without the mark families: TESTS=... plays it with FAMILY={FAMILY}") for item in others
        ]
    core = frozenset(
        item.nodeid for item in items if item.get_closest_marker("core") and item.nodeid not in full
    )
    packed = shares.pack(shares.slow(shares.measured(), full, names - core))
    chosen = share.chosen(HERE.parents[1], os.environ)
    return [
        (item, f"slow, in share {packed[item.nodeid]}, not {sorted(chosen)}: make e2e-full plays all")
        for item in items
        if item.nodeid in packed and packed[item.nodeid] not in chosen
    ]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Add up how long a test took: what one sets up and takes down is its own time."""
    if report.when == "setup":  # also when it is played again
        SECONDS[report.nodeid] = 0.0
    if report.nodeid in SECONDS:
        SECONDS[report.nodeid] = SECONDS[report.nodeid] + report.duration
    if report.outcome != "passed":
        SECONDS.pop(report.nodeid, None)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep the times, where that is asked for."""
    if session.config.getoption("--record-durations"):
        shares.record(SECONDS)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell what the first attempt said of each test that was played again."""
    for report in terminalreporter.getreports("rerun"):
        terminalreporter.section(f"played again: {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)


@pytest.fixture(scope="session", autouse=True)
def configured(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Name the image that nodes have in all folders of these tests; those of the ConfigMap take it away."""
    shutil.copy(CONFIGURED / FILE_NAME, tmp_path_factory.getbasetemp())


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
    """The runtime image, and Spark of both lines, stock and with the archive of classes, are on the nodes."""
    cluster.load_runtime()
    cluster.load_spark(TESTED_VERSIONS)
    cluster.load_spark_with_archive(TESTED_VERSIONS)


@pytest.fixture
def registry(cluster: Cluster, tmp_path: Path) -> Iterator[Registry]:
    """A registry of the test's own, with TLS and passwords, that pods and nodes pull from."""
    with registries.running(tmp_path / "registry") as it:
        yield it


@pytest.fixture
def plain_registry(cluster: Cluster, tmp_path: Path) -> Iterator[Registry]:
    """The same with plain HTTP, and without passwords."""
    with registries.running(tmp_path / "plain-registry", plain=True) as it:
        yield it


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
