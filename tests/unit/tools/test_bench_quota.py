"""The benchmark of a full quota: what is counted, and the page that says it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from bench import quota
from cluster.audit import Call

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def call(second: float, code: int = 201, verb: str = "create", user: str = "allocator") -> Call:
    """A call about pods, so many seconds after the first try."""
    at = BEGAN + timedelta(seconds=second)
    return Call(at, at, user, verb, "pods", "", "ns", "pi-exec-1", code)


def result(writes: int) -> quota.Result:
    """A result with so many writes in each step."""
    steps = quota.WINDOW // quota.STEP
    return quota.Result([writes] * steps, 3, [0] * steps, [quota.ROOM] * steps)


def test_writes_count_by_steps_and_within_the_window() -> None:
    """Of whoever creates executors, and nobody else; reads are no writes."""
    calls = [
        call(0),
        call(1, code=403),
        call(quota.STEP + 1, code=403),
        call(2, verb="list"),
        call(3, verb="patch", user="kubelet"),
        call(quota.WINDOW + 1, code=403),
    ]
    pods: Any = SimpleNamespace(
        seen={"a": BEGAN, "b": BEGAN + timedelta(seconds=1)}, running={"a": BEGAN + timedelta(seconds=7)}
    )
    found = quota.counted(calls, pods)
    assert found.writes[:3] == [2, 1, 0]
    assert sum(found.writes) == 3
    assert found.refused == 2
    assert found.pending[:2] == [2, 1]
    assert found.running[:2] == [0, 1]


def test_the_page_compares_writes_a_minute() -> None:
    """Both sides of each round, and the medians."""
    text = quota.page([{"sparkgen": result(1), "native": result(10)}], "4.0.1")
    assert "**12** writes a minute with sparkgen, **120** with Spark alone" in text
    assert "| 1 | 12 | 120 | 3 | 3 | 10 | 10 | 0 | 0 |" in text
