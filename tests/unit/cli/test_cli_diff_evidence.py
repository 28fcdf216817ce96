"""`sparkgen diff --evidence`: what a change would cost, by a recorded run; or why that is not known."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sparkgen.whatif.prediction import newest_logs
from tests.unit.cli.conftest import DOCUMENT, Cli, Result
from tests.unit.eventlog import event_log as made

PRICES = "currency: EUR\nonDemand: {coreHour: 0.04, gibHour: 0.005}\n"


@pytest.fixture
def compare(cli: Cli) -> Any:
    """A function: what `sparkgen diff --from HEAD` says of a changed app.yaml, as a result and as JSON."""
    git("init", "-q")
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first")

    def changed(text: str, *arguments: str) -> tuple[Result, list[dict[str, Any]]]:
        Path("app.yaml").write_text(text)
        result = cli("diff", "--from", "HEAD", "app.yaml", "-o", "json", *arguments)
        return result, json.loads(result.out)["applications"] if result.out else []

    return changed


def git(*arguments: str) -> None:
    """Run git in the working directory."""
    subprocess.run(["git", *arguments], check=True, capture_output=True)


def log(path: str = "logs/pi-0123abcd-x1y2z", application: str = "pi", **properties: str) -> str:
    """Write the event log of a run: twelve tasks of ten seconds on two executors."""
    given = {
        "spark.master": "sparkgen://127.0.0.1:1",
        "spark.executor.instances": "2",
        "spark.executor.memory": "1g",
        **properties,
    }
    events = made.small()
    events[1]["Spark Properties"] |= given
    events[2]["App ID"] = f"{application}-0123abcd-x1y2z"
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_bytes(made.text(events))
    return path


def test_a_change_of_executors_has_its_price(compare: Any) -> None:
    """Before and after, each by a replay; with prices, or as core-hours."""
    log()
    Path("prices.yaml").write_text(PRICES)
    bigger = DOCUMENT.replace("instances: 2", "instances: 4")
    result, [one] = compare(bigger, "--evidence", "logs")
    assert result.code == 1
    found = one["prediction"]
    assert found["log"] == "logs/pi-0123abcd-x1y2z"
    assert (found["reason"], found["currency"], found["notPredicted"]) == (None, None, [])
    assert found["after"]["wallSeconds"] <= found["before"]["wallSeconds"]
    assert abs(found["wallError"]) < 1
    priced, [one] = compare(bigger, "--evidence", "logs", "--prices", "prices.yaml")
    assert priced.code == 1
    assert one["prediction"]["currency"] == "EUR"
    assert one["prediction"]["before"]["cost"] > 0


def test_text_and_markdown_say_the_same(compare: Any, cli: Cli) -> None:
    """With the error of the replay."""
    log()
    compare(DOCUMENT.replace("instances: 2", "instances: 4").replace(":3.5.8", ":3.5.7"))
    text = cli("diff", "--from", "HEAD", "app.yaml", "--brief", "--evidence", "logs").out
    assert "predicted from logs/pi-0123abcd-x1y2z, whose own replay is off by " in text
    assert "; not in it: spec.image" in text
    assert [line.split()[0] for line in text.splitlines() if " -> " in line and "s (" in line]
    assert "core-hours" in text
    assert "; not certain: " in text
    page = cli("diff", "--from", "HEAD", "app.yaml", "--brief", "-o", "markdown", "--evidence", "logs").out
    assert "| next run | |" in page
    assert "| wall time | " in page
    assert "\nPredicted from logs/" in page


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("image: docker.io/apache/spark:3.5.8", "image: docker.io/apache/spark:3.5.7", "does not know"),
        ("instances: 2", "instances: 4", "there is no log"),
    ],
)
def test_no_number_where_nobody_knows(compare: Any, old: str, new: str, why: str) -> None:
    """A change that a replay cannot answer, and an application without a log."""
    log(application="pi" if "image" in old else "other", path="logs/x-0123abcd-x1y2z")
    evidence = log() if "image" in old else "logs"
    _, [one] = compare(DOCUMENT.replace(old, new), "--evidence", evidence)
    assert one["prediction"]["before"] is None
    assert why in one["prediction"]["reason"]


def test_a_cost_that_rises_too_much_fails_a_build(compare: Any) -> None:
    """And a change alone does not, then; nor one without a prediction, which is told."""
    log()
    dear = DOCUMENT.replace("instances: 2", "instances: 2\n    memory: 8g\n    cores: 4")
    limit = ("--evidence", "logs", "--max-cost-increase")
    Path("prices.yaml").write_text(PRICES)
    result, _ = compare(dear, *limit, "10%", "--prices", "prices.yaml")
    assert result.code == 1
    assert "the predicted cost rises by" in result.err
    assert ", more than 10%" in result.err
    assert compare(dear, *limit, "100000%")[0].code == 0
    unknown, _ = compare(DOCUMENT.replace(":3.5.8", ":3.5.7"), *limit, "10%")
    assert unknown.code == 0
    assert "no prediction, so its cost is not checked" in unknown.err
    assert compare(dear, *limit, "10")[0].code == 2
    assert compare(dear, "--max-cost-increase", "10%")[0].code == 2


def test_a_setting_that_is_taken_away_is_not_as_recorded(compare: Any) -> None:
    """The recorded run had it."""
    log(**{"spark.executor.cores": "4"})
    Path("app.yaml").write_text(DOCUMENT.replace("instances: 2", "instances: 2\n    cores: 4"))
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "second")
    _, [one] = compare(DOCUMENT, "--evidence", "logs")
    found = one["prediction"]
    assert found["after"]["cost"] < found["before"]["cost"]


def test_the_newest_log_of_each_application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the names of logs, also of rolling ones; runs that go on, and other files, are none."""
    monkeypatch.chdir(tmp_path)
    for age, name in enumerate(
        ("pi-0123abcd-a.zstd", "pi-0123abce-b.lz4", "pi-0123abcf-c.inprogress", "etl-0123abcd-d", "notes.txt")
    ):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (age, age))
    (tmp_path / "eventlog_v2_roll-0123abcd-e").mkdir()
    found = newest_logs([str(tmp_path)])
    assert {name: Path(path).name for name, path in found.items()} == {
        "pi": "pi-0123abce-b.lz4",
        "etl": "etl-0123abcd-d",
        "roll": "eventlog_v2_roll-0123abcd-e",
    }
    assert newest_logs([str(tmp_path / "etl-0123abcd-d")]) == {"etl": str(tmp_path / "etl-0123abcd-d")}


def test_a_log_of_another_program_has_the_name_that_it_gave(compare: Any) -> None:
    """A file that is named is read."""
    path = log("run.log", **{"spark.master": "yarn"})
    events = [json.loads(line) for line in Path(path).read_text().splitlines()]
    events[2] |= {"App Name": "pi", "App ID": "application_1_2"}
    Path(path).write_bytes(made.text(events))
    _, [one] = compare(DOCUMENT.replace("instances: 2", "instances: 4"), "--evidence", path)
    assert one["prediction"]["log"] == "run.log"
    assert one["prediction"]["before"] is not None


def test_evidence_that_is_not_there(compare: Any) -> None:
    """A usage error, with the path."""
    result, _ = compare(DOCUMENT.replace("instances: 2", "instances: 4"), "--evidence", "missing")
    assert result.code == 2
    assert "missing" in result.err
