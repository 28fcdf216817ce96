"""The audit log as values."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from cluster import audit

USER = "system:serviceaccount:team:driver"


def line(verb: str = "create", second: int = 1, user: str = USER, stage: str = "ResponseComplete") -> str:
    """A line of the log, as the API server writes it at level Metadata."""
    event = {
        "stage": stage,
        "verb": verb,
        "user": {"username": user},
        "requestURI": "/api/v1/namespaces/team/pods",
        "objectRef": {"resource": "pods", "namespace": "team", "name": "exec-1", "apiVersion": "v1"},
        "responseStatus": {"code": 201},
        "requestReceivedTimestamp": f"2026-01-02T03:04:0{second}.123456Z",
        "stageTimestamp": f"2026-01-02T03:04:0{second}.654321Z",
    }
    return json.dumps(event) + "\n"


def test_a_call_is_read_whole() -> None:
    """When it came and was answered, in UTC; who, what, where, and the answer."""
    came = datetime(2026, 1, 2, 3, 4, 1, 123456, tzinfo=UTC)
    answered = datetime(2026, 1, 2, 3, 4, 1, 654321, tzinfo=UTC)
    call = audit.Call(came, answered, USER, "create", "pods", "", "team", "exec-1", 201)
    assert audit.parse([line()]) == [call]


def test_a_call_to_no_object_is_named_by_its_address() -> None:
    """Discovery and health calls have no object."""
    text = json.dumps({**json.loads(line("get")), "objectRef": None, "requestURI": "/version"})
    event = {name: value for name, value in json.loads(text).items() if name != "objectRef"}
    (call,) = audit.parse([json.dumps(event) + "\n"])
    assert (call.resource, call.namespace, call.name) == ("/version", "", "")


def test_a_watch_counts_once() -> None:
    """It is written down at its start and at its end."""
    lines = [line("watch", stage="ResponseStarted"), line("watch", second=5)]
    assert [call.time.second for call in audit.parse(lines)] == [1]


def test_half_a_last_line_is_left_out() -> None:
    """The API server may be writing it just now."""
    assert len(audit.parse([line(), line()[:40]])) == 1


def test_only_the_account_s_calls_from_the_asked_time_on_count() -> None:
    """Another namespace's account of the same name is another account."""
    lines = [line(second=1), line(second=2), line(second=3, user="system:serviceaccount:other:driver")]
    calls = audit.parse(lines)
    since = datetime(2026, 1, 2, 3, 4, 2, tzinfo=UTC)
    assert [call.time.second for call in audit.made_by(calls, "team", "driver")] == [1, 2]
    assert [call.time.second for call in audit.made_by(calls, "team", "driver", since)] == [2]
