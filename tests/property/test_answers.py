"""A law of the connection to a cluster: an answer is what Kubernetes sends, or one error in words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sparkgen.cluster import shapes
from sparkgen.cluster.channel import Answer, Call, Refused
from sparkgen.cluster.connection import ApplyResult, Cluster
from sparkgen.cluster.errors import ClusterError
from sparkgen.cluster.place import Chosen
from tests.property.test_shapes import CRON, DEPLOYMENT, DRIVER, EVENT, JOB, ODD, TIME, changed, places

GONE = "(gone)"
GIVEN = {"uid": "uid-x", "creationTimestamp": TIME}
MANAGED = {"manager": "m", "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:a": {}}}}
OBJECTS = (
    {**JOB, "apiVersion": "batch/v1", "kind": "Job"},
    {**CRON, "apiVersion": "batch/v1", "kind": "CronJob"},
    {**DEPLOYMENT, "apiVersion": "apps/v1", "kind": "Deployment"},
    {**DRIVER, "apiVersion": "v1", "kind": "Pod"},
    {**EVENT, "apiVersion": "v1", "kind": "Event", "metadata": {**EVENT["metadata"], "uid": "uid-event"}},
    {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "s", "namespace": "ns", **GIVEN, "managedFields": [MANAGED]},
        "data": {"a": "Yg=="},
    },
    {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "ns", **GIVEN},
        "spec": {"finalizers": ["kubernetes"]},
    },
)
FIELDS = sorted({*shapes._TYPES, *shapes.FREE, "items", "object", "status", "resources", "state", "fieldsV1"})
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(ODD),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


def damaged(value: Any) -> st.SearchStrategy[Any]:
    """The value with others in up to four of its places, or without them."""
    paths = st.sampled_from(places(value))
    return st.dictionaries(paths, VALUES | st.just(GONE), max_size=4).map(
        lambda changes: without_gone(changed(value, changes))
    )


def without_gone(value: Any) -> Any:
    """The value without the fields and items that are gone."""
    if isinstance(value, dict):
        return {key: without_gone(one) for key, one in value.items() if one is not GONE}
    return [without_gone(one) for one in value if one is not GONE] if isinstance(value, list) else value


class Answered:
    """An answer of the server, in pieces."""

    def __init__(self, status: int, data: bytes) -> None:
        self.status = status
        self.data = data

    def stream(self, *_: Any, **__: Any) -> Iterator[bytes]:
        """The data in two pieces."""
        half = len(self.data) // 2
        yield from (self.data[:half], self.data[half:])

    def close(self) -> None:
        """Nothing is open."""


class Server:
    """Gives one answer to everything."""

    server = "https://api.example.com"

    def __init__(self, status: int, data: bytes) -> None:
        self.status = status
        self.data = data

    def send(self, call: Call) -> Answer:
        """The answer. Raises Refused for a status that refuses."""
        if not 200 <= self.status <= 299:
            raise Refused(self.status, "no", self.data)
        return Answered(self.status, self.data)


Item = dict[str, Any]
VERBS: dict[str, Callable[[Cluster, Item], Any]] = {
    "get": lambda cluster, item: cluster.get(item["apiVersion"], item["kind"], "a"),
    "has": lambda cluster, item: cluster.has(item["apiVersion"], item["kind"], "a"),
    "data_keys": lambda cluster, item: cluster.data_keys(item["kind"], "a"),
    "knows": lambda cluster, item: cluster.knows(item["apiVersion"], item["kind"]),
    "version": lambda cluster, item: cluster.version(),
    "list": lambda cluster, item: cluster.list(item["apiVersion"], item["kind"]),
    "list, brief": lambda cluster, item: cluster.list(item["apiVersion"], item["kind"], brief=True),
    "apply": lambda cluster, item: cluster.apply(item),
    "create": lambda cluster, item: cluster.create(item),
    "patch": lambda cluster, item: cluster.patch(item, {"spec": {}}),
    "watch": lambda cluster, item: [*cluster.watch(item, 1)],
    "delete": lambda cluster, item: cluster.delete(item),
    "log": lambda cluster, item: cluster.log("a", "b"),
    "follow": lambda cluster, item: [*cluster.follow("a", "b")],
}
"""Name of a method -> a call of it."""


def objects_in(result: Any) -> list[Item]:
    """The objects in what a method has returned."""
    if isinstance(result, ApplyResult):
        return [result.item]
    found = result if isinstance(result, list) else [result]
    return [one.get("object", one) for one in found if isinstance(one, dict)]


def assert_right(item: Item, asked: Item) -> None:
    """The object is of the kind that was asked for, and as the API server would have stored it."""
    api_version, kind = asked["apiVersion"], asked["kind"]
    assert (item["apiVersion"], item["kind"]) == (api_version, kind)
    assert shapes.received(item, api_version, kind) == item
    for key in ("name", "uid", "creationTimestamp", *(("namespace",) if kind != "Namespace" else ())):
        assert isinstance(item["metadata"][key], str)
    if kind in ("Job", "Deployment"):
        assert isinstance(item["spec"]["template"]["spec"], dict)
    assert isinstance(item.get("status", {}), dict)


def test_every_public_method_is_here() -> None:
    """Except for `forward`, which reads no JSON."""
    public = {name for name in vars(Cluster) if not name.startswith("_")}
    assert public == {name.partition(",")[0] for name in VERBS} | {"forward"}


@pytest.mark.parametrize("verb", VERBS)
@given(
    asked=st.sampled_from(OBJECTS),
    answer=st.one_of(
        st.binary(max_size=20),
        VALUES,
        *(damaged(one) for one in OBJECTS),
        *(damaged({"kind": "List", "items": [one], "metadata": {}}) for one in OBJECTS),
        *(damaged({"type": "MODIFIED", "object": one}) for one in OBJECTS),
    ),
    status=st.sampled_from((200, 200, 201, 403, 404, 500)),
)
@example(asked=OBJECTS[0], answer={**OBJECTS[0], "status": []}, status=200)
@example(asked=OBJECTS[0], answer={"metadata": {"name": "a"}}, status=200)
@example(asked=OBJECTS[0], answer={"kind": "Job", "metadata": []}, status=201)
@example(asked=OBJECTS[0], answer={"type": [], "object": {"metadata": {"name": "a"}}}, status=200)
def test_an_answer_is_right_or_an_error_in_words(verb: str, asked: Item, answer: Any, status: int) -> None:
    """Nothing that a server sends is an internal error, or an object that no API server has stored."""
    data = answer if isinstance(answer, bytes) else f"{json.dumps(answer)}\n".encode()
    cluster = Cluster(Server(status, data), Chosen("", "c", "ns"))
    try:
        items = objects_in(VERBS[verb](cluster, asked))
    except ClusterError:
        items = []
    for item in items:
        assert_right(item, asked)


@pytest.mark.parametrize("verb", ["get", "apply", "create", "patch"])
@pytest.mark.parametrize("key", ["name", "namespace", "uid", "creationTimestamp"])
def test_an_object_without_what_each_has_is_told(verb: str, key: str) -> None:
    """In the words that a page of a proxy gets."""
    job = OBJECTS[0]
    metadata = {name: text for name, text in job["metadata"].items() if name != key}
    answer = json.dumps({**job, "metadata": metadata}).encode()
    with pytest.raises(ClusterError, match="sends something other than Kubernetes does"):
        VERBS[verb](Cluster(Server(200, answer), Chosen("", "c", "ns")), job)
