"""The pictures of the benchmarks (tools/bench/plots.py)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from bench import plots as bench_plots

RUN = {"wall": 2.0, "executor_seconds": 3.0, "running": 1.5, "created": 1.0, "cpu": 0.5}
ROUNDS = [{"sparkgen": RUN, "native": {name: 4 * value for name, value in RUN.items()}}]
OVER_TIME = {"writes": [2, 1], "pending": [1, 0], "running": [9, 10]}
ROW = {"executors": 100, "decide_ms": 0.2, "snapshot_ms": 0.1, "event_us": 20.0}


def going(seconds: float) -> dict[str, Any]:
    """Two executors for so long."""
    return {"wall": 100.0, "samples": [[0.0, 0], [10.0, 2], [10.0 + seconds, 0], [100.0, 0]]}


DATA: dict[str, Any] = {
    "executors": {"300": {"sparkgen": [RUN], "native": [{**RUN, "running": None}]}},
    "submissions": {"applications": 20, "rounds": ROUNDS},
    "dynamic": {"rounds": ROUNDS},
    "pi": {"rounds": ROUNDS},
    "quota": {
        "step": 5,
        "room": 10,
        "wanted": 30,
        "rounds": [{"sparkgen": OVER_TIME, "native": {**OVER_TIME, "writes": [9, 9]}}],
    },
    "sessions": {"rounds": [{"sparkgen shell": RUN, "kubeflow's Connect server, warm, no executor": RUN}]},
    "shuffle": {
        "job": {"executors": 2},
        "rounds": [{"service": going(seconds), "tracking": going(90)} for seconds in (20, 80, 40)],
    },
    "scale": {"rows": [ROW, {**ROW, "executors": 1000}], "lives": [{"executors": 9, "memory_most": 30.0}]},
}


@pytest.mark.long
def test_all_that_is_kept_is_drawn_twice_alike(tmp_path: Path) -> None:
    """Each file of numbers gives a picture, which is XML and the same at every run."""
    assert set(DATA) == set(bench_plots.DRAWS)
    for name, data in DATA.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
    drawn = []
    for _ in range(2):
        assert bench_plots.main(["--folder", str(tmp_path)]) == 0
        drawn.append({name: (tmp_path / f"{name}.svg").read_text() for name in DATA})
    assert drawn[0] == drawn[1]
    assert all(ET.fromstring(text).tag.endswith("svg") for text in drawn[0].values())  # noqa: S314 - our own


def test_without_numbers_there_is_nothing_to_draw(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An empty folder is a mistake that is told."""
    assert bench_plots.main(["--folder", str(tmp_path)]) == 2
    assert "contains none of executors, submissions" in capsys.readouterr().err


def test_the_round_in_the_middle_is_drawn() -> None:
    """Neither the best one nor the worst."""
    rounds = DATA["shuffle"]["rounds"]
    assert bench_plots.typical(rounds) is rounds[2]
