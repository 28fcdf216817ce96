"""Fifty allocators on one API server, which crashes while they create: all converge, and none floods it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from admission import webhook
from deployed import wait_until
from fleet import Fleet
from places import Nodes

from cluster import answers, fakes, faults
from cluster.audit import Call
from cluster.handle import Cluster
from sparkgen.runtime.allocator.decide.apply_outcomes import MAX_WINDOW

COUNT = 50
EXECUTORS = 10
FEWER = 3
SLOWNESS = 3
"""Seconds that each creation takes. An allocator sends 1, 2, 4, ... at a time: ten take it 12 s."""


@pytest.fixture
def fleet(cluster: Cluster, namespace: str, nodes: Nodes, tmp_path: Path) -> Iterator[Fleet]:
    """The fleet, ready to start, with ten fake nodes."""
    fakes.add(10)
    found = Fleet(cluster, namespace, tmp_path, COUNT)
    found.prepare(EXECUTORS)
    try:
        yield found
    finally:
        found.kill()
        fakes.remove()


def at_once(calls: list[Call]) -> int:
    """The largest number of calls that were being answered at one time."""
    steps = sorted([(call.time, 1) for call in calls] + [(call.answered, -1) for call in calls])
    most = now = 0
    for _, step in steps:
        now += step
        most = max(most, now)
    return most


def converged(fleet: Fleet, target: int) -> Callable[[], bool]:
    """Whether every driver has just what it wants, and the cluster has no pod more."""
    return lambda: set(fleet.registered().values()) == {target} and len(fleet.executors()) == COUNT * target


@pytest.mark.full
def test_fifty_allocators_converge_over_a_crash_of_the_api_server(fleet: Fleet) -> None:
    """500 executors, with a crash after the first of them; then 150; then none. Writes and lists are few.

    A slow webhook sees to it that many creations are on their way when the server crashes.
    """

    def story() -> str:
        slow = [name for name, count in fleet.registered().items() if count != EXECUTORS][:3]
        return "\n".join(f"--- {name}\n{fleet.log(name)[-2000:]}" for name in slow)

    with (
        answers.webhooks() as url,
        webhook(fleet.cluster, fleet.namespace, "Validating", f"{url}/slow/{SLOWNESS}"),
    ):
        fleet.start()
        wait_until(lambda: len(fleet.executors()) >= COUNT, 90, "some are there", story)
        there = len(fleet.executors())
        with faults.away("kube-apiserver"):
            time.sleep(10)
        assert there < COUNT * EXECUTORS, "nothing was shown: all were there before the crash"
        wait_until(converged(fleet, EXECUTORS), 240, "all have what they want", story)
    fleet.want(FEWER)
    wait_until(converged(fleet, FEWER), 120, "all have fewer", story)
    assert fleet.died() == []
    ended = datetime.now(UTC)
    fleet.tell_to_end()
    wait_until(lambda: len(fleet.died()) == COUNT, 60, "all have ended")
    wait_until(lambda: not fleet.executors(), 30, "no executor is left")
    for name in fleet.names:
        check(fleet, name, ended)


def check(fleet: Fleet, name: str, ended: datetime) -> None:
    """Check what one allocator asked of the API server, until it was told to end and afterwards."""
    calls = fleet.cluster.calls(fleet.namespace, name)
    count = Counter((call.verb, call.resource) for call in calls)
    created = [
        call.name for call in calls if (call.verb, call.resource, call.code) == ("create", "pods", 201)
    ]
    assert len(created) <= EXECUTORS  # one that was taken just as the server died may not be in its log
    assert len(set(created)) == len(created)
    assert count["create", "pods"] <= EXECUTORS + MAX_WINDOW, count
    lists = [call.time < ended for call in calls if call.verb == "list"]
    assert lists.count(True) <= 3, "one at the start, one after the crash, and one that was refused"
    assert lists.count(False) <= 5, "at the end until all are on their way"
    # A server ends the watches of those who read too slowly, as fifty processes on two cores do.
    assert count["watch", "pods"] <= 20, count
    assert count["delete", "pods"] <= EXECUTORS + 2, count
    # A server that has just started refuses for a moment what it allows: it has not read its roles yet.
    assert count["create", "secrets"] <= 8, count
    writes = [call for call in calls if call.verb in ("create", "delete") and call.resource == "pods"]
    assert at_once(writes) <= MAX_WINDOW
    assert not [call for call in calls if call.code == 403 and call.verb == "delete"]
