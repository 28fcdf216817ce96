"""Whole rounds, on a real directory and a cluster made of values: each way in which a driver may go."""

from __future__ import annotations

import json
import re
import threading
import tracemalloc
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sparkgen.jsonvalue import decode, decode_object
from sparkgen.runtime.janitor import cluster, status
from sparkgen.runtime.janitor.disk import Disk
from sparkgen.runtime.janitor.rounds import Janitor, JanitorPorts
from sparkgen.runtime.janitor.status import metrics_text, status_body
from sparkgen.runtime.janitor.values import DriversAnswer, JanitorSettings, Owner
from sparkgen.runtime.kubernetes.answers import AnswerTooLarge, CallFailed, Reply
from sparkgen.runtime.kubernetes.transport import ApiCalls
from tests.unit.deep import MANAGED, as_json

A, B = Owner("team", "uid-a"), Owner("team", "uid-b")
PATH = "/api/v1/namespaces/team/pods"


@dataclass
class Server:
    """An API server: the drivers of the namespace "team", and what goes wrong."""

    phases: dict[str, str] = field(default_factory=dict)
    page: int = 500
    refusal: Reply | None = None
    breaks_after: int | None = None
    """Pages that are answered before the connection breaks."""
    asked: list[dict[str, str]] = field(default_factory=list)

    def call(self, method: str, path: str, query: Mapping[str, str] | None = None, body: Any = None) -> Reply:
        """A list in pages."""
        assert (method, path, body) == ("GET", PATH, None)
        asked = dict(query or {})
        assert asked["labelSelector"] == "spark-role=driver"
        self.asked.append(asked)
        if self.refusal:
            return self.refusal
        start = int(asked.get("continue", 0))
        if self.breaks_after is not None and start >= self.breaks_after * self.page:
            raise CallFailed("the connection broke", sent=True)
        uids = sorted(self.phases)
        shown = uids[start : start + self.page]
        items = [{"metadata": {"uid": uid}, "status": {"phase": self.phases[uid]}} for uid in shown]
        more = str(start + self.page) if start + self.page < len(uids) else ""
        return Reply(200, {"kind": "PodList", "metadata": {"continue": more}, "items": items})

    @contextmanager
    def stream(self, path: str, query: Mapping[str, str], silence: float) -> Any:
        """Nothing is watched."""
        raise AssertionError(path)
        yield

    def close(self) -> None:
        """Nothing is open."""


@dataclass
class Node:
    """A node with a janitor: its directory, the clock, and what the janitor says."""

    folder: Path
    server: Server
    settings: JanitorSettings = field(default_factory=JanitorSettings)
    now: float = 1000.0
    said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """The janitor restarts: what it remembered is lost."""
        calls: ApiCalls = self.server
        ports = JanitorPorts(
            Disk([self.folder]), lambda name: cluster.drivers(calls, name), lambda: self.now, self.said.append
        )
        self.janitor = Janitor(ports, self.settings)

    def make(self, *owners: Owner) -> None:
        """Applications write."""
        for owner in owners:
            (self.folder / owner.folder).mkdir()
            (self.folder / owner.folder / "shuffle.data").write_text("data")

    def rounds(self, seconds: float) -> None:
        """Rounds for so long."""
        end = self.now + seconds
        while self.now < end:
            self.janitor.round()
            self.now += 30
        self.janitor.round()

    def left(self) -> set[str]:
        """What is in the directory."""
        return {path.name for path in self.folder.iterdir()}


