"""KubernetesBackend and faults that no real API server gives on demand; the rest is in tests/e2e/allocator.

A small HTTP server on loopback answers each request by the next line of a script.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import queue
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sparkgen.codes import Code, Hindrance
from sparkgen.jsonvalue import decode
from sparkgen.runtime.allocator.observe.trim_pod import trim_decoded, trim_pod
from sparkgen.runtime.allocator.pods.driver_pod import DriverPod
from sparkgen.runtime.allocator.pods.kubernetes_backend import KubernetesBackend
from sparkgen.runtime.allocator.values.actions import Create, Delete
from sparkgen.runtime.allocator.values.backend import Notice, WatchEnded, WatchEvent
from sparkgen.runtime.allocator.values.target import Profile
from sparkgen.runtime.kubernetes.access import Access, NoCluster, in_cluster
from sparkgen.runtime.kubernetes.answers import Answer, CallFailed
from sparkgen.runtime.kubernetes.transport import Transport
from tests.unit.deep import MANAGED, as_json
from tests.unit.endless import ENDLESS, PAUSE
from tests.unit.runtime.allocator.recorded_pods import ATTEMPT, executor

TEMPLATE = {"metadata": {}, "spec": {"containers": [{"name": "spark-kubernetes-executor", "image": "spark"}]}}

Line = Callable[["Script"], None]


class Script(BaseHTTPRequestHandler):
    """Answers a request by the next line of the server's script."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # a packet waits for no acknowledgement of the one before
    server: Server

    def do_GET(self) -> None:
        """Play the next line."""
        length = int(self.headers.get("Content-Length") or 0)
        self.server.requests.append((self.command, self.path, self.rfile.read(length), dict(self.headers)))
        self.server.lines.get(timeout=10)(self)

    do_POST = do_DELETE = do_GET  # noqa: N815 - the names that BaseHTTPRequestHandler looks for

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """The lines to play, and the requests that came."""

    daemon_threads = True

    def __init__(self, *lines: Line, address: str = "127.0.0.1") -> None:
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.lines: queue.Queue[Line] = queue.Queue()
        self.requests: list[tuple[str, str, bytes, dict[str, str]]] = []
        for line in lines:
            self.lines.put(line)
        super().__init__((address, 0), Script)


def answer(status: int, body: Any = None, **headers: str) -> Line:
    """An answer as a whole."""

    def play(script: Script) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
        script.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            script.send_header(name.replace("_", "-"), value)
        script.end_headers()
        script.wfile.write(data)

    return play


def stream(*events: Any, then: Line | None = None) -> Line:
    """A watch: a chunk for each event, and then its end, or something else."""

    def play(script: Script) -> None:
        script.send_response(200)
        script.send_header("Transfer-Encoding", "chunked")
        script.end_headers()
        for event in events:
            data = event if isinstance(event, bytes) else json.dumps(event).encode() + b"\n"
            script.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        if then is None:
            script.wfile.write(b"0\r\n\r\n")
        else:
            then(script)

    return play


def cut(script: Script) -> None:
    """Close the connection in the middle."""
    script.connection.shutdown(socket.SHUT_RDWR)


def silence(script: Script) -> None:
    """Say nothing for longer than anybody waits here."""
    script.wfile.flush()
    time.sleep(3)


def added(id_: int, version: str) -> dict[str, Any]:
    """An event of a watch, as the API server writes it."""
    pod = executor("running", id_)
    pod["metadata"]["resourceVersion"] = version
    return {"type": "ADDED", "object": pod}


EXPIRED = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version: 1 (9)"}


@contextmanager
def playing(
    folder: Path, *lines: Line, address: str = "127.0.0.1", clock: Callable[[], float] = time.monotonic
) -> Iterator[tuple[KubernetesBackend, Server]]:
    """A KubernetesBackend that talks to a server with this script."""
    (folder / "token").write_text("first\n")
    server = Server(*lines, address=address)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    access = Access(address, server.server_address[1], folder / "token", None)
    kube = KubernetesBackend(
        Transport(access, read_timeout=0.4),
        ATTEMPT,
        TEMPLATE,
        clock=clock,
        wall=lambda: 0.0,
        random=lambda: 0.0,
        silence=0.4,
    )
    try:
        yield kube, server
    finally:
        kube.close()
        server.shutdown()
        server.server_close()


