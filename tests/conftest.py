"""What all tests share: the flag that rewrites goldens, and the real tools that check manifests.

helm, kubeconform and Kubernetes' schemas are built on first use, into the cache outside the checkout.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

import sparkgen
from common.cachedir import ToolError
from gotools import gotools
from k8s import kubeconform as checker
from k8s import kubernetes_schemas as schemas
from spark import spark_home
from spark.trial_driver import Trial
from tests import scale
from tests.fake_runtime import SMALL, VARIABLE

# A deadline per example fails tests on a busy machine, and a random seed fails them on some days only.
# `pytest --hypothesis-profile=explore` looks for new counter-examples.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("small", deadline=None, derandomize=True, max_examples=15)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile("repeatable")


# A shell that starts tests in the background has them ignore Ctrl-C, and so would the programs they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# helm and kubeconform live for a tenth of a second, of which collecting their garbage is a third.
os.environ |= {"GOGC": "off", "GOMEMLIMIT": "300MiB"} | os.environ

# What commands write for documents that name no runtime; tests/e2e takes the real one.
os.environ[VARIABLE] = str(SMALL)

ROOT = Path(__file__).parents[1]
# Under `make wheel` the tests are of what is installed: no program that they start may find the checkout's
# sparkgen in the folder that it is started in.
if not Path(sparkgen.__file__).is_relative_to(ROOT / "sparkgen"):
    os.environ.update(PYTHONSAFEPATH="1", PYTHONPATH=str(ROOT / "tools"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--regenerate`."""
    parser.addoption(
        "--regenerate", action="store_true", help="write the expected outputs (goldens) instead of comparing"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Tell pytest of the mark for what is long."""
    config.addinivalue_line("markers", "long: played in its share of the commits, or where all is asked for")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what is long, where it is not played whole; pytest lists it. Goldens are rewritten by all."""
    for item in () if config.getoption("--regenerate") else items:
        if item.get_closest_marker("long") and not scale.is_whole(item.nodeid):
            item.add_marker(pytest.mark.skip(reason="long: SPARKGEN_SHARE=all plays it"))


def pytest_collection_finish() -> None:
    """Look for garbage among what tests leave alone: thousands of collected tests stay to the end."""
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Nor look for any at the end, where pytest would do it five times over."""
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_make_collect_report(collector: pytest.Collector) -> None:
    """Properties take their number of examples when their module is imported, which collecting it does."""
    if isinstance(collector, pytest.Module):
        _load_profile(collector)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Those that are made in a test take it there."""
    _load_profile(item)


def _load_profile(node: pytest.Item | pytest.Collector) -> None:
    """Try few examples, or a hundred where the file is in a share that is played whole."""
    if not node.config.getoption("hypothesis_profile"):
        settings.load_profile("repeatable" if scale.is_whole(node.nodeid.partition("::")[0]) else "small")


@pytest.fixture(scope="session")
def regenerate(request: pytest.FixtureRequest) -> bool:
    """Whether goldens are to be written instead of compared."""
    return bool(request.config.getoption("--regenerate"))


@pytest.fixture
def golden(regenerate: bool) -> Callable[[Path, str], None]:
    """A function: compare `text` with the golden file `path`, or write it under `--regenerate`."""

    def compare(path: Path, text: str) -> None:
        if regenerate:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Other tests read some of them at the same time. Bytes: no platform may change the line ends.
            if not path.is_file() or path.read_bytes() != text.encode():
                path.write_bytes(text.encode())
            return
        assert path.is_file(), f"there is no {path}: run `make golden`, then read what it wrote"
        assert text == path.read_bytes().decode(), f"differs from {path}: run `make golden` if it should"

    return compare


@pytest.fixture(scope="session")
def helm() -> Path:
    """The path of the pinned helm (4.x)."""
    return gotools.ensure("helm")


@pytest.fixture(scope="session")
def kubernetes_schemas() -> Path:
    """The folder of Kubernetes' strict schemas (1.30 to 1.36), for kubeconform's `-schema-location`."""
    return schemas.ensure()


@pytest.fixture(scope="session")
def kubeconform(kubernetes_schemas: Path) -> Callable[..., tuple[checker.Finding, ...]]:
    """A function: what Kubernetes 1.30 to 1.36 would refuse in manifests, () when nothing.

    It takes one YAML stream, or many as {file name: stream}: give it all at once, because kubeconform
    runs once per version. `versions=("1.36",)` checks fewer. No document at all is an error.
    `image_volumes` names the streams with image volumes: no schema of Kubernetes 1.30 has them.
    """

    def find(
        manifests: str | dict[str, str],
        versions: tuple[str, ...] = schemas.MINOR_VERSIONS,
        image_volumes: Collection[str] = (),
    ) -> tuple[checker.Finding, ...]:
        texts = {"manifests.yaml": manifests} if isinstance(manifests, str) else manifests
        newer = {name: texts[name] for name in image_volumes}
        found = checker.check({name: texts[name] for name in texts if name not in newer}, versions)
        if newer:
            found += checker.check(newer, tuple(name for name in versions if name != "1.30"))
        return found

    return find


@pytest.fixture
def java() -> Path:
    """The Java that Spark starts; a test that asks for it is skipped where there is none."""
    try:
        return spark_home.java()
    except ToolError as problem:
        if os.environ.get("CI"):  # there, a skipped check is a check that nobody makes
            pytest.fail(f"no Spark can be started: {problem}")
        pytest.skip(f"no Spark can be started: {problem}")


@pytest.fixture
def trial(tmp_path: Path, java: Path) -> Iterator[Callable[[str], Trial]]:
    """A function: an allocator and drivers for a Scala line; all that it started is ended after the test."""
    trials: list[Trial] = []

    def make(line: str) -> Trial:
        trials.append(Trial(line, tmp_path))
        return trials[-1]

    yield make
    for made in trials:
        made.end()
