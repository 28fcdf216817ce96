"""The state of a run, from its driver's object and pod."""

from __future__ import annotations

from typing import Any

import pytest

from sparkgen.live.find import one
from sparkgen.live.state import Life, State, life_of, schedule_life
from sparkgen.live.values import moment
from tests.unit.live.objects import (
    BORN,
    ENDED,
    NAMESPACE,
    STARTED,
    Cluster,
    cron_job,
    deployment,
    driver,
    ends,
    job,
    runs,
)

LEAVING = "2026-11-22T02:00:00Z"


def life(*items: dict[str, Any]) -> Life:
    """How the run of these objects fares."""
    name = items[0]["metadata"]["labels"]["sparkgen.dev/application"]
    return life_of(one(Cluster(*items), name, NAMESPACE).runs[0])


def with_condition(item: dict[str, Any], kind: str) -> dict[str, Any]:
    """An object with a true condition."""
    condition = {"type": kind, "status": "True", "lastTransitionTime": ENDED}
    return {**item, "status": {"conditions": [condition]}}


LIVES = {
    "a Job without a pod": ([job()], State.PENDING, BORN),
    "a pod without a node": ([job(), driver(job())], State.PENDING, BORN),
    "a program that runs": ([job(), driver(job(), state=runs())], State.RUNNING, STARTED),
    "a program that has ended, and its Job not": (
        [job(), driver(job(), state=ends(), phase="Running")],
        State.ENDING,
        ENDED,
    ),
    "an init container that failed": ([job(), driver(job(), phase="Failed")], State.ENDING, BORN),
    "a Job that is complete": ([job(ended="Complete")], State.SUCCEEDED, ENDED),
    "a Job that has failed": ([job(ended="Failed")], State.FAILED, ENDED),
    "a Job that has failed but for its pods": (
        [with_condition(job(), "FailureTarget"), driver(job(), state=ends(1))],
        State.ENDING,
        ENDED,
    ),
    "a Job that waits": ([with_condition(job(spec={"suspend": True}), "Suspended")], State.SUSPENDED, ENDED),
    "a Job that is being deleted": ([job(deletionTimestamp=LEAVING)], State.DELETING, LEAVING),
    "a Deployment that runs": ([deployment(), driver(deployment(), state=runs())], State.RUNNING, STARTED),
    "a Deployment of no replicas": ([deployment(replicas=0)], State.SUSPENDED, BORN),
    "a Deployment whose driver ends again and again": (
        [
            deployment(),
            driver(
                deployment(),
                containerStatuses=[
                    {
                        "name": "spark-kubernetes-driver",
                        "restartCount": 3,
                        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                        "lastState": ends(1),
                    }
                ],
            ),
        ],
        State.RESTARTING,
        ENDED,
    ),
}


@pytest.mark.parametrize("name", LIVES)
def test_the_state_and_since_when(name: str) -> None:
    """From the Job's conditions first, then from the driver's container."""
    items, state, since = LIVES[name]
    found = life(*items)
    assert (found.state, found.since) == (state, moment(since))
    assert found.over == (state in (State.SUCCEEDED, State.FAILED))


def test_the_exit_code_is_the_programs() -> None:
    """Of the newest driver; none while it runs, or when its pod is gone."""
    assert life(job(ended="Failed"), driver(job(), state=ends(101))).exit_code == 101
    assert life(job(ended="Complete"), driver(job(), state=ends())).exit_code == 0
    assert life(job(), driver(job(), state=runs())).exit_code is None
    assert life(job(ended="Failed")).exit_code is None


def test_an_ended_run_has_its_times() -> None:
    """From the Job's start to its end."""
    found = life(job(ended="Complete"))
    assert (found.started, found.ended) == (moment(BORN), moment(ENDED))


@pytest.mark.parametrize(("suspend", "state"), [(False, State.SCHEDULED), (True, State.SUSPENDED)])
def test_a_schedule_that_has_not_come_round(suspend: bool, state: State) -> None:
    """Is no run, and has a state all the same."""
    found = schedule_life(one(Cluster(cron_job(suspend=suspend)), "nightly"))
    assert found is not None
    assert found.state is state
    assert schedule_life(one(Cluster(job()), "pi")) is None
