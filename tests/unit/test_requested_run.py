"""The arguments of a run that a person asks for: sparkgen/usecases/requested_run.py."""

from __future__ import annotations

import contextlib
import itertools
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

import pytest

from sparkgen import contract
from sparkgen.cluster.shapes import received
from sparkgen.errors import SparkgenError
from sparkgen.killing import DEADLINE, KILLED
from sparkgen.usecases.requested_run import RequestedRun, copied, from_job, with_arguments
from sparkgen.usecases.run import start
from tests.property.test_shapes import ODD, changed, places

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster


def template(*arguments: str) -> dict[str, Any]:
    """A driver's pod template with these arguments."""
    return {"spec": {"containers": [{"name": contract.DRIVER_CONTAINER, "args": list(arguments)}]}}


OPTIONS = [
    [*proxy, *main]
    for proxy, main in itertools.product(([], ["--proxy-user", "ada"]), ([], ["--class", "org.example.Main"]))
]


@pytest.mark.parametrize("before", [(), contract.LOGGED_ARGUMENTS], ids=["plain", "archived"])
@pytest.mark.parametrize("options", OPTIONS)
def test_only_the_applications_arguments_change(options: list[str], before: tuple[str, ...]) -> None:
    """spark-submit's options and the main file stay, whichever options there are, and with a log archive."""
    start = [*before, *contract.DRIVER_ARGUMENTS, *options, "local:///opt/app/main"]
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


def test_an_odd_job_is_copied_as_far_as_it_is_one() -> None:
    """Whatever stands in place of a value of the pod template: no internal error."""
    pod = {
        "containers": [{"name": contract.DRIVER_CONTAINER, "args": ["a"], "env": [{"name": "A"}]}],
        "volumes": [
            {"name": "v", "configMap": {"name": "pi-1-conf"}},
            {"name": "w", "projected": {"sources": [{"configMap": {"name": "pi-1-conf"}}]}},
        ],
        "schedulingGates": [{"name": "g"}],
    }
    labels = {contract.LABEL_RUN: "pi-1"}
    given = {"name": "pi-1", "namespace": "n", "uid": "u", "creationTimestamp": "2026-11-22T00:00:00Z"}
    job = {"metadata": {**given, "labels": labels}, "spec": {"template": {"spec": pod}}}
    at = ("spec", "template", "spec")
    inner = [path for path in places(job) if path[:3] == at]
    assert len(inner) > 15
    for path, odd in itertools.product(inner, ODD):
        source = received(changed(job, {path: odd}), "batch/v1", "Job")
        assert source is not None
        for arguments in (None, ("a",)):
            with contextlib.suppress(SparkgenError):
                from_job(source, RequestedRun("pi", arguments, "x"))


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


def test_an_argument_that_is_not_utf_8_is_refused_before_a_cluster_is_asked() -> None:
    """Python reads such bytes of a command line as halves of surrogate pairs, which no request can have."""
    with pytest.raises(SparkgenError, match="is not UTF-8"):
        start(cast("Cluster", None), "etl", ("a", "\udcff"), "", datetime.now(UTC))