def test_a_busy_server_says_when_to_come_back(tmp_path: Path) -> None:
    """429 with Retry-After is BUSY, and carries the seconds."""
    with playing(tmp_path, answer(429, {"message": "slow down"}, Retry_After="7")) as (kube, _):
        outcome = kube.create(Create(5, 0))
    assert (outcome.answer, outcome.retry_after) == (Answer.BUSY, 7)
    assert (
        str(outcome.hindrance)
        == "cannot create an executor: the API server limits the rate of requests: slow down"
    )


def test_a_busy_server_is_heard_when_a_pod_is_looked_at(tmp_path: Path) -> None:
    """A deletion looks at a pod that it has not seen: a 429 there names the same time."""
    with playing(tmp_path, answer(429, {"message": "slow down"}, Retry_After="7")) as (kube, _):
        outcome = kube.delete(Delete(5))
    assert (outcome.answer, outcome.retry_after) == (Answer.BUSY, 7)


def test_a_connection_that_breaks_may_have_done_it(tmp_path: Path) -> None:
    """Cut, silent, and unreadable answers are LOST: the pod may be there."""
    with playing(tmp_path, cut, silence, answer(201, b"<html>")) as (kube, server):
        outcomes = [kube.create(Create(5, 0)) for _ in range(3)]
        assert len(server.requests) == 3
    assert [outcome.answer for outcome in outcomes] == [Answer.UNKNOWN] * 3
    assert "did not answer in time" in str(outcomes[1].hindrance)


def test_a_server_that_is_not_there_has_done_nothing(tmp_path: Path) -> None:
    """A refused connection is BUSY, for creation and deletion; a notice and a Secret raise nothing either."""
    with playing(tmp_path) as (kube, server):
        server.shutdown()
        server.server_close()
        outcomes = [kube.create(Create(5, 0)), kube.delete(Delete(5, "uid")), kube.delete(Delete(5))]
        assert not kube.record_event(Notice("Test", Hindrance(Code.DENIED, "message")))
        assert kube.create_secret("x").answer is Answer.BUSY
        with pytest.raises(WatchEnded, match="cannot be reached"):
            kube.list()
    assert [outcome.answer for outcome in outcomes] == [Answer.BUSY] * 3


def test_an_event_that_was_not_taken_is_worth_another_try(tmp_path: Path) -> None:
    """Too many calls, a fault of the server, a right that may yet come; not what no time will fix."""
    refusals = [answer(code, b"{}") for code in (429, 500, 403, 422, 201)]
    with playing(tmp_path, *refusals) as (kube, _):
        told = [kube.record_event(Notice("Test", Hindrance(Code.DENIED, "message"))) for _ in refusals]
    assert told == [False, False, False, True, True]


def test_what_the_drivers_own_pod_says(tmp_path: Path) -> None:
    """Its driver has ended, it is being deleted or evicted, is another, is gone; anything else is no end."""
    name = "spark-kubernetes-driver"

    def pod(*, uid: str = ATTEMPT.pod_uid, gone: bool = False, **status: Any) -> Line:
        metadata = {"name": ATTEMPT.pod_name, "uid": uid} | ({"deletionTimestamp": "now"} if gone else {})
        return answer(200, {"metadata": metadata, "spec": {}, "status": status})

    def container(state: str, name: str = name) -> dict[str, Any]:
        return {"phase": "Running", "containerStatuses": [{"name": name, "state": {state: {"exitCode": 1}}}]}

    disrupted = [{"type": "DisruptionTarget", "status": "True"}]
    expected = (
        (pod(**container("running")), DriverPod.RUNS),
        (pod(**container("waiting")), DriverPod.RUNS),
        (pod(**container("terminated", "another")), DriverPod.RUNS),
        (pod(), DriverPod.RUNS),
        (pod(**container("terminated")), DriverPod.ENDS),
        (pod(**container("running"), conditions=disrupted), DriverPod.ENDS),
        (pod(**container("running"), gone=True), DriverPod.ENDS),
        (pod(**container("running"), uid="of-another"), DriverPod.ENDS),
        (pod(phase="Failed"), DriverPod.ENDS),
        (answer(404, {}), DriverPod.ENDS),
        (answer(403, {}), DriverPod.UNKNOWN),
        (answer(500, {}), DriverPod.UNKNOWN),
        (answer(200, b"<html>"), DriverPod.UNKNOWN),
        (answer(200, {"metadata": []}), DriverPod.UNKNOWN),
        (cut, DriverPod.UNKNOWN),
    )
    with playing(tmp_path, *(line for line, _ in expected)) as (kube, server):
        assert [kube.driver_pod() for _ in expected] == [said for _, said in expected]
        assert all(path.endswith(f"/pods/{ATTEMPT.pod_name}") for _, path, _, _ in server.requests)


