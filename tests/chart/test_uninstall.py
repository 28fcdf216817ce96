"""The program that removes a release's runs: what it asks for, and who never gets its token."""

from __future__ import annotations

import importlib.util
import io
import json
import ssl
import threading
import tracemalloc
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.unit.deep import FIELDS, wide

PROGRAM = Path(__file__).parents[2] / "charts" / "spark-app" / "files" / "uninstall.py"


class Server(ThreadingHTTPServer):
    """Answers everything alike. Keeps the headers of what was asked."""

    daemon_threads = True

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = status, {"Content-Length": str(len(body)), **headers}, body
        self.asked: list[dict[str, str]] = []

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server

    def do_GET(self) -> None:
        """Answer as told."""
        self.server.asked.append(dict(self.headers))
        status, headers, body = self.server.answer
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_DELETE = do_GET  # noqa: N815 - the name that BaseHTTPRequestHandler looks for

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(status: int, headers: dict[str, str] | None = None, body: bytes = b"{}") -> Iterator[Server]:
    """A server that gives one answer to everything."""
    with Server(status, headers or {}, body) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The program with an account's token, and without TLS."""
    spec = importlib.util.spec_from_file_location("uninstall", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "token").write_text("the-token")
    monkeypatch.setattr(module, "ACCOUNT", tmp_path)
    context = ssl.create_default_context()
    monkeypatch.setattr(ssl, "create_default_context", lambda **_: context)
    return module


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(program: Any, status: int) -> None:
    """Else whoever it names would get the account's token."""
    with serving(200) as other, serving(status, {"Location": f"{other.address}/x"}) as api:
        program.API = api.address
        with pytest.raises(SystemExit, match=f"error: GET /apis: {status}"):
            program.call("GET", "/apis")
        assert [asked["Authorization"] for asked in api.asked] == ["Bearer the-token"]
        assert other.asked == []


def test_deep_fields_need_little_memory(program: Any) -> None:
    """The hook's container has 256 MiB, and an answer 12."""
    text = wide(program.LEVELS)
    tracemalloc.start()
    assert program.shallow(text).count(b":null") == FIELDS
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * len(text)


def test_an_answer_that_is_no_text(program: Any) -> None:
    """It is told as far as it can be read."""
    with serving(500, body=b"\xff" * 500) as api:
        program.API = api.address
        with pytest.raises(SystemExit, match=r"^error: GET /apis: 500 \ufffd{300}$"):
            program.call("GET", "/apis")


def test_what_is_gone_is_no_error(program: Any) -> None:
    """Nor is an empty list."""
    with serving(404) as api:
        program.API = api.address
        assert program.call("GET", "/x") is None
    for empty in (b'{"items": []}', b'{"items": null, "metadata": {"resourceVersion": "1"}}', b"{}"):
        with serving(200, body=empty) as api:
            program.API = api.address
            assert program.owned("/x", "default", "pi") == {}
            assert program.running("default") == set()


def test_lists_leave_the_content_of_objects_with_the_server(program: Any) -> None:
    """A namespace has other people's ConfigMaps, too. A server that cannot do that sends whole objects."""
    own = {"meta.helm.sh/release-name": "pi", "meta.helm.sh/release-namespace": "default"}
    mine = {"name": "mine", "uid": "1", "annotations": own}
    items = [{"metadata": mine}, {"metadata": {"name": "a neighbour's", "uid": "2"}}]
    with serving(200, body=json.dumps({"kind": "PartialObjectMetadataList", "items": items}).encode()) as api:
        program.API = api.address
        assert {name: item["uid"] for name, item in program.owned("/x", "default", "pi").items()} == {
            "mine": "1"
        }
        [asked] = api.asked
    metadata, anything = asked["Accept"].split(",")
    assert metadata == "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    assert anything == "application/json"


