"""How delivery is measured (tools/bench/delivery.py): documents, the order of sides, and the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import delivery
from bench.delivery import BUILD, FETCH, IMAGE_VOLUME, UPLOAD, Bench, Run
from cluster.handle import Cluster
from cluster.registry import Registry
from sparkgen.usecases.inputs import Inputs
from sparkgen.usecases.validate import check


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A benchmark without a cluster."""
    registry = Registry(tmp_path / "registry", plain=True)
    return Bench(Cluster(Path("kubeconfig"), own=False), Path("spark"), "4.3.0", registry, tmp_path, ())


@pytest.mark.parametrize("mount", ["fetch", "image"])
def test_the_document_is_valid_but_for_the_push(bench: Bench, mount: str) -> None:
    """`sparkgen apply` pushes what it names."""
    bench.changed()
    section = {"repository": "localhost:5000/x", "insecure": True, "mount": mount}
    path = delivery.document(bench, "here", mainApplicationFile="./etl.py", delivery=section)
    checked = check(Inputs((str(path),)), lambda: b"")
    assert {problem.code for problem in checked.problems} == {"SG306"}


def test_each_change_is_another_script(bench: Bench) -> None:
    """Or nothing would be pushed, and no image built."""
    assert bench.changed().read_text() != bench.changed().read_text()


def test_what_was_uploaded_is_counted_with_the_blobs(bench: Bench) -> None:
    """Each file once, whichever side has made it."""
    for name in ("registry/data/docker/registry/v2/blobs/sha256/ab/abc/data", "spark-upload-1/etl.py"):
        (bench.folder / name).parent.mkdir(parents=True)
        (bench.folder / name).write_bytes(bytes(100))
    assert delivery.stored(bench) == 200


def test_the_page_has_ratios_within_each_round() -> None:
    """A noisy round treats all sides alike: the median is that of ratios, and not of seconds."""

    def one(scale: float) -> dict[str, Run]:
        seconds = {FETCH: 5.0, IMAGE_VOLUME: 4.0, BUILD: 10.0, UPLOAD: 8.0}
        return {name: Run(scale * value, scale, 4_000) for name, value in seconds.items()}

    text = delivery.page([one(1), one(2), one(10)], "4.3.0")
    assert f"| {FETCH} | 0.50 | 0.50 to 0.50 | 2.0 | 10.0 | 4,000 |" in text
    assert f"| {BUILD} | 1.00 | 1.00 to 1.00 |" in text