def test_a_proxys_page_is_a_message(tmp_path: Path) -> None:
    """What stands between us and the API server answers in HTML: its status counts, its text is shown."""
    with playing(tmp_path, answer(502, b"<html>bad gateway</html>")) as (kube, _):
        outcome = kube.create(Create(5, 0))
    assert outcome.answer is Answer.BUSY
    assert "<html>bad gateway</html>" in str(outcome.hindrance)


def test_a_profile_that_cannot_be_had_is_never_asked_for(tmp_path: Path) -> None:
    """A resource that nobody named is a permanent failure, and no request is sent."""
    with playing(tmp_path) as (kube, server):
        outcome = kube.create(Create(5, 1, Profile(resources={"gpu": 1})))
        assert not server.requests
    assert outcome.answer is Answer.PERMANENT
    assert "vendor" in str(outcome.hindrance)


def test_a_rotated_token_is_used_at_once(tmp_path: Path) -> None:
    """The kubelet writes a new token long before the old one expires; every call carries the newest."""
    with playing(tmp_path, answer(201), answer(201)) as (kube, server):
        kube.create(Create(1, 0))
        (tmp_path / "next").write_text("second\n")
        (tmp_path / "next").rename(tmp_path / "token")
        kube.create(Create(2, 0))
    assert [headers["Authorization"] for *_, headers in server.requests] == ["Bearer first", "Bearer second"]


def test_a_token_that_cannot_be_read_is_a_fault_in_words(tmp_path: Path) -> None:
    """A volume that is gone ends no thread: the action is told why it was not done."""
    with playing(tmp_path) as (kube, _):
        (tmp_path / "token").unlink()
        outcome = kube.create(Create(1, 0))
    assert outcome.answer is Answer.BUSY
    assert "cannot read the service account's files" in str(outcome.hindrance)


def test_a_list_comes_in_pages(tmp_path: Path) -> None:
    """Pages are put together; the version is the last page's, and nothing is asked of the server's cache."""
    first: dict[str, Any] = {"metadata": {"resourceVersion": "9", "continue": "more"}}
    last: dict[str, Any] = {"metadata": {"resourceVersion": "9"}, "items": [executor("running", 2)]}
    first["items"] = [executor("running", 1)]
    with playing(tmp_path, answer(200, first), answer(200, last)) as (kube, server):
        listing = kube.list()
    assert ([pod["metadata"]["uid"] for pod in listing.pods], listing.version) == (["uid-1", "uid-2"], "9")
    assert listing.pods == tuple(trim_pod(page["items"][0]) for page in (first, last))
    assert "continue=more" in server.requests[1][1]
    assert "resourceVersion" not in server.requests[0][1]


def huge(id_: int) -> dict[str, Any]:
    """A pod with our labels, of somebody else, as large as Kubernetes takes it."""
    pod = executor("running", id_)
    pod["metadata"]["ownerReferences"] = [{"uid": f"other-{number}"} for number in range(200)]
    pod["metadata"]["annotations"] = {"example.com/all": "x" * 200_000}
    return pod


