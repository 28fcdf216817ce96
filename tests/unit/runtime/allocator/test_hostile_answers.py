"""What a broken or hostile API server, a proxy, or another's pod can answer: nothing of it ends the process.

Answers are built from a recorded pod in which some values are replaced by any JSON. Whatever comes, a list
and a watch give values or end with a reason, writes give outcomes, and decisions and words follow from them.
"""

from __future__ import annotations

import base64
import copy
import io
import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sparkgen.codes import Code
from sparkgen.runtime.allocator.decide.decide import decide
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.observe.parse_pods import event_of_line
from sparkgen.runtime.allocator.observe.view import PodView
from sparkgen.runtime.allocator.pods.kubernetes_backend import KubernetesBackend
from sparkgen.runtime.allocator.report import log_lines
from sparkgen.runtime.allocator.report.log import Log
from sparkgen.runtime.allocator.report.notices import notices
from sparkgen.runtime.allocator.values.actions import ActionOutcome, Create, Delete
from sparkgen.runtime.allocator.values.backend import WatchEnded, WatchEvent
from sparkgen.runtime.allocator.values.memory import AllocatorMemory
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverTarget
from sparkgen.runtime.kubernetes.answers import Answer, CallFailed, Reply
from sparkgen.runtime.kubernetes.transport import LineSource
from tests.unit.runtime.allocator.recorded_pods import ATTEMPT, FOLDER, executor