@pytest.fixture(autouse=True)
def half_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk of whoever plays these tests may be full, which the janitor would see."""
    monkeypatch.setattr(Disk, "used", lambda _: 0.5)


@pytest.fixture
def node(tmp_path: Path) -> Node:
    """A node on which two applications run."""
    made = Node(tmp_path, Server({A.uid: "Running", B.uid: "Pending"}))
    made.make(A, B)
    made.rounds(600)
    assert made.left() == {A.folder, B.folder}
    return made


@pytest.mark.parametrize("phase", ["Succeeded", "Failed", None], ids=["completed", "failed", "deleted"])
def test_a_driver_that_is_gone(node: Node, phase: str | None) -> None:
    """Completed, failed (evicted and out of memory, too), or deleted: its files go after the grace."""
    if phase:
        node.server.phases[A.uid] = phase
    else:
        del node.server.phases[A.uid]
    node.rounds(270)
    assert node.left() == {A.folder, B.folder}
    node.rounds(60)
    assert node.left() == {B.folder}
    assert node.said[-1].startswith(f"removed {A.folder}: its driver has been gone for 3")


def test_an_evicted_driver_and_the_one_that_follows_it(node: Node) -> None:
    """The Job makes another pod, with another UID: the files of the first one go, its own stay."""
    node.server.phases[A.uid] = "Failed"
    follower = Owner("team", "uid-a2")
    node.server.phases[follower.uid] = "Running"
    node.make(follower)
    node.rounds(400)
    assert node.left() == {B.folder, follower.folder}


def test_a_node_that_was_rebooted(node: Node) -> None:
    """Its directory is as it was; one driver went with it, and one runs elsewhere."""
    node.server.phases[A.uid] = "Failed"
    node.now = 5.0  # the monotonic clock restarts, and so does the janitor
    node.restart()
    node.rounds(400)
    assert node.left() == {B.folder}


def test_a_janitor_that_was_away(node: Node) -> None:
    """What it missed it sees as it is: level, not edges. The grace begins when it is back."""
    del node.server.phases[A.uid]
    node.now += 100_000
    node.restart()
    node.rounds(270)
    assert A.folder in node.left()
    node.rounds(60)
    assert node.left() == {B.folder}


@pytest.mark.parametrize(
    "refusal",
    [
        Reply(500, {"message": "etcd"}),
        Reply(410, {"reason": "Expired"}),
        Reply(401, {}),
        Reply(200, {"kind": "Status"}),
    ],
)
def test_without_an_answer_nothing_goes(node: Node, refusal: Reply) -> None:
    """For ever, and however full the disk is."""
    node.settings = JanitorSettings(pressure=0.0)
    node.restart()
    node.server.refusal = refusal
    node.rounds(3000)
    assert node.left() == {A.folder, B.folder}
    assert "sparkgen_janitor_faults_total" in metrics_text(node.janitor)
    assert len([line for line in node.said if "unknown" in line]) == 1


def test_a_list_that_breaks_off_is_no_list(node: Node) -> None:
    """The driver would have been on the second page."""
    node.server.page, node.server.breaks_after = 1, 1
    node.rounds(3000)
    assert node.left() == {A.folder, B.folder}
    node.server.breaks_after = None
    node.rounds(3000)
    assert node.left() == {A.folder, B.folder}
    assert any("continue" in asked for asked in node.server.asked)


def test_a_right_that_is_gone(node: Node) -> None:
    """The application was removed with its RoleBinding: a day later its files go."""
    node.server.refusal = Reply(403, {"message": "pods is forbidden"})
    node.rounds(86_000)
    assert node.left() == {A.folder, B.folder}
    node.rounds(1000)
    assert node.left() == set()


def test_a_dry_run_removes_nothing_and_says_what_it_would(tmp_path: Path) -> None:
    """Once for each application."""
    node = Node(tmp_path, Server(), JanitorSettings(dry_run=True))
    node.make(A)
    node.rounds(1000)
    assert node.left() == {A.folder}
    assert [line for line in node.said if "would remove" in line] == [
        f"would remove {A.folder}: its driver has been gone (dry run)"
    ]


def test_pressure_ends_with_the_first_that_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The longest finished goes; the disk is well then, and the other has its grace."""
    node = Node(tmp_path, Server({A.uid: "Succeeded", B.uid: "Running"}))
    node.make(A, B)
    node.janitor.round()
    node.server.phases[B.uid] = "Failed"
    node.now += 30
    node.janitor.round()
    full = lambda _: 0.95 if (tmp_path / A.folder).exists() else 0.5  # noqa: E731 - the disk in one line
    monkeypatch.setattr(Disk, "used", full)
    node.janitor.round()
    assert node.left() == {B.folder}
    assert 'removed_total{kind="pressure"} 1' in metrics_text(node.janitor)


