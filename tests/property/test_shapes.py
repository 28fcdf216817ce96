"""Laws of answers of a cluster: what Kubernetes sends is kept as it is, and nothing else ends a command."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.cluster import shapes
from sparkgen.cluster.channel import Call
from sparkgen.cluster.connection import Cluster
from sparkgen.cluster.errors import ClusterError
from sparkgen.cluster.place import Chosen
from sparkgen.cluster.shapes import completed, conforming
from sparkgen.errors import SparkgenError
from sparkgen.live import find, rows
from sparkgen.live.table import HISTORY, STATUS, table, value

ROOT = Path(__file__).parents[2]
RENDERED = [
    item
    for path in sorted((ROOT / "tests" / "golden" / "examples").rglob("*.yaml"))
    for item in yaml.load_all(path.read_text("utf-8"), Loader=yaml.CSafeLoader)
    if isinstance(item, dict) and "metadata" in item
]
NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
ODD = (None, 5, [], {}, "x", True, 1e308, -1, [None], [[]], {"": None}, "2026-11-26T12:00:00")
LABELS = {
    "sparkgen.dev/application": "pi",
    "sparkgen.dev/run": "pi-1a2b3c4d",
}
TIME = "2026-11-26T11:00:00Z"


def pod(name: str, role: str, owner: Mapping[str, str], **status: Any) -> dict[str, Any]:
    """A pod of a run."""
    return {
        "metadata": {
            "name": name,
            "namespace": "ns",
            "uid": f"uid-{name}",
            "creationTimestamp": TIME,
            "labels": {**LABELS, "sparkgen.dev/role": role},
            "ownerReferences": [{**owner, "controller": True}],
        },
        "spec": {"nodeName": "n", "containers": [{"name": "spark-kubernetes-driver", "image": "i"}]},
        "status": status,
    }


def ended(name: str, code: int) -> dict[str, Any]:
    """The status of a container that has ended."""
    end = {"exitCode": code, "reason": "Error", "finishedAt": TIME, "startedAt": TIME, "message": "m"}
    return {"name": name, "restartCount": 1, "state": {"terminated": end}, "lastState": {"terminated": end}}


JOB = {
    "metadata": {
        "name": "pi-1a2b3c4d", "namespace": "ns", "uid": "uid-job", "creationTimestamp": TIME,
        "labels": LABELS, "annotations": {"a": "b"},
    },
    "spec": {"backoffLimit": 1, "template": {"metadata": {"labels": LABELS}, "spec": {"containers": []}}},
    "status": {
        "failed": 1, "startTime": TIME, "conditions": [
            {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "m",
             "lastTransitionTime": TIME},
        ],
    },
}  # fmt: skip
CRON = {
    "metadata": {"name": "nightly", "namespace": "ns", "uid": "uid-cron", "creationTimestamp": TIME,
                 "labels": {"sparkgen.dev/application": "nightly"}},
    "spec": {"schedule": "0 1 * * *",
             "jobTemplate": {"metadata": {"labels": LABELS}, "spec": {"template": {}}}},
    "status": {"lastScheduleTime": TIME},
}  # fmt: skip
DEPLOYMENT = {
    "metadata": {"name": "stream", "namespace": "ns", "uid": "uid-dep", "creationTimestamp": TIME,
                 "labels": {"sparkgen.dev/application": "stream"}},
    "spec": {"replicas": 1, "template": {"metadata": {"labels": LABELS}, "spec": {"containers": [
        {"name": "spark-kubernetes-driver", "ports": [{"name": "connect", "containerPort": 15002}]}]}}},
    "status": {"conditions": [{"type": "Available", "status": "False"}]},
}  # fmt: skip
DRIVER = pod(
    "pi-driver", "driver", {"kind": "Job", "name": "pi-1a2b3c4d", "uid": "uid-job"},
    phase="Failed", containerStatuses=[ended("spark-kubernetes-driver", 1)],
    initContainerStatuses=[ended("allocator", 3)],
    conditions=[{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3"}],
)  # fmt: skip
PENDING = pod(
    "stream-x", "driver", {"kind": "ReplicaSet", "name": "stream", "uid": "uid-rs"}, phase="Pending",
    containerStatuses=[
        {"name": "spark-kubernetes-driver", "state": {"waiting": {"reason": "ImagePullBackOff"}}}
    ],
)  # fmt: skip
EXECUTOR = pod(
    "pi-exec-1", "executor", {"kind": "Pod", "name": "pi-driver", "uid": "uid-pi-driver"}, phase="Pending"
)
EVENT = {
    "metadata": {"name": "e", "namespace": "ns", "creationTimestamp": TIME},
    "involvedObject": {"kind": "Pod", "name": "pi-driver", "uid": "uid-pi-driver"},
    "reason": "FailedScheduling", "message": "m", "type": "Warning", "count": 3, "lastTimestamp": TIME,
}  # fmt: skip
LISTS = {
    "jobs": [JOB], "cronjobs": [CRON], "deployments": [DEPLOYMENT],
    "pods": [DRIVER, PENDING, EXECUTOR], "events": [EVENT],
}  # fmt: skip


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values in a value."""
    inner: Sequence[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        inner = [*value.items()]
    elif isinstance(value, list):
        inner = [*enumerate(value)]
    return [at, *(path for key, one in inner for path in places(one, (*at, key)))]


PLACES = [path for path in places(LISTS) if path]


def changed(value: Any, changes: Mapping[tuple[Any, ...], Any], at: tuple[Any, ...] = ()) -> Any:
    """The value with some of its parts replaced."""
    if at in changes:
        return changes[at]
    if isinstance(value, dict):
        return {key: changed(one, changes, (*at, key)) for key, one in value.items()}
    if isinstance(value, list):
        return [changed(one, changes, (*at, index)) for index, one in enumerate(value)]
    return value


class Answered:
    """An answer of the server."""

    status = 200

    def __init__(self, data: bytes) -> None:
        self.data = data

    def stream(self, *_: Any, **__: Any) -> list[bytes]:
        """The data in one piece."""
        return [self.data]


class Server:
    """Answers lists by their plural, and logs with a text."""

    server = "https://api.example.com"

    def __init__(self, lists: Any) -> None:
        self.lists = lists

    def send(self, call: Call) -> Answered:
        """The answer to a request."""
        plural = call.path.rpartition("/")[2]
        if plural == "log":
            return Answered(b"line\n")
        found = self.lists.get(plural, []) if isinstance(self.lists, dict) else self.lists
        return Answered(json.dumps({"kind": "List", "metadata": {}, "items": found}).encode())


def cluster(lists: Any) -> Cluster:
    """A connection to such a server."""
    return Cluster(Server(lists), Chosen("", "c", "ns"))  # type: ignore[arg-type]


def status(lists: Any) -> str:
    """What `sparkgen status` prints."""
    asked = cluster(lists)
    found = find.find(asked)
    shown = rows.rows(asked, found.applications, rows.every, NOW)
    lines = [
        line for columns in (STATUS, HISTORY) for line in table(shown, columns, NOW, wide=True, spaces=True)
    ]
    return "\n".join([*lines, json.dumps([value(row) for row in shown])])


def test_what_kubernetes_has_is_kept() -> None:
    """Every rendered object of the examples, byte for byte."""
    assert len(RENDERED) > 50
    for item in RENDERED:
        assert conforming(item) == item


@pytest.mark.parametrize("place", sorted(shapes.FREE))
def test_a_key_of_the_users_choice_may_have_the_name_of_any_field(place: str) -> None:
    """A label may be called `env`, and a file `template`: `run` copies them, and `diff` compares them."""
    chosen = dict.fromkeys([*shapes._TYPES, *shapes._LISTS, *shapes.FREE], "text")
    item = {
        "kind": "Job",
        "metadata": {"name": "pi", place: chosen},
        "spec": {place: chosen, "template": {"spec": {"affinity": [{"selector": {"matchLabels": chosen}}]}}},
    }
    assert conforming(item) == item
    assert shapes.shortened(item, shapes.Room(1_000_000)) == item


def test_what_is_too_deep_for_kubernetes_is_dropped() -> None:
    """Anybody's managedFields may have thousands of levels; nobody who reads or copies the object fails."""
    for deep in (lambda inner: {"f:a": inner}, lambda inner: [inner]):
        value: Any = "end"
        for _ in range(800):
            value = deep(value)
        kept = conforming({"metadata": {"name": "a", "managedFields": value}, "spec": {"a": "b"}})
        assert len(json.dumps(completed(kept))) < 1000
        assert kept["spec"] == {"a": "b"}


def test_the_objects_of_this_test_are_right() -> None:
    """Each of them is shown."""
    printed = status(LISTS)
    assert all(name in printed for name in ("pi", "nightly", "stream"))


@given(st.dictionaries(st.sampled_from(PLACES), st.sampled_from(ODD), min_size=1, max_size=4))
def test_no_answer_ends_in_an_internal_error(changes: dict[tuple[Any, ...], Any]) -> None:
    """Whatever a server puts in place of any value, the rest is shown, or it is said what is wrong."""
    try:
        printed = status(changed(LISTS, changes))
    except SparkgenError as error:
        printed = str(error)
    assert printed


@pytest.mark.parametrize(
    "data", [b"", b"<html>", b"[]", b"5", b"[" * 100_000, b"\xff"], ids=lambda data: repr(data[:6])
)
def test_an_answer_that_is_no_object_is_told(data: bytes) -> None:
    """A proxy's page, or anything else that is no JSON object."""

    class Odd(Server):
        def send(self, call: Call) -> Answered:
            return Answered(data)

    asked = Cluster(Odd({}), Chosen("", "c", "ns"))  # type: ignore[arg-type]
    with pytest.raises(ClusterError, match="sends something other than Kubernetes does"):
        asked.list("v1", "Pod")


def test_a_list_without_an_end_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server may always say that there is more."""

    class Endless(Server):
        def send(self, call: Call) -> Answered:
            return Answered(b'{"items": [], "metadata": {"continue": "x"}}')

    monkeypatch.setattr("sparkgen.cluster.connection.MAX_PAGES", 3)
    asked = Cluster(Endless({}), Chosen("", "c", "ns"))  # type: ignore[arg-type]
    with pytest.raises(ClusterError, match="a list that does not end"):
        asked.list("v1", "Pod")
