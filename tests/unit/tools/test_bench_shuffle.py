"""Executor-seconds with a shuffle service and without (tools/bench/shuffle.py), without a cluster."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from bench import shuffle as bench_shuffle
from bench.shuffle import Job, Round, Run
from cluster.handle import Cluster

JOB = Job("4.3.0", 2, 2, 60.0)
STAYING = Run(100.0, ((0.0, 0), (10.0, 2), (100.0, 0)))
"""Two executors for 90 seconds."""


def going(seconds: float) -> Run:
    """Two executors for so long."""
    return Run(100.0, ((0.0, 0), (10.0, 2), (10.0 + seconds, 0), (100.0, 0)))


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[list[Round]], Path]:
    """A function: these are the rounds that are measured; it gives the page that is written."""

    @contextmanager
    def held(what: str, version: str) -> Iterator[Cluster]:
        yield Cluster(tmp_path / f"{what} {version}", own=False)

    monkeypatch.setattr(bench_shuffle.bench_cluster, "held", held)
    monkeypatch.setattr(bench_shuffle.bench_cluster, "in_namespace", lambda _, run: run("bench-1"))
    monkeypatch.setattr(bench_shuffle.bench_cluster.requirements, "check", lambda: None)
    monkeypatch.setattr(bench_shuffle.bench_cluster.spark_home, "ensure", lambda version: tmp_path / version)
    monkeypatch.setattr(bench_shuffle, "RESULTS", tmp_path / "shuffle.md")

    def with_rounds(found: list[Round]) -> Path:
        monkeypatch.setattr(bench_shuffle, "rounds", lambda *_: found)
        return tmp_path / "shuffle.md"

    return with_rounds


def test_executor_seconds_are_the_area_below_the_samples() -> None:
    """Each sample holds until the next."""
    assert (STAYING.executor_seconds, going(15).executor_seconds) == (180.0, 30.0)


@pytest.mark.parametrize(("seconds", "code"), [(45.0, 0), (72.0, 1)], ids=["reached", "missed"])
def test_page_numbers_and_picture_are_kept(
    measured: Callable[[list[Round]], Path], seconds: float, code: int
) -> None:
    """The goal is the exit code; the page names its two files, which are there."""
    found = [{"service": going(seconds), "tracking": STAYING}] * 3
    page = measured(found)
    assert bench_shuffle.main(["--write"]) == code
    text = page.read_text()
    assert f"takes {seconds / 90:.2f} of the executor-seconds" in text
    assert "(shuffle.json)" in text
    assert "(shuffle.svg)" in text
    kept = json.loads(page.with_suffix(".json").read_text())
    assert len(kept["rounds"]) == 3
    assert kept["rounds"][0]["tracking"]["samples"] == [[0.0, 0], [10.0, 2], [100.0, 0]]
    picture = page.with_suffix(".svg").read_text()
    assert ET.fromstring(picture).tag.endswith("svg")  # noqa: S314 - our own
    assert not any(line != line.rstrip() for line in picture.splitlines())


@pytest.mark.parametrize(
    "document",
    [
        bench_shuffle.service("bench-1", JOB.version),
        *(bench_shuffle.application("bench-1", f"{side}-1", side, JOB) for side in bench_shuffle.SIDES),
    ],
    ids=["of-the-service", *bench_shuffle.SIDES],
)
def test_documents_are_rendered(document: dict[str, Any]) -> None:
    """What the benchmark applies; with a service Spark tracks no shuffle data, and without one it does."""
    command = [str(Path(sys.executable).with_name("sparkgen")), "render", "-q", "-"]
    done = subprocess.run(command, input=json.dumps(document), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if document["kind"] == "SparkApplication":
        tracks = str("shuffleService" not in document["spec"]).lower()
        assert f"spark.dynamicAllocation.shuffleTracking.enabled {tracks}\n" in done.stdout


def test_executors_are_counted_until_the_driver_has_succeeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pods that wait or run count, those that have ended do not; the driver is none."""

    def pod(role: str, phase: str) -> dict[str, Any]:
        return {"metadata": {"labels": {"spark-role": role}}, "status": {"phase": phase}}

    shown = iter(
        [
            [pod("driver", "Pending")],
            [pod("driver", "Running"), pod("executor", "Pending"), pod("executor", "Running")],
            [pod("driver", "Running"), pod("executor", "Succeeded")],
            [pod("driver", "Succeeded")],
        ]
    )
    monkeypatch.setattr(bench_shuffle.programs, "apply_rendered", lambda *_: None)
    monkeypatch.setattr(bench_shuffle.time, "sleep", lambda _: None)
    monkeypatch.setattr(Cluster, "objects", lambda *_: next(shown))
    made = bench_shuffle.run(Cluster(Path("/none"), own=False), "bench-1", "service-1", "service", JOB)
    assert [count for _, count in made.samples] == [0, 0, 2, 0, 0]