def test_nothing_on_the_disk_is_no_call(tmp_path: Path) -> None:
    """A hundred idle nodes ask the API server nothing."""
    node = Node(tmp_path, Server())
    node.rounds(300)
    assert node.server.asked == []


def test_a_thousand_applications_leave_nothing(tmp_path: Path) -> None:
    """Neither on the disk nor in memory."""
    node = Node(tmp_path, Server(), JanitorSettings(grace=0))
    for number in range(1000):
        owner = Owner("team", f"uid-{number}")
        node.make(owner)
        node.server.phases = {owner.uid: "Running"}
        if number % 50 == 0:
            node.janitor.round()
    node.server.phases = {}
    node.rounds(30)
    assert node.left() == set()
    assert status_body(node.janitor, node.now)["applications"] == []


def test_a_disk_that_cannot_be_read_is_told(node: Node) -> None:
    """And the next round tries again."""
    stop = threading.Event()
    node.janitor = Janitor(
        JanitorPorts(
            Disk([node.folder / "none"]),
            lambda _: cluster.Drivers(DriversAnswer.WHOLE),
            lambda: 0.0,
            lambda line: stop.set() or node.said.append(line),
        ),
        JanitorSettings(),
    )
    node.janitor.run(stop)
    assert "cannot read the service's directories" in node.said[-1]


def test_the_page_names_every_metric(tmp_path: Path) -> None:
    """And no other."""
    node = Node(tmp_path, Server(refusal=Reply(500, {})))
    node.make(A)
    node.rounds(0)
    page = (Path(__file__).parents[4] / "docs" / "shuffle-service.md").read_text()
    given = re.findall(r"^# TYPE (\S+)", metrics_text(node.janitor), re.MULTILINE)
    assert sorted(re.findall(r"^\| `(sparkgen_janitor_\w+)`", page, re.MULTILINE)) == sorted(given)


def test_the_state_of_all(node: Node) -> None:
    """What /status tells of each application."""
    node.server.phases[A.uid] = "Succeeded"
    node.rounds(0)
    node.now += 60
    body = status_body(node.janitor, node.now)
    assert [(entry["driver"], entry["state"]) for entry in body["applications"]] == [
        (A.uid, "finished"),
        (B.uid, "running"),
    ]
    assert body["applications"][0]["finishedFor"] == 60
    assert 'sparkgen_janitor_applications{state="running"} 1' in metrics_text(node.janitor)


class Troubled:
    """A disk on which one application goes wrong in a way that nobody thought of."""

    def __init__(self, disk: Disk, method: str, error: Exception) -> None:
        self.disk, self.method, self.error = disk, method, error

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.disk, name)

        def call(*arguments: Any) -> Any:
            if name == self.method and A.folder in str(arguments) + getattr(arguments[0], "folder", ""):
                raise self.error
            return found(*arguments)

        return call


@pytest.mark.parametrize("method", ["is_held", "discard", "remove"])
@pytest.mark.parametrize("error", [OSError(5, "I/O error"), RecursionError("too deep"), UnicodeError("name")])
def test_what_goes_wrong_with_one_is_its_own(tmp_path: Path, method: str, error: Exception) -> None:
    """Of any kind, at any step: the other's files go, and all of it is told."""
    node = Node(tmp_path, Server(), JanitorSettings(grace=0))
    node.make(A, B)
    files: Any = Troubled(Disk([tmp_path]), method, error)
    ports = JanitorPorts(
        files, lambda name: cluster.drivers(node.server, name), lambda: node.now, node.said.append
    )
    node.janitor = Janitor(ports, node.settings)
    node.rounds(100)
    (left,) = node.left()
    assert left.endswith(A.folder)
    assert any(A.folder in line and str(error) in line for line in node.said)
    kind = "lock" if method == "is_held" else "remove"
    assert node.janitor.faults[kind] >= 1
    assert f'faults_total{{kind="{kind}"}}' in metrics_text(node.janitor)
    if method == "remove":
        assert "sparkgen_janitor_stuck 1" in metrics_text(node.janitor)
        (stuck,) = status_body(node.janitor, node.now)["stuck"]
        assert stuck["name"] == f".trash-{A.folder}"
        assert str(error) in stuck["why"]


