"""What benchmarks on the test cluster have in common (tools/bench/cluster.py)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench import cluster as bench_cluster
from bench.folders import ROOT
from cluster.handle import Cluster
from common.cachedir import ToolError


@pytest.fixture
def no_cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cluster and a Spark that nobody asks: starting them takes minutes, and root."""

    @contextmanager
    def held(what: str, version: str) -> Iterator[Cluster]:
        yield Cluster(tmp_path / f"{what} {version}", own=False)

    monkeypatch.setattr(bench_cluster, "held", held)
    monkeypatch.setattr(bench_cluster.requirements, "check", lambda: None)
    monkeypatch.setattr(bench_cluster.spark_home, "ensure", lambda version: tmp_path / version)


@pytest.mark.usefixtures("no_cluster")
@pytest.mark.parametrize("write", [True, False])
def test_the_page_and_the_numbers_are_kept_when_asked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], write: bool
) -> None:
    """The page goes to standard output, too."""
    results = tmp_path / "x.md"
    options = bench_cluster.parser("x", results, rounds=4).parse_args(["--write"] if write else [])
    page = tmp_path / "x.md"
    code = bench_cluster.measure(
        options,
        page,
        lambda cluster, home: [options.rounds, home.name],
        lambda found: f"{found}",
        applications=7,
    )
    assert code == 0
    found = [4, options.version]
    assert capsys.readouterr().out == f"{found}\n"
    assert page.exists() is write
    if write:
        kept = json.loads(page.with_suffix(".json").read_text())
        assert kept == {"applications": 7, "version": options.version, "rounds": found}


@pytest.mark.usefixtures("no_cluster")
def test_what_fails_is_told_and_nothing_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever the goal is."""

    def fail(cluster: Cluster, home: Path) -> list[int]:
        raise ToolError("3 of 20 drivers run")

    options = bench_cluster.parser("x", tmp_path / "x.md", rounds=1).parse_args(["--write"])
    assert bench_cluster.measure(options, tmp_path / "x.md", fail, str) == 1
    assert capsys.readouterr().err == "error: 3 of 20 drivers run\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("no_cluster")
@pytest.mark.parametrize(("goal", "code"), [(4, 0), (5, 1)])
def test_a_goal_that_is_missed_is_the_exit_code(tmp_path: Path, goal: int, code: int) -> None:
    """The page is printed all the same."""
    options = bench_cluster.parser("x", tmp_path / "x.md", rounds=1).parse_args([])
    measured = bench_cluster.measure(
        options, tmp_path / "x.md", lambda *_: 4, str, lambda found: found >= goal
    )
    assert measured == code


def test_sides_take_turns(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Each once in a round, in a namespace of its own; results stand in the order of the sides."""
    monkeypatch.setattr(bench_cluster, "in_namespace", lambda _, run, __: run("bench-1"))
    called: list[str] = []

    def side(name: str) -> Callable[[str], str]:
        def run(namespace: str) -> str:
            called.append(name)
            return f"{name} in {namespace}"

        return run

    sides = {name: side(name) for name in "abc"}
    cluster = Cluster(Path("none"), own=False)
    found = bench_cluster.rounds(cluster, sides, 4, "two of ", turning=True)
    assert "".join(called) == "abcbcacababc"
    assert [list(one) for one in found] == [["a", "b", "c"]] * 4
    assert "two of round 2, c: c in bench-1\n" in capsys.readouterr().err
    called.clear()
    bench_cluster.rounds(cluster, sides, 2)
    assert "".join(called) == "abcabc"


def test_every_target_of_make_names_a_benchmark() -> None:
    """A name is that of a module with `main`; without one, the names are listed."""
    text = (ROOT / "Makefile").read_text("utf-8")
    named = set(re.findall(r"python tools/bench (\w+)", text)) | set(
        re.findall(r"for part in ([\w ]+); do", text)[0].split()
    )
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "bench")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    listed = re.findall(r"\w+", done.stderr.partition("{")[2].partition("}")[0])
    assert named == set(listed) - {"one_life", "raw_client"}
