"""What a closed gate says in the allocator's log is what `sparkgen status` shows."""

from __future__ import annotations

import pytest

from sparkgen.live.allocatorlog import hindrance

NO_NODE = (
    "100 have no node, and no more are created until one is found "
    "(spec.allocation.maxUnschedulablePods is 100)"
)
BATCH = "the next batch waits until 1 more has registered (spec.allocation.waitForRegistration)"
PENDING = "100 pending, Unschedulable: 0/2 nodes are available"


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([NO_NODE], NO_NODE),
        ([BATCH], BATCH),
        ([NO_NODE.replace("100 have", "1 has")], NO_NODE.replace("100 have", "1 has")),
        ([PENDING, NO_NODE, BATCH], PENDING),
        ([], ""),
    ],
)
def test_a_gate_is_a_hindrance(parts: list[str], expected: str) -> None:
    """Why the pods wait comes first, where the allocator knows it."""
    line = "; ".join(["2026-11-22T01:10:00.000Z info    100 of 300 executors (100 pending)", *parts])
    assert hindrance(line + "\n") == expected
