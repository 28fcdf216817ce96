"""`sparkgen lint --evidence`: what a recorded run used, beside what its document asks for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.conftest import DOCUMENT, Cli, cli
from tests.unit.eventlog import event_log as made

__all__ = ["cli"]

NAME = "pi"
CODES = ("SG283", "SG284", "SG285")


@pytest.fixture(autouse=True)
def _repository(cli: Cli) -> None:
    """The directory is the root of a repository; the document has more executors than tasks."""
    Path(".git").mkdir()
    Path("app.yaml").write_text(DOCUMENT.replace("instances: 2", "instances: 9"))


def log(application: str = NAME, **properties: str) -> str:
    """The event log of a run of an application, two executors of which used 300 MiB of heap."""
    events: list[dict[str, Any]] = made.small()
    ours = {"spark.master": "sparkgen://127.0.0.1:1"} if application else {}
    events[1]["Spark Properties"] |= {**ours, "spark.executor.memory": "1g", **properties}
    events[2]["App ID"] = f"{application}-0123abcd-x1y2z" if application else "application_1_2"
    for event in events:
        if event["Event"] == "SparkListenerTaskEnd":
            event["Task Executor Metrics"] = {"JVMHeapMemory": 300 << 20}
    Path("run.log").write_bytes(made.text(events))
    return "run.log"


def found(cli: Cli, *arguments: str) -> dict[str, dict[str, Any]]:
    """Code -> finding, of the rules of evidence."""
    listed = json.loads(cli("lint", "app.yaml", "--format", "json", *arguments).out)
    return {problem["code"]: problem for problem in listed if problem["code"] in CODES}


def test_without_evidence_nothing_is_known(cli: Cli) -> None:
    """The rules are on, and say nothing."""
    assert found(cli) == {}


@pytest.mark.parametrize("application", [NAME, ""])
def test_what_the_run_used_is_held_against_the_document(cli: Cli, application: str) -> None:
    """Three times the heap's peak, and more executors than the two tasks that ever ran together."""
    said = found(cli, "--evidence", log(application))
    assert set(said) == {"SG283", "SG284"}
    assert "300 MiB of heap in run.log" in said["SG283"]["message"]
    assert said["SG283"]["found"] == "1024 MiB"
    assert said["SG284"]["path"] == "spec.executor.instances"
    assert "not faster with more than 2 executors" in said["SG284"]["message"]


def test_a_document_within_what_the_run_used_is_fine(cli: Cli) -> None:
    """Less than twice the heap, and as many executors as help."""
    fitting = DOCUMENT.replace("instances: 2", "instances: 2\n    memory: 600m")
    Path("app.yaml").write_text(fitting)
    assert found(cli, "--evidence", log()) == {}


def test_executors_that_shuffle_output_holds_are_the_documents_matter(cli: Cli) -> None:
    """Not with a bound for it."""
    dynamic = {
        f"spark.dynamicAllocation.{k}": v for k, v in (("enabled", "true"), ("executorIdleTimeout", "1s"))
    }
    section = "  dynamicAllocation:\n    enabled: true\n    maxExecutors: 2\n"
    text = DOCUMENT.replace("  executor:\n    instances: 2\n", section)
    Path("app.yaml").write_text(text)
    assert "SG285" in found(cli, "--evidence", log(**dynamic))
    Path("app.yaml").write_text(text.replace(section, f"{section}    shuffleTrackingTimeout: 5m\n"))
    assert "SG285" not in found(cli, "--evidence", log(**dynamic))


def test_a_run_of_another_application_is_no_evidence(cli: Cli) -> None:
    """It is named, with what to do."""
    result = cli("lint", "app.yaml", "--evidence", log("other-app"))
    assert result.code == 2
    assert "run.log is a run of other-app, but no document has this name" in result.err


def test_a_log_that_names_no_application_is_of_one_document(cli: Cli) -> None:
    """With two of them it could be either's."""
    Path("second.yaml").write_text(DOCUMENT.replace(f"name: {NAME}", "name: second"))
    result = cli("lint", "app.yaml", "second.yaml", "--evidence", log(""))
    assert result.code == 2
    assert "run.log does not name its application" in result.err


def test_what_is_no_log_is_refused(cli: Cli) -> None:
    """As whatif refuses it."""
    result = cli("lint", "app.yaml", "--evidence", "missing.log")
    assert (result.code, "Traceback" in result.err) == (2, False)
    assert "missing.log does not exist" in result.err
