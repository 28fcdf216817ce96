"""How a task of Airflow finds its run: one run for each task, whatever happens to its workers."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkgen import api
from sparkgen_airflow.values import Target, TaskRequest, event_of, run_of
from tests.unit.api.conftest import connection, kube
from tests.unit.api.test_connection import applied, requested
from tests.unit.cli.kube import Kube
from tests.unit.cli.test_cli_acting import ended

__all__ = ["connection", "kube"]


def request(attempt: int, key: str = "etl/2026-01-01/report/-1") -> TaskRequest:
    """A try of the same task."""
    return TaskRequest(key, attempt)


def test_a_try_finds_the_run_of_an_earlier_one(connection: api.Connection, kube: Kube) -> None:
    """While it goes on, and after it has succeeded; also if a worker has died twice."""
    applied(connection)
    run = run_of(connection, "pi", request(1), ["1"])
    assert run_of(connection, "pi", request(1), ["1"]) == run
    assert run_of(connection, "pi", request(2), ["1"]) == run
    assert run_of(connection, "pi", request(4), ["1"]) == run
    ended(kube, run)
    assert run_of(connection, "pi", request(5), ["1"]) == run
    assert len(requested(kube)) == 1


def test_a_try_after_a_failed_run_starts_its_own(connection: api.Connection, kube: Kube) -> None:
    """Also with other arguments; the same try goes on to tell of the failure."""
    applied(connection)
    first = run_of(connection, "pi", request(1), ["1"])
    ended(kube, first, "Failed", 1)
    assert run_of(connection, "pi", request(1), ["1"]) == first
    second = run_of(connection, "pi", request(2), ["2"])
    assert second != first
    assert run_of(connection, "pi", request(3), ["2"]) == second
    with pytest.raises(api.Conflict, match="arguments"):
        run_of(connection, "pi", request(3), ["3"])


def test_each_task_has_a_run_of_its_own(connection: api.Connection, kube: Kube) -> None:
    """A run that is gone is no reason to wait."""
    applied(connection)
    first = run_of(connection, "pi", request(1, "a"), None)
    assert run_of(connection, "pi", request(1, "b"), None) != first
    del kube.objects[f"/apis/batch/v1/namespaces/analytics/jobs/{first}"]
    assert run_of(connection, "pi", request(2, "a"), None) != first


def test_what_is_kept_of_an_end(tmp_path: Path, kube: Kube) -> None:
    """Plain values; and a target leads to the cluster that it names."""
    end = api.RunEnd("pi-1", 3, "it failed", api.Reason("code", "cause", "step"), ("line",))
    assert event_of(end) == {
        "run": "pi-1",
        "exit_code": 3,
        "message": "it failed",
        "reason": "cause: step",
        "log": ["line"],
    }
    assert event_of(api.RunEnd("pi-1", 0, "ok"))["reason"] == ""
    assert Target("spark", "", kube.kubeconfig(tmp_path)).connect().namespace == "spark"