def test_a_list_keeps_little_of_pods_that_claim_our_driver(tmp_path: Path) -> None:
    """Whoever may create pods can name our driver's pod among other owners, which fill this memory."""
    claims = [huge(id_) for id_ in range(1, 11)]
    for pod in claims:
        owners = [{"uid": f"{number:04}{'x' * 1000}"} for number in range(63)]
        pod["metadata"]["ownerReferences"] = [{"uid": ATTEMPT.pod_uid}, *owners]
    claims[0]["metadata"]["name"] = "named-as-no-executor"
    with playing(tmp_path, answer(200, {"metadata": {"resourceVersion": "9"}, "items": claims})) as (kube, _):
        listing = kube.list()
    assert len(listing.pods) == 9
    assert max(len(json.dumps(pod)) for pod in listing.pods) < 5_000


def hostile(id_: int) -> dict[str, Any]:
    """A pod of somebody else with our labels and names, and with what Kubernetes takes and we do not read."""
    pod = executor("running", id_)
    owners = [{"uid": "x" * 1025}, {"uid": "other"}]
    pod["metadata"] |= {"ownerReferences": owners, "managedFields": MANAGED, "resourceVersion": str(id_)}
    pod["status"]["reason"] = "y" * 2000
    return pod


def test_no_pod_of_others_spoils_a_list(tmp_path: Path) -> None:
    """An owner's UID without an end, managers of ten thousand levels, a reason of any length."""
    page = {"metadata": {"resourceVersion": "9"}, "items": [hostile(1), executor("running", 2)]}
    with playing(tmp_path, answer(200, as_json(page))) as (kube, _):
        assert [pod["metadata"]["uid"] for pod in kube.list().pods] == ["uid-2"]


def test_no_pod_of_others_ends_a_watch(tmp_path: Path) -> None:
    """Its version counts, and nothing else of it: a watch from the version before it shows it again."""
    foreign = as_json({"type": "ADDED", "object": hostile(5)}) + b"\n"
    with playing(tmp_path, stream(foreign, added(1, "10"), then=silence)) as (kube, server):
        events = kube.watch("1")
        shown = [next(events), next(events)]
        assert len(server.requests) == 1
    assert [(event.kind, event.version) for event in shown] == [("BOOKMARK", "5"), ("ADDED", "10")]


def test_an_executor_with_deep_managers_and_a_long_owner_is_read(tmp_path: Path) -> None:
    """Whoever may change our pods adds these to them: the executor is still there."""
    pod = hostile(1)
    del pod["status"]["reason"]
    pod["metadata"]["ownerReferences"].append({"uid": ATTEMPT.pod_uid})
    page = {"metadata": {"resourceVersion": "9"}, "items": [pod]}
    with playing(tmp_path, answer(200, as_json(page)), answer(200, as_json(pod))) as (kube, _):
        assert [one["metadata"]["uid"] for one in kube.list().pods] == ["uid-1"]
        assert kube._uid_of(ATTEMPT.executor_name(1)) == "uid-1"


def test_an_unreadable_executor_is_named(tmp_path: Path) -> None:
    """In a list and in a watch: that it is gone is not concluded, and somebody can delete it."""
    pod = executor("running", 1)
    pod["status"]["reason"] = "y" * 2000
    page = {"metadata": {"resourceVersion": "9"}, "items": [pod]}
    words = f"pod {ATTEMPT.executor_name(1)}: reason has 2000 characters, and the limit is 1024"
    ticks = iter(range(0, 10_000, 20))
    broken = stream(
        {"type": "ADDED", "object": pod | {"metadata": pod["metadata"] | {"resourceVersion": "3"}}}
    )
    with playing(tmp_path, answer(200, page), *[broken] * 4, clock=lambda: float(next(ticks))) as (kube, _):
        with pytest.raises(WatchEnded, match=words):
            kube.list()
        with pytest.raises(WatchEnded, match=words):
            next(kube.watch("1"))


