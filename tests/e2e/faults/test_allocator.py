"""The allocator itself is killed at random, or has a clock that is wrong: the job does not notice."""

from __future__ import annotations

import os
import random
import re
import time
from collections import Counter
from datetime import UTC, datetime

import pytest
from deployed import Deployed, deploy, document, wait_until
from recorder import recorded

from cluster import faults, runtime_image
from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS

OLD, NEW = TESTED_VERSIONS
SECONDS = float(os.environ.get("SPARKGEN_E2E_SHUFFLE_SECONDS", "600"))
"""How long the job with a dying allocator lasts in `make e2e-full`."""
SEED = int(os.environ.get("SPARKGEN_E2E_SEED", "1"))
MAXIMUM = 3
RIGHT = "rounds: (99500, 99700, 99900, 100100, 100300)"
BUSY = {
    "enabled": True,
    "minExecutors": 0,
    "initialExecutors": 1,
    "maxExecutors": MAXIMUM,
    "executorIdleTimeout": "3s",
    "schedulerBacklogTimeout": "1s",
}
"""Dynamic allocation that lets executors go between two rounds of shuffle.py."""


def created(cluster: Cluster, namespace: str, account: str) -> list[str]:
    """The names of the executors that were created, in order."""
    calls = cluster.calls(namespace, account)
    return [c.name for c in calls if (c.verb, c.resource, c.code) == ("create", "pods", 201)]


def allocator_state(application: Deployed) -> dict[str, object]:
    """What the kubelet says of the allocator's container."""
    states = application.driver()["status"]["initContainerStatuses"]
    return dict(next(state for state in states if state["name"] == "allocator"))


@pytest.mark.full
def test_the_allocator_is_killed_at_random(cluster: Cluster, restricted: str) -> None:
    """While executors come and go with the rounds of a job: the right sums, none too many, no id twice."""
    chance = random.Random(SEED)  # noqa: S311 - when to kill is no secret
    wanted = document("killed", NEW, "shuffle.py", str(SECONDS), "6", dynamicAllocation=BUSY)
    kills = 0
    with recorded(cluster, restricted) as record:
        application = deploy(cluster, restricted, wanted)
        wait_until(lambda: bool(application.executors()), 90, "there are executors", application.story)
        deadline = time.monotonic() + SECONDS + 240
        while not application.finished():
            assert time.monotonic() < deadline, application.story()
            if "running" in allocator_state(application)["state"]:  # type: ignore[operator]
                kills += faults.kill_container(application.driver(), "allocator")
            time.sleep(chance.uniform(1, 15))
    assert application.finished() == "Complete", application.story()
    assert RIGHT in application.logs()
    assert kills >= 2
    assert int(str(allocator_state(application)["restartCount"])) >= kills - 1
    assert record.most_at_once("driver") == 1
    # One that is being deleted may still be there when its successor comes.
    counted = record.most_at_once("executor", leaving=False)
    assert counted <= MAXIMUM, f"{counted} executors at once"
    names = created(cluster, restricted, "killed")
    assert max(Counter(names).values()) == 1, "a name was used twice"
    assert len(record.uids("executor")) == len(names)
    wait_until(lambda: not application.executors("Running", "Pending"), 90, "nothing runs on")
    print(f"{kills} kills, {len(names)} executors, seed {SEED}")  # noqa: T201 - for the report (pytest -s)


ASKED_FOR = {
    "removed by Spark",
    "more than Spark wants",
    "ended",
    "no longer needed, because the driver has stopped",
}
"""Reasons for a deletion that have nothing to do with time."""


@pytest.mark.full
@pytest.mark.parametrize("offset", ["-10m", "+10m"])
def test_the_api_servers_clock_and_ours_differ(cluster: Cluster, restricted: str, offset: str) -> None:
    """The allocator's time of day is ten minutes off: no time-out comes early, nothing is deleted unasked."""
    ahead = offset.startswith("+")
    image = f"runtime.sparkgen.invalid/sparkgen-runtime:{'ahead' if ahead else 'behind'}"
    cluster.load({image: runtime_image.with_clock(offset)})
    options = {"dynamicAllocation": BUSY, "runtimeImage": image}
    wanted = document("clock", NEW, "shuffle.py", "45", "8", **options)
    with recorded(cluster, restricted) as record:
        application = deploy(cluster, restricted, wanted)
        assert application.wait() == "Complete", application.story()
    assert RIGHT in application.logs()
    said = application.logs("allocator")
    written = datetime.fromisoformat(said.split()[0])
    (driver,) = {event.pod["metadata"]["creationTimestamp"] for event in record.events("driver")}
    off = (written - datetime.fromisoformat(driver)).total_seconds()
    expected = 600 if ahead else -600
    assert abs(off - expected) < 120, f"the clock was off by {off:.0f} s: nothing was shown"
    reasons = set(re.findall(r"removing [\d, -]+: ([^;\t\n]+)", said))
    assert reasons <= ASKED_FOR, reasons
    assert " warning " not in said, said
    names = created(cluster, restricted, "clock")
    assert max(Counter(names).values()) == 1
    assert record.most_at_once("executor", leaving=False) <= MAXIMUM
    assert {(c.code, c.verb) for c in cluster.calls(restricted, "clock") if c.code >= 400} <= {
        (404, "delete")
    }
    assert datetime.now(UTC) > datetime.fromisoformat(driver)
