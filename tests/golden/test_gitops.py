"""examples/gitops: its rendered directories are what its documents give, and what its page says is so."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest

from sparkgen.__main__ import run
from tests import reading

ROOT = Path(__file__).parents[2]
EXAMPLE = Path("examples", "gitops")
DEPLOY = ROOT / EXAMPLE / "deploy"


def render(*options: str) -> tuple[int, str]:
    """`sparkgen render -R` of the example; exit code, and all that it prints."""
    said = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = run(["render", "-R", "apps", "-o", "deploy", *options])
    said.seek(0)
    return code, said.read()


def test_the_directories_are_up_to_date(regenerate: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `render --check` says in everybody's CI; `make golden` renders them again."""
    monkeypatch.chdir(ROOT / EXAMPLE)
    code, said = render() if regenerate else render("--check")
    assert code == 0, said


def test_every_team_in_every_environment() -> None:
    """What the ApplicationSet's generator finds: three levels, a kustomization in each."""
    found = sorted(path.parent.relative_to(DEPLOY).as_posix() for path in DEPLOY.rglob("kustomization.yaml"))
    applications = ["finance/daily-report", "marketing/nightly-clicks", "science/model"]
    assert found == [f"{name}/{one}" for name in ("dev", "prod", "staging") for one in applications]
    (pattern,) = reading.load((ROOT / EXAMPLE / "argocd" / "applicationset.yaml").read_text())["spec"][
        "generators"
    ][0]["git"]["directories"]
    assert pattern == {"path": "deploy/*/*/*"}


def test_production_has_another_tuning_and_the_same_run() -> None:
    """An environment's bounds change no run: what was tested in staging is what runs."""
    runs, bounds = set(), set()
    for name in ("staging", "prod"):
        tuning = (DEPLOY / name / "science" / "model" / "config-map-tuning.yaml").read_text()
        bounds.add('"maximum": 40' in tuning)
        runs.add(reading.load((DEPLOY / name / "science/model/job.yaml").read_text())["metadata"]["name"])
    assert bounds == {True, False}
    assert len(runs) == 1