def test_a_pod_of_others_with_an_executors_name_is_left_alone(tmp_path: Path) -> None:
    """Whatever is in it: it is neither deleted nor taken for the created one."""
    page = as_json(hostile(1))
    exists = answer(409, {"reason": "AlreadyExists"})
    with playing(tmp_path, answer(200, page), exists, answer(200, page)) as (kube, server):
        assert kube.delete(Delete(1)).answer is Answer.DONE
        assert kube.create(Create(1, 0)).answer is Answer.REFUSED
        assert [request[0] for request in server.requests] == ["GET", "POST", "GET"]


def test_a_page_of_unreadable_pods_takes_little_memory(tmp_path: Path) -> None:
    """Whose they are is kept of them, and nothing else."""
    pods = [huge(id_) for id_ in range(1, 21)]
    for pod in pods:
        pod["status"]["reason"] = "y" * 2000
    text = json.dumps({"metadata": {"resourceVersion": "9"}, "items": pods})
    tracemalloc.start()
    kept = decode(text, trim_decoded)
    size = tracemalloc.get_traced_memory()[0] / len(kept["items"])
    tracemalloc.stop()
    assert size < 40_000


def test_a_page_that_is_too_large_is_asked_for_in_smaller_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody's large pods with our labels: 500 of them are never read at once, and ours are found."""
    monkeypatch.setattr("sparkgen.runtime.kubernetes.transport.MAX_ANSWER", 500_000)
    items: list[Any] = [huge(1), huge(2), executor("running", 3)]
    whole = {"metadata": {"resourceVersion": "9"}, "items": items}
    part = {"metadata": {"resourceVersion": "9", "continue": "more"}, "items": items[:1]}
    last = {"metadata": {"resourceVersion": "9"}, "items": items[1:]}
    whole["items"] = [*items, *items]
    with playing(tmp_path, answer(200, whole), answer(200, part), answer(200, last)) as (kube, server):
        listing = kube.list()
    assert [pod["metadata"]["uid"] for pod in listing.pods] == ["uid-3"]
    assert ["limit=500" in path or "limit=50" in path for _, path, *_ in server.requests] == [True] * 3
    assert "continue=more" in server.requests[2][1]


def test_a_page_of_one_pod_that_is_too_large_is_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No server has such a pod; what answers in its place is not read on."""
    monkeypatch.setattr("sparkgen.runtime.kubernetes.transport.MAX_ANSWER", 100_000)
    with (
        playing(tmp_path, *[answer(200, b"[" * 1_000_000)] * 4) as (kube, _),
        pytest.raises(WatchEnded, match="the API server's answer has more than"),
    ):
        kube.list()


def test_a_page_of_large_pods_takes_little_memory(tmp_path: Path) -> None:
    """What nobody reads of a pod is dropped while the page is decoded: owners, annotations, managers."""
    body = {"metadata": {"resourceVersion": "9"}, "items": [huge(id_) for id_ in range(1, 21)]}
    text = json.dumps(body)
    tracemalloc.start()
    kept = decode(text, trim_decoded)
    size = tracemalloc.get_traced_memory()[0] / len(kept["items"])
    tracemalloc.stop()
    assert size < 40_000


@pytest.mark.parametrize(
    ("kind", "watches"), [*((kind, False) for kind in ENDLESS), ("continue", True), ("body", True)]
)
def test_an_answer_that_never_ends_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, watches: bool
) -> None:
    """A byte now and then keeps no thread forever, in a list, and before the first event of a watch."""
    monkeypatch.setattr("sparkgen.runtime.kubernetes.transport.WHOLE_TIMEOUT", 0.3)

    def drip(script: Script) -> None:
        first, again = ENDLESS[kind]
        with contextlib.suppress(OSError):
            script.wfile.write(first.replace(b"200 OK", b"403 Forbidden") if watches else first)
            while True:
                script.wfile.write(again)
                time.sleep(PAUSE)

    ticks = iter(range(0, 10_000, 20))
    with (
        playing(tmp_path, *[drip] * 4, clock=lambda: float(next(ticks))) as (kube, _),
        pytest.raises(WatchEnded, match=r"within 0\.3 s"),
    ):
        next(kube.watch("9")) if watches else kube.list()


def test_a_line_without_an_end_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A watch that shows one line forever is opened again, and then counts as one with a gap."""
    monkeypatch.setattr("sparkgen.runtime.kubernetes.response_body.MAX_ANSWER", 100_000)
    ticks = iter(range(0, 10_000, 20))
    endless = [stream(b"x" * 60_000, b"x" * 60_000, b"x" * 60_000, then=silence) for _ in range(4)]
    with (
        playing(tmp_path, *endless, clock=lambda: float(next(ticks))) as (kube, _),
        pytest.raises(WatchEnded, match="a line of the watch has more than"),
    ):
        next(kube.watch("9"))