def test_what_is_stuck_is_told_once_and_tried_again(tmp_path: Path) -> None:
    """Every five minutes; when it goes, that is told, too."""
    node = Node(tmp_path, Server(), JanitorSettings(grace=0))
    node.make(A)
    trouble: Any = Troubled(Disk([tmp_path]), "remove", OSError(13, "Permission denied"))
    ports = JanitorPorts(
        trouble, lambda name: cluster.drivers(node.server, name), lambda: node.now, node.said.append
    )
    node.janitor = Janitor(ports, node.settings)
    node.rounds(800)
    assert node.janitor.faults["remove"] == 3
    assert len([line for line in node.said if "cannot remove" in line]) == 1
    trouble.method = ""
    node.rounds(300)
    assert node.left() == set()
    assert node.said[-1] == f"removed {A.folder}: its driver has been gone for 0 s"
    assert "sparkgen_janitor_stuck 0" in metrics_text(node.janitor)


@pytest.mark.parametrize("error", [OSError("disk"), RuntimeError("no list"), RecursionError()])
def test_a_namespace_whose_list_goes_wrong_is_its_own(tmp_path: Path, error: Exception) -> None:
    """Nothing is concluded of it; another one's files go."""
    node = Node(tmp_path, Server(), JanitorSettings(grace=0))
    other = Owner("broken", "uid-c")
    node.make(A, other)

    def drivers(name: str) -> cluster.Drivers:
        if name == "broken":
            raise error
        return cluster.drivers(node.server, name)

    ports = JanitorPorts(Disk([tmp_path]), drivers, lambda: node.now, node.said.append)
    node.janitor = Janitor(ports, node.settings)
    node.rounds(60)
    assert node.left() == {other.folder}


def test_a_round_that_breaks_off_is_told_and_no_round(tmp_path: Path) -> None:
    """Whatever it was; the next one is made all the same."""
    node, stop = Node(tmp_path, Server()), threading.Event()
    rounds = 0

    class Broken(Disk):
        def look(self, _: object = ()) -> Any:
            nonlocal rounds
            rounds += 1
            node.now += 400
            if rounds == 3:
                stop.set()
            raise ValueError("nobody thought of it")

    ports = JanitorPorts(
        Broken([tmp_path]), lambda _: cluster.Drivers(DriversAnswer.WHOLE), lambda: node.now, node.said.append
    )
    node.janitor = Janitor(ports, JanitorSettings(interval=0.01))
    node.janitor.run(stop)
    assert node.said == ["a round failed: ValueError: nobody thought of it"] * 3
    assert node.janitor.silence == 1200
    assert "sparkgen_janitor_seconds_since_round 1200" in metrics_text(node.janitor)