def test_labels_of_a_neighbour_take_no_memory(program: Any) -> None:
    """A ConfigMap may have 60,000 of them, and several end a hook that keeps them."""
    own = {"meta.helm.sh/release-name": "pi", "meta.helm.sh/release-namespace": "default"}
    many = {f"l{number}": "" for number in range(1_000)}
    kept = {"name": "a", "uid": "1", "annotations": {**own, **many}, "labels": many, "finalizers": list(many)}
    large = {"metadata": {**kept, "ownerReferences": [{"name": name, "uid": name} for name in many]}}
    with serving(200, body=json.dumps({"items": [large], "metadata": {"continue": ""}}).encode()) as api:
        program.API = api.address
        assert program.call("GET", "/x")["items"] == [{"metadata": listed("1", own, list(many)[:5])}]
        assert list(program.owned("/x", "default", "pi")) == ["a"]


def test_a_neighbours_names_take_no_memory(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Owners have names of any length, and `<` comes as six bytes: fewer objects are asked for."""
    asked: list[int] = []
    large = r"\u003c" * (1 << 20)
    item = f'{{"metadata": {{"name": "a", "uid": "1", "ownerReferences": [{{"name": "{large}"}}]}}}}'

    def opened(_: Any, request: Any, timeout: int) -> io.BytesIO:
        limit = int(urllib.parse.parse_qs(urllib.parse.urlsplit(request.full_url).query)["limit"][0])
        asked.append(limit)
        return io.BytesIO(f'{{"items": [{", ".join([item] * limit)}]}}'.encode())

    monkeypatch.setattr(urllib.request.OpenerDirector, "open", opened)
    assert [one["name"] for one in program.listed("/x")] == ["a"]
    assert asked == [20, 5, 1]
    large *= 3
    item = item.replace("}]}", f', "owner": "{large}"}}]}}')
    with pytest.raises(SystemExit, match="one object has more than"):
        list(program.listed("/x"))


@pytest.mark.parametrize("levels", [5, 5_000, 200_000])
def test_a_neighbour_s_levels_are_cut(program: Any, levels: int) -> None:
    """Kubernetes stores managedFields of 10,000 levels, and Python reads fewer."""
    fields = '{"f:x\\"]":' * levels + "{}" + "}" * levels
    own = '{"meta.helm.sh/release-name": "pi", "meta.helm.sh/release-namespace": "default"}'
    item = f'{{"metadata": {{"managedFields": [{fields}], "name": "a", "uid": "1", "annotations": {own}}}}}'
    with serving(200, body=f'{{"items": [{item}], "metadata": {{"continue": ""}}}}'.encode()) as api:
        program.API = api.address
        assert [*program.owned("/x", "default", "pi")] == ["a"]


def test_labels_and_annotations_may_have_any_name(program: Any) -> None:
    """Whoever makes an object in the namespace chooses them, and none is the object's own field."""
    own = {"meta.helm.sh/release-name": "pi", "meta.helm.sh/release-namespace": "default"}
    odd = {"uid": "x", "ownerReferences": "x", "finalizers": "x", "metadata": "x"}
    mine = {"name": "mine", "uid": "1", "annotations": {**own, **odd}, "labels": odd}
    theirs = {"name": "theirs", "uid": "2", "annotations": odd, "labels": odd}
    items = [{"metadata": mine}, {"metadata": theirs}]
    with serving(200, body=json.dumps({"items": items}).encode()) as api:
        program.API = api.address
        assert list(program.owned("/x", "default", "pi")) == ["mine"]


def listed(uid: str, annotations: dict[str, str] | None = None, finalizers: Any = None) -> dict[str, Any]:
    """An object `a` as the program keeps it. With finalizers (also none): it is being deleted."""
    return {
        "name": "a",
        "uid": uid,
        "annotations": annotations or {},
        "deleting": finalizers is not None and annotations is None,
        "finalizers": finalizers or [],
        "foreground": "foregroundDeletion" in (finalizers or []),
        "owner": None,
    }


def test_only_what_was_listed_is_deleted(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What has got its name meanwhile stays, and is looked at again."""
    rounds = [{"a": listed("1")}, {"a": listed("1")}, {"a": listed("2")}, {}]
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(program, "owned", lambda *_: rounds.pop(0))
    monkeypatch.setattr(program, "call", lambda *what, body: asked.append((*what, body)))
    monkeypatch.setattr(program.time, "sleep", lambda _: None)
    program.remove("/jobs", "default", "pi", "Foreground")
    assert asked == [
        ("DELETE", "/jobs/a", {"propagationPolicy": "Foreground", "preconditions": {"uid": uid}})
        for uid in ("1", "2")
    ]
    with serving(409) as api:
        program.API = api.address
        assert program.call("DELETE", "/jobs/a", body={}) is None


class Namespace:
    """A namespace with an object `a`, and a clock that sleeping moves on.

    `finalizers`: what it has once it is deleted. `ends`: the second at which the last pod of it has ended.
    """

    def __init__(
        self, program: Any, monkeypatch: pytest.MonkeyPatch, *finalizers: str, ends: int = 0
    ) -> None:
        self.now, self.finalizers, self.ends = 0, finalizers, ends
        self.deleted = ""
        monkeypatch.setattr(program, "call", self.call)
        monkeypatch.setattr(program.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(program.time, "sleep", self.sleep)

    def sleep(self, seconds: int) -> None:
        """Let time pass."""
        self.now += seconds

    def call(self, method: str, path: str, query: Any = None, body: Any = None) -> Any:
        """What the API server answers."""
        if method == "DELETE":
            self.deleted = body["propagationPolicy"]
            return None
        if path.endswith("/pods"):
            wanted = "status.phase!=Succeeded,status.phase!=Failed,spec.nodeName!="
            assert (query["labelSelector"], query["fieldSelector"]) == ("sparkgen.dev/run,job-name", wanted)
            return {"items": [{"metadata": {"owner": "1"}}] if self.now < self.ends else []}
        item = listed("1", None, list(self.finalizers) if self.deleted else None)
        item["annotations"] = {
            "meta.helm.sh/release-name": "pi",
            "meta.helm.sh/release-namespace": "default",
        }
        return {"items": [{"metadata": item}]}


@pytest.mark.parametrize("path", ["/jobs", "/configmaps"])
def test_a_finalizer_of_somebody_is_not_waited_for(
    program: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], path: str
) -> None:
    """The object remains until the finalizer is removed, and the log says so."""
    namespace = Namespace(program, monkeypatch, "example.com/keep")
    program.remove(path, "default", "pi", "Foreground" if path == "/jobs" else "Background")
    assert namespace.now == 1
    kind = path[1:]
    assert capsys.readouterr().out == (
        f"deleting {kind}/a\n{kind}/a remains until its finalizers are removed: example.com/keep\n"
    )


def test_a_driver_is_waited_for_and_not_what_else_keeps_its_job(
    program: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Such as a finalizer of its pod, which has ended."""
    namespace = Namespace(program, monkeypatch, "foregroundDeletion", ends=60)
    program.remove("/jobs", "default", "pi", "Foreground")
    assert (namespace.now, namespace.deleted) == (60, "Foreground")
    assert "jobs/a remains until its finalizers are removed: foregroundDeletion" in capsys.readouterr().out
    early = Namespace(program, monkeypatch, "foregroundDeletion")
    program.remove("/jobs", "default", "pi", "Foreground")
    assert early.now == program.SETTLED_SECONDS + 1, "the Job's controller may just have created a pod"


def test_dependents_of_a_configmap_are_not_waited_for(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody may make an object that it owns."""
    namespace = Namespace(program, monkeypatch, "foregroundDeletion", ends=1000)
    program.remove("/configmaps", "default", "pi")
    assert (namespace.now, namespace.deleted) == (1, "Background")


def test_a_driver_that_does_not_end_is_an_error(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """For example, on a node that is lost."""
    Namespace(program, monkeypatch, "foregroundDeletion", ends=1000)
    with pytest.raises(SystemExit, match=r"^error: not gone after 240 s: a$"):
        program.remove("/jobs", "default", "pi", "Foreground")


def test_the_owner_of_a_pod_is_its_controller(program: Any) -> None:
    """Other owners do not run it."""
    owners = [{"uid": "1", "name": "x"}, {"uid": "2", "controller": True}]
    pods = {"items": [{"metadata": {"name": "p", "uid": "3", "ownerReferences": owners}}]}
    with serving(200, body=json.dumps(pods).encode()) as api:
        program.API = api.address
        assert program.running("default") == {"2"}