def test_a_packed_answer_is_not_unpacked(tmp_path: Path) -> None:
    """Nobody asked for one, and a few bytes of it may be as much memory as there is."""
    body = gzip.compress(json.dumps({"metadata": {"resourceVersion": "9"}, "items": []}).encode())
    with (
        playing(tmp_path, answer(200, body, Content_Encoding="gzip")) as (kube, _),
        pytest.raises(WatchEnded, match="not a JSON object"),
    ):
        kube.list()


def test_a_list_that_fails_ends_with_words_and_a_pause(tmp_path: Path) -> None:
    """A list that expired, and a server that is busy: there is nothing to see, and why."""
    with playing(tmp_path, answer(410, EXPIRED), answer(429, {}, Retry_After="3")) as (kube, _):
        with pytest.raises(WatchEnded, match="no longer has that resourceVersion"):
            kube.list()
        with pytest.raises(WatchEnded, match="limits the rate") as ended:
            kube.list()
    assert ended.value.pause == 3


def test_a_right_that_does_not_come_is_hopeless(tmp_path: Path) -> None:
    """A list that is forbidden may be allowed within a minute, when the RoleBinding comes; not after it."""
    text = 'pods is forbidden: User "pi" cannot list resource "pods"'
    times = iter((100.0, 159.0, 161.0))
    lines = [answer(403, {"message": text})] * 3
    permanent = []
    with playing(tmp_path, *lines, clock=lambda: next(times)) as (kube, _):
        for _ in lines:
            with pytest.raises(WatchEnded) as ended:
                kube.list()
            assert ended.value.reason.code == Code.FORBIDDEN
            permanent.append(ended.value.permanent)
    assert permanent == [False, False, True]


def versions(events: Iterator[WatchEvent], count: int) -> list[str]:
    """The versions of the next events."""
    return [next(events).version for _ in range(count)]


def test_a_watch_goes_on_where_it_was(tmp_path: Path) -> None:
    """An end, a cut, silence and a busy server leave no gap: the watch goes on from the last version."""
    bookmark = {"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": {"resourceVersion": "30"}}}
    lines = (
        stream(added(1, "10"), added(2, "20")),
        stream(bookmark, then=cut),
        stream(added(3, "40"), then=silence),
        answer(503),
        stream(added(4, "50"), then=silence),
    )
    with playing(tmp_path, *lines) as (kube, server):
        assert versions(kube.watch("1"), 5) == ["10", "20", "30", "40", "50"]
    asked = [path.split("resourceVersion=")[1].split("&")[0] for _, path, *_ in server.requests]
    assert asked == ["1", "20", "30", "40", "40"]
    assert all("allowWatchBookmarks=true" in path for _, path, *_ in server.requests)


@pytest.mark.parametrize("line", [answer(410, EXPIRED), stream({"type": "ERROR", "object": EXPIRED})])
def test_a_forgotten_version_is_a_gap(tmp_path: Path, line: Line) -> None:
    """410, as status or within the stream, ends the watch: what happened since is not known."""
    with playing(tmp_path, line) as (kube, server):
        with pytest.raises(WatchEnded, match="no longer has that resourceVersion"):
            next(kube.watch("1"))
        assert len(server.requests) == 1


