"""The messages between the scheduler jar and the allocator: as docs/design/protocol.md has them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sparkgen.allocator import protocol
from sparkgen.allocator.protocol import Misunderstood, Report
from sparkgen.allocator.types import Cause, DriverPhase, Loss, Profile, Settings

PAGE = Path(__file__).parents[3] / "docs" / "design" / "protocol.md"
STATE, REPORT = (json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL))


def changed(**fields: Any) -> dict[str, Any]:
    """The state of the page, with other fields."""
    return {**STATE, **fields}


def test_the_state_of_the_page() -> None:
    """Every field of the documented state arrives."""
    target = protocol.target_of(STATE)
    assert (target.session, target.revision, target.phase) == (STATE["session"], 12, DriverPhase.RUNNING)
    assert (target.application_id, target.dynamic) == ("pi-1a2b3c4d-9f8e7", True)
    assert target.executors == {0: 4, 1: 2}
    assert target.profiles == {
        0: Profile(cores=2, memory=2048, overhead=384),
        1: Profile(cores=1, memory=1024, overhead=384, resources={"gpu": 1}),
    }
    named = (target.registered, target.lost, target.kills, target.draining, target.refused)
    assert named == ({1, 2}, {4}, {3}, {5}, {7})
    assert target.host_tasks == {0: {"10.88.1.7": 12}}


def test_the_report_of_the_page() -> None:
    """The documented report is what is sent for its values."""
    message = REPORT["gone"]["4"]["message"]
    report = Report({4: Loss(Cause.OOM, message, True, 137)}, frozenset({7}), (0, 10), None)
    assert protocol.report_body(report, REPORT["tag"]) == REPORT


def test_fields_that_are_not_known_are_left_alone() -> None:
    """A newer jar may say more, in the state and in its profiles."""
    more = changed(mood="good", profiles={"0": {**STATE["profiles"]["0"], "tasks": 3}})
    assert protocol.target_of(more).profiles == {0: Profile(cores=2, memory=2048)}


def test_what_may_be_absent() -> None:
    """A state that names nothing but itself is one of a driver that wants nothing."""
    few = {name: STATE[name] for name in ("version", "session", "revision", "phase", "applicationId")}
    target = protocol.target_of(few)
    assert (target.executors, target.registered, target.dynamic) == ({}, frozenset(), False)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"version": 2}, "version 2 of the protocol, and this allocator version 1"),
        ({"version": None}, "version None"),
        ({"session": ""}, "session: found '', expected a text"),
        ({"revision": 0}, "revision: found 0, expected a whole number from 1 on"),
        ({"revision": True}, "revision: found True"),
        ({"phase": "starting"}, 'phase: found \'starting\', expected "running" or "stopped"'),
        ({"targets": [1]}, "targets: found [1], expected an object"),
        ({"targets": {"0": -1}}, "targets.0: found -1"),
        ({"targets": {"0": 1.5}}, "targets.0: found 1.5"),
        ({"targets": {"x": 1}}, "targets: found 'x', expected ids of digits"),
        ({"targets": {"\u0663": 1}}, "expected ids of digits"),
        ({"kills": ["-1"]}, "kills: found '-1'"),
        ({"kills": [3]}, "kills: found 3"),
        ({"kills": ["2147483648"]}, "kills: found '2147483648'"),
        ({"registered": "1"}, "registered: found '1', expected a list"),
        ({"dynamic": "yes"}, "dynamic: found 'yes', expected true or false"),
        ({"profiles": {"0": {"memoryMiB": "1g"}}}, "profiles.0.memoryMiB: found '1g'"),
        ({"hostTasks": {"0": {"h": None}}}, "hostTasks.0.h: found None"),
        ({"session": ["x" * 100]}, "..."),
    ],
)
def test_what_is_not_understood(fields: dict[str, Any], expected: str) -> None:
    """The message names the field, what was found and what was expected."""
    with pytest.raises(Misunderstood, match=re.escape(expected)):
        protocol.target_of(changed(**fields))


@pytest.mark.parametrize("body", [None, [], "state", 1])
def test_what_is_no_state_at_all(body: Any) -> None:
    """Any JSON may come."""
    with pytest.raises(Misunderstood, match=r"the state: found .* expected an object"):
        protocol.target_of(body)


def test_bounds() -> None:
    """None with static allocation; an absent maximum is unbounded."""
    assert protocol.bounds(Settings(dynamic=False, minimum=1)) is None
    unbounded = Report(bounds=protocol.bounds(Settings(dynamic=True, minimum=1)))
    assert protocol.report_body(unbounded, "t")["bounds"] == {"minimum": 1}
    assert protocol.report_body(Report(), "t")["bounds"] is None


def test_an_exit_code_that_is_not_known_is_left_out() -> None:
    """The jar reads an absent one as unknown."""
    body = protocol.report_body(Report({1: Loss(Cause.DELETED, "deleted")}), "t")
    assert body["gone"] == {"1": {"cause": "deleted", "byApplication": False, "message": "deleted"}}
