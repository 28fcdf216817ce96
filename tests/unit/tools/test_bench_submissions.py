"""How submissions are measured (tools/bench/submissions.py): documents, ratios, the page."""

from __future__ import annotations

from pathlib import Path

from bench import submissions as bench_submissions
from bench.submissions import OPERATOR, WAYS, Result, page, ratio
from sparkgen.cli.plain_arguments import parse
from sparkgen.usecases.inputs import Inputs
from sparkgen.usecases.validate import check

THEIRS = Result(100.0, 110.0, 200.0, 5.0)


def rounds(*running: float) -> list[dict[str, Result]]:
    """A round for each number of seconds that sparkgen's ways took."""
    ours = [Result(seconds, seconds, 0.5, 2.0) for seconds in running]
    return [{**dict.fromkeys(WAYS, result), OPERATOR: THEIRS} for result in ours]


def test_the_documents_are_valid_and_as_many_as_asked_for() -> None:
    """Twenty applications of one namespace, without a finding."""
    text = bench_submissions.documents("4.0.2", 20, "bench")
    checked = check(Inputs(("-",)), lambda: text.encode())
    assert checked.problems == ()
    names = [one.value["metadata"] for one in checked.documents]
    assert names == [{"name": f"pi-{number}", "namespace": "bench"} for number in range(20)]


def test_the_ratio_is_the_median_of_the_rounds() -> None:
    """Of pairs, not of medians."""
    assert ratio(rounds(1.0, 2.0, 11.0), "sparkgen apply") == 55.0
    assert ratio(rounds(1.0), "sparkgen apply", "cpu") == 400.0
    assert ratio(rounds(1.0), OPERATOR) == 1.0


def test_the_page_has_every_way_beside_the_operator() -> None:
    """A row with its medians and ratios, and a column of rounds; a bar in a name is no column."""
    lines = page(rounds(1.1, 2.2), "4.0.2", 20).splitlines()
    assert lines[0] == "# 20 applications applied at once"
    assert "| sparkgen apply | 1.65 | 1.65 | 0.50 | 2.00 | 75 | 400 |" in lines
    assert "| spark-operator | 100.00 | 110.00 | 200.00 | 5.00 | 1 | 1 |" in lines
    assert any(line.startswith("| sparkgen render \\| kubectl apply | 1.65") for line in lines)
    assert "| 1 | 1.10 s, 1.10 s | 1.10 s, 1.10 s | 1.10 s, 1.10 s | 100.00 s, 110.00 s |" in lines


def test_what_is_measured_starts_quickly() -> None:
    """Its command line is one that needs no typer."""
    assert parse(["apply", "-q", f"--kubeconfig={Path('x')}", "--skip-preflight", "-"]) is not None
