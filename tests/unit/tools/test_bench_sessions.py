"""How sessions are measured (tools/bench/sessions.py): documents, order, ratios, the page."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from bench import sessions as bench_sessions
from bench.sessions import CASES, KUBEFLOW_CONNECT, SPARK_SUBMIT, SPARKGEN_SHELL, Bench, Session
from cluster.handle import Cluster
from spark.spark_operator import Operator
from sparkgen.importing import Choices, import_all
from sparkgen.usecases.inputs import Inputs
from sparkgen.usecases.validate import check, examine

BENCH = Bench(Cluster(Path("kubeconfig"), own=False), Path("spark"), "4.3.0", Operator(Any))  # type: ignore[arg-type]
SIZES = ("cores", "coreRequest", "memory")


def one_round(**walls: float) -> dict[str, Session]:
    """A round in which cases took 10 seconds, or what is given for a case that begins with the word."""
    return {
        name: Session(walls.get(name.partition("'")[0].partition(" ")[0], 10.0), 4.0, 1, 500.0, 140.0, 3.0)
        for name in CASES
    }


@pytest.mark.parametrize(("kind", "codes"), [("SparkConnectServer", ["SG303"]), ("SparkApplication", [])])
def test_the_documents_are_valid(kind: str, codes: list[str]) -> None:
    """The server's, which asks for no token, and the application's whose executors a shell takes."""
    more = {} if kind == "SparkConnectServer" else {"type": "Python", "mainApplicationFile": "local:///x.py"}
    text = json.dumps(bench_sessions.document(kind, "4.3.0", "bench", **more))
    checked = check(Inputs(("-",)), lambda: text.encode())
    assert [problem.code for problem in checked.problems] == codes
    assert [one.value["kind"] for one in checked.documents] == [kind]


def test_both_servers_are_the_same(tmp_path: Path) -> None:
    """What is imported of the operator's resource has the sizes and the allocation of the document."""
    path = tmp_path / "connect.json"
    path.write_text(json.dumps(bench_sessions.spark_connect("4.3.0", "bench")))
    (imported,) = import_all([str(path)], Choices(), examine, lambda: b"").imported
    theirs = yaml.safe_load(imported.text)["spec"]
    ours = bench_sessions.document("SparkConnectServer", "4.3.0", "bench")["spec"]
    assert theirs["image"] == ours["image"]
    for role in ("driver", "executor"):
        assert [theirs[role].get(name) for name in SIZES] == [ours[role].get(name) for name in SIZES]
    assert theirs["dynamicAllocation"] == ours["dynamicAllocation"]


def test_each_round_begins_with_the_next_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each once in a round, and all in front after as many rounds as there are sides."""
    called: list[str] = []

    def side(name: str) -> Any:
        def run(_bench: object, _namespace: str) -> dict[str, Session]:
            called.append(name)
            return one_round()

        return run

    monkeypatch.setattr(bench_sessions, "SIDES", tuple(map(side, "abc")))
    monkeypatch.setattr(bench_sessions.bench_cluster, "in_namespace", lambda _, run: run("bench-1"))
    for number in range(4):
        bench_sessions.one_round(BENCH, number)
    assert "".join(called) == "abcbcacababc"


def test_the_page_has_ranges_and_ratios_of_rounds() -> None:
    """The ratio is the median of those of each round; the operator's memory stands below."""
    found = [one_round(kubeflow=20.0, **{"spark-submit": 40.0}), one_round(), one_round(kubeflow=5.0)]
    lines = bench_sessions.page(found, "4.3.0").splitlines()
    cells = "10.0 (5.0 to 20.0) | 4.0 (4.0 to 4.0) | 6.0 (1.0 to 16.0) | 1 | 500 | 140"
    assert f"| {KUBEFLOW_CONNECT}, cold | {cells} |" in lines
    assert f"| {SPARKGEN_SHELL} / {SPARK_SUBMIT} | **1.00** | 0.25, 1.00, 1.00 |" in lines


def test_the_most_memory_of_chosen_processes() -> None:
    """Of this process alone: some MiB."""
    assert bench_sessions.most_resident(lambda folder: folder.name == str(os.getpid())) > 10
    assert bench_sessions.most_resident(lambda _: False) == 0
