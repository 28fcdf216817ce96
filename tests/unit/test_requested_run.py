"""The arguments of a run that a person asks for: sparkgen/usecases/requested_run.py."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from sparkgen import contract
from sparkgen.cluster.annotations import DEADLINE, KILLED
from sparkgen.errors import SparkgenError
from sparkgen.usecases.requested_run import RequestedRun, copied, from_job, with_arguments


def template(*arguments: str) -> dict[str, Any]:
    """A driver's pod template with these arguments."""
    return {"spec": {"containers": [{"name": contract.DRIVER_CONTAINER, "args": list(arguments)}]}}


OPTIONS = [
    [*proxy, *main]
    for proxy, main in itertools.product(([], ["--proxy-user", "ada"]), ([], ["--class", "org.example.Main"]))
]


@pytest.mark.parametrize("options", OPTIONS)
def test_only_the_applications_arguments_change(options: list[str]) -> None:
    """spark-submit's options and the main file stay, whichever options there are."""
    start = [*contract.DRIVER_ARGUMENTS, *options, "local:///opt/app/main"]
    assert with_arguments(template(*start, "--class", "old"), ["new"]) == template(*start, "new")


def test_a_command_that_somebody_changed() -> None:
    """Nobody knows which of its arguments are the application's."""
    with pytest.raises(SparkgenError, match="the driver's command was changed"):
        with_arguments(template("driver", "local:///opt/app/main.py"), [])


@pytest.mark.parametrize(
    ("noted", "expected"),
    [
        ("600", 600),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("²", None),
        pytest.param("9" * 5000, None, id="long"),
    ],
)
def test_the_deadline_of_a_killed_run(noted: str, expected: int | None) -> None:
    """The one before the kill, as `kill` noted it; no deadline if somebody wrote something else."""
    source = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": "pi-1",
            "namespace": "n",
            "labels": {contract.LABEL_RUN: "pi-1"},
            "annotations": {KILLED: "true", DEADLINE: noted},
        },
        "spec": {"activeDeadlineSeconds": 1, "template": template()},
    }
    job = from_job(source, RequestedRun("pi", None, "id"))
    assert job["spec"].get("activeDeadlineSeconds") == expected


def test_a_copy_has_binary_files_too() -> None:
    """Those of a document without a registry."""
    labels = {contract.LABEL_RUN: "etl-1"}
    metadata = {"name": "etl-1-code", "namespace": "team", "labels": labels}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "etl-2", "uid": "u", "labels": {contract.LABEL_RUN: "etl-2"}},
    }
    copy = copied({"metadata": metadata, "binaryData": {"a.zip": "AAE="}}, "etl-1", job)
    assert (copy["metadata"]["name"], copy["binaryData"]) == ("etl-2-code", {"a.zip": "AAE="})