def test_namespaces_that_somebody_made_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The API server is asked about a bounded number in each round; the real one is, in every one."""
    node = Node(tmp_path, Server({A.uid: "Running"}), JanitorSettings(grace=0))
    node.make(A)
    node.janitor.round()
    monkeypatch.setattr(status, "MOST", 100)
    for number in range(300):
        (tmp_path / f"made-up-{number}_uid").mkdir()
    asked: list[str] = []

    def drivers(name: str) -> cluster.Drivers:
        asked.append(name)
        return (
            cluster.Drivers(DriversAnswer.WHOLE, frozenset({A.uid}))
            if name == "team"
            else cluster.Drivers(DriversAnswer.DENIED)
        )

    ports = JanitorPorts(Disk([tmp_path]), drivers, lambda: node.now, node.said.append)
    node.janitor = Janitor(ports, node.settings)
    for _ in range(15):
        before = len(asked)
        node.now += 30
        node.janitor.round()
        assert len(asked) - before <= 64
    assert len(set(asked)) == 301
    first = asked.index("team")
    assert asked[first:].count("team") >= 15 - first // 64 - 1
    body = status_body(node.janitor, node.now)
    assert len(body["applications"]) == 100
    assert body["notShown"] == 201


def test_an_api_server_that_does_not_answer_does_not_hold_up_the_round(tmp_path: Path) -> None:
    """Each list takes its half minute: a round has a minute for them."""
    node = Node(tmp_path, Server())
    for number in range(50):
        node.make(Owner(f"team-{number}", "uid"))

    def drivers(_: str) -> cluster.Drivers:
        node.now += 30
        return cluster.Drivers(DriversAnswer.UNKNOWN, why="the API server did not answer in time")

    ports = JanitorPorts(Disk([tmp_path]), drivers, lambda: node.now, node.said.append)
    node.janitor = Janitor(ports, node.settings)
    began = node.now
    node.janitor.round()
    assert node.now - began <= 90


def test_a_list_without_end_is_no_list() -> None:
    """An API server that always has the same page next."""

    class Endless(Server):
        def call(self, *_: Any, **__: Any) -> Reply:
            self.asked.append({})
            return Reply(200, {"kind": "PodList", "metadata": {"continue": "more"}, "items": []})

    server = Endless()
    found = cluster.drivers(server, "team")
    assert found.answer is DriversAnswer.UNKNOWN
    assert found.why == "the API server's list does not end"
    assert len(server.asked) == 2


def test_a_page_that_is_too_large_is_asked_for_in_smaller_ones() -> None:
    """Five hundred drivers take more than an answer may have; if one alone does, nothing is known."""

    class Large(Server):
        most = 100

        def call(self, method: str, path: str, query: Any = None, body: Any = None) -> Reply:
            """Pods of which only some may be read at once."""
            self.page = int(query["limit"])
            if self.page > self.most:
                raise AnswerTooLarge("more than 12 MiB", sent=True)
            return super().call(method, path, query, body)

    phases = {f"uid-{number}": "Running" for number in range(450)}
    found = cluster.drivers(Large(phases), "team")
    assert (found.answer, found.running) == (DriversAnswer.WHOLE, frozenset(phases))
    Large.most = 0
    found = cluster.drivers(Large(phases), "team")
    assert (found.answer, found.why) == (DriversAnswer.UNKNOWN, "more than 12 MiB")


def test_large_pods_of_one_namespace_do_not_end_the_janitor_of_all() -> None:
    """The container has 256 Mi: what a pod has many of, by its author's wish, is dropped pod by pod."""
    pod = {
        "metadata": {"uid": "u"},
        "spec": {"imagePullSecrets": [{}] * 20_000},
        "status": {"phase": "Failed"},
    }
    text = json.dumps({"kind": "PodList", "metadata": {"continue": "c"}, "items": [pod] * 10})
    tracemalloc.start()
    kept = decode(text, cluster.trim_decoded)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000  # all of them together take 16 MB
    item = {"metadata": {"uid": "u"}, "status": {"phase": "Failed"}}
    assert kept == {"kind": "PodList", "metadata": {"continue": "c"}, "items": [item] * 10}


def test_one_deep_driver_does_not_end_the_janitor_of_a_namespace() -> None:
    """Kubernetes stores managedFields of 10,000 levels."""
    pod = {"metadata": {"uid": "u", "managedFields": MANAGED}, "spec": {}, "status": {"phase": "Running"}}
    body = decode_object(as_json({"kind": "PodList", "metadata": {}, "items": [pod]}), cluster.trim_decoded)
    assert cluster.drivers(Server(refusal=Reply(200, body)), "team").running == {"u"}


@pytest.mark.parametrize(
    "pod", [{"metadata": {}, "spec": {}}, {"metadata": {"uid": "u"}, "spec": {}, "status": "odd"}]
)
def test_a_reduced_pod_that_is_odd_is_still_no_list(pod: Mapping[str, Any]) -> None:
    """Nothing is concluded from it."""
    body = decode(json.dumps({"kind": "PodList", "metadata": {}, "items": [pod]}), cluster.trim_decoded)
    server = Server(refusal=Reply(200, body))
    assert cluster.drivers(server, "team").answer is DriversAnswer.UNKNOWN