def test_a_forbidden_watch_ends_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal is asked about once more, as a server that has just started refuses too; then it is told."""
    monkeypatch.setattr("sparkgen.runtime.allocator.observe.watch_retry.PATIENCE", 0.1)
    denied = {"message": 'User "x" cannot watch resource "pods"', "reason": "Forbidden"}
    lines = [answer(403, denied)] * 2
    with playing(tmp_path, *lines) as (kube, _), pytest.raises(WatchEnded, match="RoleBinding"):
        next(kube.watch("1"))


def test_a_watch_that_stays_away_is_a_gap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When nobody answers for the patience, the view counts as one with a gap."""
    monkeypatch.setattr("sparkgen.runtime.allocator.observe.watch_retry.PATIENCE", 0.3)
    with playing(tmp_path) as (kube, server):
        server.shutdown()
        server.server_close()
        with pytest.raises(WatchEnded, match="cannot be reached"):
            next(kube.watch("1"))


def test_lines_are_put_together_across_chunks(tmp_path: Path) -> None:
    """A line may come in pieces, and pieces may hold several lines."""
    text = b"".join(json.dumps(added(id_, str(id_))).encode() + b"\n" for id_ in (1, 2, 3))
    lines = stream(text[:50], text[50:-60], text[-60:], then=silence)
    with playing(tmp_path, lines) as (kube, _):
        assert versions(kube.watch("0"), 3) == ["1", "2", "3"]


def test_a_line_that_is_no_event_opens_the_watch_anew(tmp_path: Path) -> None:
    """Garbage between us and the server costs a connection, not the view."""
    with playing(tmp_path, stream(added(1, "10"), b"garbage\n"), stream(added(2, "20"), then=silence)) as (
        kube,
        _,
    ):
        assert versions(kube.watch("1"), 2) == ["10", "20"]


def test_an_event_has_a_reduced_pod(tmp_path: Path) -> None:
    """And the version that the watch goes on from."""
    with playing(tmp_path, stream(added(1, "10"), then=silence)) as (kube, _):
        event = next(kube.watch("1"))
    assert (event.version, event.pod) == ("10", trim_pod(added(1, "10")["object"]))


def test_closing_wakes_a_watch(tmp_path: Path) -> None:
    """A watch that waits ends at once when the process has to end."""
    with playing(tmp_path, stream(added(1, "10"), then=lambda script: time.sleep(5))) as (kube, _):
        kube._silence = 60.0
        events = kube.watch("1")
        next(events)
        threading.Timer(0.2, kube.close).start()
        began = time.monotonic()
        assert list(events) == []
        assert time.monotonic() - began < 2


def test_an_ipv6_address_is_reached(tmp_path: Path) -> None:
    """KUBERNETES_SERVICE_HOST of an IPv6 cluster is a bare address."""
    try:
        with playing(tmp_path, answer(201), address="::1") as (kube, _):
            assert kube.create(Create(1, 0)).answer is Answer.DONE
    except OSError:
        pytest.skip("this machine has no IPv6")


def test_the_access_of_a_pod(tmp_path: Path) -> None:
    """Address from the environment, files from the mounted folder; what is missing is named."""
    with pytest.raises(NoCluster, match="KUBERNETES_SERVICE_HOST"):
        in_cluster({}, tmp_path)
    environment = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "6443"}
    with pytest.raises(NoCluster, match="token"):
        in_cluster(environment, tmp_path)
    for name in ("token", "ca.crt"):
        (tmp_path / name).write_text("x")
    assert in_cluster(environment, tmp_path) == Access(
        "fd00::1", 6443, tmp_path / "token", tmp_path / "ca.crt"
    )


def test_a_certificate_that_is_none_is_a_fault(tmp_path: Path) -> None:
    """A broken ca.crt sends nothing, and says which files cannot be used."""
    (tmp_path / "token").write_text("x")
    (tmp_path / "ca.crt").write_text("no certificate")
    transport = Transport(Access("127.0.0.1", 1, tmp_path / "token", tmp_path / "ca.crt"))
    with pytest.raises(CallFailed, match="service account's files") as fault:
        transport.call("GET", "/version")
    assert not fault.value.sent