TEMPLATE = {"metadata": {}, "spec": {"containers": [{"name": "spark-kubernetes-executor"}]}}
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
ESC, SURROGATE = "\x1b[2J", "\udc80"

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(10**30, 10**31)
    | st.floats()
    | st.text(st.characters(codec=None), max_size=8)
    | st.sampled_from(["", "0", "9" * 400, SURROGATE, ESC, "True", "uid-7"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def paths(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value."""
    yield above
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, (*above, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from paths(inner, (*above, index))


def put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The value with another one at a place, where that is still there."""
    if not path:
        return new
    if isinstance(value, dict) and path[0] in value:
        return {**value, path[0]: put(value[path[0]], path[1:], new)}
    if isinstance(value, list) and isinstance(path[0], int) and path[0] < len(value):
        return [*value[: path[0]], put(value[path[0]], path[1:], new), *value[path[0] + 1 :]]
    return value


@st.composite
def spoiled(draw: st.DrawFn, wrap: Callable[[Any], Any]) -> Any:
    """A good answer about a recorded pod, with up to four of its values replaced by any JSON."""
    body = wrap(executor(draw(st.sampled_from(NAMES)), 7))
    places = sorted(paths(body), key=repr)
    for place in draw(st.lists(st.sampled_from(places), max_size=4)):
        body = put(body, place, draw(JSON))
    return body


def page(*pods: Any, **metadata: Any) -> dict[str, Any]:
    """A whole list, as the API server writes it."""
    return {"kind": "PodList", "metadata": {"resourceVersion": "9", **metadata}, "items": list(pods)}


def shown(pod: Any, kind: str = "MODIFIED") -> dict[str, Any]:
    """An event of a watch, as the API server writes it."""
    pod = copy.deepcopy(pod)
    pod["metadata"]["resourceVersion"] = "10"
    return {"type": kind, "object": pod}


@dataclass(eq=False)
class Given:
    """A transport (transport.ApiCalls) that gives these answers, the last one again and again."""

    replies: list[Reply] = field(default_factory=list)
    lines_: list[bytes] = field(default_factory=list)
    calls: list[tuple[str, str, Mapping[str, str]]] = field(default_factory=list)

    def call(self, method: str, path: str, query: Mapping[str, str] | None = None, body: Any = None) -> Reply:
        """The next answer."""
        self.calls.append((method, path, dict(query or {})))
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    def stream(
        self, path: str, query: Mapping[str, str], silence: float
    ) -> AbstractContextManager[LineSource | Reply]:
        """The lines."""
        return nullcontext(self)

    def lines(self) -> Iterator[bytes]:
        """Each line, and then the end; when there are no more, the connection breaks."""
        if not self.lines_:
            raise CallFailed("the connection broke", sent=True)
        lines, self.lines_ = self.lines_, []
        yield from lines

    def stop(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Nothing is open."""


def kube_with(given: Given) -> KubernetesBackend:
    """A KubernetesBackend that is given these answers; its clock goes on by itself, so that it gives up."""
    ticks = itertools.count(0.0, 7.0)
    kube = KubernetesBackend(
        given, ATTEMPT, TEMPLATE, clock=lambda: next(ticks), wall=lambda: 0.0, random=lambda: 0.0
    )
    kube._closed.wait = lambda _: False  # type: ignore[method-assign, assignment]
    return kube


def followed(view: PodView) -> None:
    """Decide on what is seen, and tell of it: none of that may fail."""
    target = DriverTarget(executors={0: 2}, session="s", application_id="app", registered=frozenset({7}))
    for asked in (DriverTarget(), target):
        decision = decide(
            view.snapshot(), asked, AllocatorMemory(), AllocationSettings(dynamic=True, maximum=3), 100.0
        )
        made = Round(100.0, view.snapshot(), asked, AllocationSettings(), decision)
        stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        for line in log_lines.lines(None, made, []):
            Log(stream, lambda: datetime.now(UTC)).write(line)
            Log(stream, lambda: datetime.now(UTC), as_json=True).write(line)
        for notice in notices(None, made):
            json.dumps(notice.hindrance.facts, ensure_ascii=False).encode()


@given(st.lists(spoiled(page) | JSON, min_size=1, max_size=2))
@example([[]])
@example([None])
@example([{"metadata": None, "items": None}])
@example([{"metadata": {"resourceVersion": "9"}}])
@example([{"kind": "PodList", "metadata": {"resourceVersion": "9"}, "items": [None]}])
@example([{"kind": "PodList", "metadata": {"resourceVersion": "9", "continue": "again"}, "items": []}])
@settings(max_examples=100, deadline=None)
def test_a_list_is_a_list_or_ends_with_a_reason(bodies: list[Any]) -> None:
    """Whatever the body is."""
    kube = kube_with(Given([Reply(200, body) for body in bodies]))
    listing, reason = None, ""
    try:
        listing = kube.list()
    except WatchEnded as end:
        reason = end.reason
    assert bool(reason) is (listing is None)
    if listing is not None:
        assert isinstance(listing.version, str)
        assert listing.version
        followed(PodView(ATTEMPT).with_list(listing, 1.0, 2.0))


@given(st.lists(spoiled(shown) | JSON, min_size=1, max_size=3))
@example([{"type": "MODIFIED", "object": None}])
@example([{"type": "ERROR", "object": None}])
@example([{"type": "ERROR", "object": [410]}])
@example([{"type": "BOOKMARK", "object": {"metadata": {}}}])
@example([{"type": ["ADDED"], "object": {"metadata": {"resourceVersion": "1"}}}])
@settings(max_examples=100, deadline=None)
def test_a_watch_shows_events_or_ends_with_a_reason(documents: list[Any]) -> None:
    """Whatever its lines are."""
    kube = kube_with(Given(lines_=[json.dumps(one).encode() for one in documents]))
    view = PodView(ATTEMPT)
    reason = ""
    try:
        for event in kube.watch("9"):
            assert isinstance(event, WatchEvent)
            view = view.with_event(event, 5.0)
    except WatchEnded as end:
        reason = end.reason
    assert reason
    followed(view)
    assert isinstance(view.version, str)


@pytest.mark.parametrize(
    "line",
    [b"[" * 100_000, b"\xff\xfe", b'{"type": ' + b"9" * 5000 + b"}", b"null", b"{}", b'"\\ud800"'],
    ids=["nested", "no UTF-8", "digits", "null", "empty", "surrogate"],
)
def test_a_line_that_no_reader_takes_is_a_fault(line: bytes) -> None:
    """Nesting without end, no UTF-8, a number of thousands of digits."""
    with pytest.raises((CallFailed, WatchEnded)):
        event_of_line(line, lambda _: True)


BODIES = spoiled(lambda pod: pod) | JSON
REPLIES = st.builds(
    Reply,
    st.sampled_from([200, 201, 202, 204, 301, 400, 401, 403, 404, 409, 410, 422, 429, 500, 503, 504]),
    BODIES
    | st.fixed_dictionaries({"reason": st.just("AlreadyExists") | JSON, "message": JSON, "details": JSON}),
    st.sampled_from(["", "1", "x", "9" * 30, "9" * 5000, "-1", "\u0661"]),
)


@given(st.lists(REPLIES, min_size=1, max_size=3))
@example([Reply(409, {"reason": "AlreadyExists"}), Reply(200, {})])
@example([Reply(409, {"reason": "AlreadyExists"}), Reply(200, {"metadata": {"ownerReferences": [None]}})])
@example([Reply(429, {"details": ["x"]})])
@example([Reply(200, {"metadata": None})])
@settings(max_examples=100, deadline=None)
def test_a_write_has_an_outcome(replies: list[Reply]) -> None:
    """Whatever it is answered: a creation, a deletion with and without a UID, a Secret, an Event."""
    for write in (Create(7, 0), Delete(7), Delete(7, "uid-7")):
        kube = kube_with(Given(list(replies)))
        outcome = kube.create(write) if isinstance(write, Create) else kube.delete(write)
        assert isinstance(outcome, ActionOutcome)
        assert outcome.retry_after is None or 0 <= outcome.retry_after <= 600
        assert len(str(outcome.hindrance)) <= 1000
    verdict = kube_with(Given(list(replies))).create_secret("secret")
    assert isinstance(verdict.answer, Answer)


def test_words_that_repeat_the_secret_are_dropped() -> None:
    """A webhook may quote the object that it denies; what it says otherwise is repeated."""
    secret = "0123456789abcdef" * 4
    encoded = base64.b64encode(secret.encode()).decode()
    for told, shown_ in (
        (f"denied the request: data {encoded}", False),
        (f"denied the request: stringData {secret[:20]}", False),
        ("denied the request: no label", True),
    ):
        found = kube_with(Given([Reply(403, {"message": told})])).create_secret(secret).hindrance
        assert found is not None
        assert found.code == Code.WEBHOOK_DENIED
        assert (told in str(found)) is shown_
        assert secret[:12] not in str(found)


def foreign(id_: int) -> dict[str, Any]:
    """A pod with an attempt's labels, and another owner."""
    pod = executor("running", id_)
    pod["metadata"]["ownerReferences"] = [{"uid": "of-somebody-else"}]
    return pod


def test_pods_of_others_are_not_kept() -> None:
    """They have our labels: nothing of them is in a list, and no round follows when they change."""
    kube = kube_with(Given([Reply(200, page(foreign(1), executor("running", 2), foreign(3)))]))
    assert [pod["metadata"]["name"] for pod in kube.list().pods] == [ATTEMPT.executor_name(2)]
    kube = kube_with(Given(lines_=[json.dumps(shown(foreign(1))).encode()]))
    assert next(iter(kube.watch("9"))) == WatchEvent("BOOKMARK", {}, "10")


def test_one_thing_that_is_no_pod_spoils_a_list() -> None:
    """What cannot be read may be an executor: that it is gone is not concluded."""
    kube = kube_with(Given([Reply(200, page(executor("running", 2), {"metadata": {"name": 7}}))]))
    with pytest.raises(WatchEnded, match="cannot list executors"):
        kube.list()
