"""The messages between the scheduler jar and the allocator: as docs/design/protocol.md has them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sparkgen.codes import Code, Hindrance, unmarked
from sparkgen.runtime.allocator.driver import protocol
from sparkgen.runtime.allocator.driver.protocol import BadMessage, DriverReport, NodeReport
from sparkgen.runtime.allocator.values.observed import Cause, Loss
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverPhase, Profile, TokenFailure

PAGE = Path(__file__).parents[4] / "docs" / "design" / "protocol.md"
EXAMPLES = re.findall(r"```json\n(.*?)```", PAGE.read_text(), re.DOTALL)
STATE, REPORT = (json.loads(text) for text in EXAMPLES[:2])  # client mode has more of them


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
    assert target.host_tasks == {0: {"worker-3.example.org": 12}}
    assert target.token_failures == (TokenFailure("hadoopfs", 1795500000, 3, 1795521600),)


def test_the_report_of_the_page() -> None:
    """The documented report is what is sent for its values."""
    _, message = unmarked(REPORT["gone"]["4"]["message"])
    loss = Loss(Cause.OOM, message, True, 137)
    nodes = {"worker-3": NodeReport((1, 2), ("10.0.0.13",))}
    data = (("datanode-0", "worker-3"),)
    report = DriverReport({4: loss}, frozenset({7}), (0, 10), None, nodes, data, hold=True)
    assert protocol.report_body(report, REPORT["tag"]) == REPORT
    failed = DriverReport(failure=Hindrance(Code.FORBIDDEN, "no executor can start", "no right"))
    assert protocol.report_body(failed, "t")["failure"] == "[Forbidden] no executor can start: no right"


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
        ({"version": 2}, "protocol version 2, but this allocator speaks version 1"),
        ({"version": None}, "version None"),
        ({"session": ""}, "session must be a string of 1 to 253 characters, not ''"),
        ({"revision": 0}, "revision must be a whole number from 1 to 9223372036854775807, not 0"),
        ({"revision": True}, ", not True"),
        ({"phase": "starting"}, 'phase must be "running" or "stopped", not \'starting\''),
        ({"targets": [1]}, "targets must be an object, not a list of 1"),
        ({"targets": {"0": -1}}, "targets.0 must be a whole number from 0 to 2147483647, not -1"),
        ({"targets": {"0": 1.5}}, "targets.0 must be a whole number from 0 to 2147483647, not 1.5"),
        ({"targets": {"x": 1}}, "an ID in targets must be a string of digits, such as \"7\", not 'x'"),
        ({"targets": {"\u0663": 1}}, "an ID in targets must be a string of digits"),
        ({"kills": ["-1"]}, "an ID in kills must be a string of digits, such as \"7\", not '-1'"),
        ({"kills": [3]}, 'an ID in kills must be a string of digits, such as "7", not 3'),
        ({"kills": ["2147483648"]}, ", not '2147483648'"),
        ({"registered": "1"}, "registered must be a list of executor IDs, not '1'"),
        ({"dynamic": "yes"}, "dynamic must be true or false, not 'yes'"),
        (
            {"profiles": {"0": {"memoryMiB": "1g"}}},
            "profiles.0.memoryMiB must be a whole number from 0 to 2147483647, not '1g'",
        ),
        (
            {"hostTasks": {"0": {"h": None}}},
            "hostTasks.0.h must be a whole number from 0 to 2147483647, not None",
        ),
        ({"session": "x" * 100 + "y" * 200}, "session must be a string of 1 to 253 characters, not 'xxxx"),
        ({"session": ["x" * 100]}, "session must be a string of 1 to 253 characters, not a list of 1"),
        (
            {"targets": {"0": 2**31}},
            "targets.0 must be a whole number from 0 to 2147483647, not 2147483648",
        ),
        ({"targets": {"9" * 5000: 1}}, "an ID in targets must be a string of digits"),
        ({"revision": 10**4000}, ", not a number beyond 64 bits"),
        (
            {"targets": {str(id_): 1 for id_ in range(1001)}},
            "targets must have at most 1000 entries, not 1001",
        ),
        (
            {"profiles": {str(id_): {} for id_ in range(1001)}},
            "profiles must have at most 1000 entries, not 1001",
        ),
        (
            {"lost": [str(id_) for id_ in range(30_000)], "kills": [str(id_) for id_ in range(30_000)]},
            "entries, not 600",
        ),
        ({"hostTasks": {"0": {str(host): 1 for host in range(50_001)}}}, "entries, not 50001"),
        ({"hostTasks": {"0": {"h" * 254: 1}}}, "hostTasks.0 must be a string of 1 to 253 characters, not"),
        (
            {"profiles": {"0": {"resources": {str(name): 1 for name in range(21)}}}},
            "profiles.0.resources must have at most 20 entries, not 21",
        ),
        ({"profiles": {"1": {"memoryMiB": 2**31}}}, ", not 2147483648"),
    ],
)
def test_what_is_not_understood(fields: dict[str, Any], expected: str) -> None:
    """The message names the field, what was found and what was expected."""
    with pytest.raises(BadMessage, match=re.escape(expected)):
        protocol.target_of(changed(**fields))


@pytest.mark.parametrize("body", [None, [], "state", 1])
def test_what_is_no_state_at_all(body: Any) -> None:
    """Any JSON may come."""
    with pytest.raises(BadMessage, match=r"the state must be an object, not "):
        protocol.target_of(body)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff", b"[" * 100_000, b'{"version": ' + b"9" * 5000 + b"}"],
    ids=["nothing", "half", "no UTF-8", "nested", "digits"],
)
def test_a_body_that_is_no_json(body: bytes) -> None:
    """User code can send any bytes: it is told so."""
    with pytest.raises(BadMessage, match="the state is not JSON"):
        protocol.state_in(body)


def test_texts_are_fit_for_logs_and_labels() -> None:
    """Terminal escapes and halves of surrogate pairs end no log, and reach no terminal."""
    target = protocol.state_in(json.dumps(changed(applicationId="a\x1b[2J\ud800")).encode())
    assert target.application_id == "a\ufffd[2J\ufffd"


def test_bounds() -> None:
    """None with static allocation; where the document names no maximum, the one that holds then."""
    assert protocol.bounds(AllocationSettings(dynamic=False, minimum=1)) is None
    unbounded = DriverReport(bounds=protocol.bounds(AllocationSettings(dynamic=True, minimum=1)))
    assert protocol.report_body(unbounded, "t")["bounds"] == {"minimum": 1, "maximum": 1000}
    assert protocol.report_body(DriverReport(bounds=(1, None)), "t")["bounds"] == {"minimum": 1}
    assert protocol.report_body(DriverReport(), "t")["bounds"] is None


def test_an_exit_code_that_is_not_known_is_left_out() -> None:
    """The jar reads an absent one as unknown."""
    body = protocol.report_body(DriverReport({1: Loss(Cause.DELETED, "deleted")}), "t")
    assert body["gone"] == {"1": {"cause": "deleted", "byApplication": False, "message": "[Deleted] deleted"}}
