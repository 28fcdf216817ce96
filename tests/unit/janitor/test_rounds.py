"""Whole rounds, on a real directory and a cluster made of values: each way in which a driver may go."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sparkgen.allocator.answers import Fault, Reply
from sparkgen.allocator.transport import Calls
from sparkgen.janitor import cluster
from sparkgen.janitor.disk import Disk
from sparkgen.janitor.rounds import Janitor, Ports
from sparkgen.janitor.types import Answer, Owner, Settings

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
            raise Fault("the connection broke", sent=True)
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
    settings: Settings = field(default_factory=Settings)
    now: float = 1000.0
    said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """The janitor begins anew: what it remembered is lost."""
        calls: Calls = self.server
        ports = Ports(
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
    node.now = 5.0  # the monotonic clock begins anew, and so does the janitor
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
    node.settings = Settings(pressure=0.0)
    node.restart()
    node.server.refusal = refusal
    node.rounds(3000)
    assert node.left() == {A.folder, B.folder}
    assert "sparkgen_janitor_faults_total" in node.janitor.metrics()
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
    node = Node(tmp_path, Server(), Settings(dry_run=True))
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
    assert 'removed_total{kind="pressure"} 1' in node.janitor.metrics()


def test_nothing_on_the_disk_is_no_call(tmp_path: Path) -> None:
    """A hundred idle nodes ask the API server nothing."""
    node = Node(tmp_path, Server())
    node.rounds(300)
    assert node.server.asked == []


def test_a_thousand_applications_leave_nothing(tmp_path: Path) -> None:
    """Neither on the disk nor in memory."""
    node = Node(tmp_path, Server(), Settings(grace=0))
    for number in range(1000):
        owner = Owner("team", f"uid-{number}")
        node.make(owner)
        node.server.phases = {owner.uid: "Running"}
        if number % 50 == 0:
            node.janitor.round()
    node.server.phases = {}
    node.rounds(30)
    assert node.left() == set()
    assert node.janitor.body()["applications"] == []


def test_a_disk_that_cannot_be_read_is_told(node: Node) -> None:
    """And the next round tries again."""
    stop = threading.Event()
    node.janitor = Janitor(
        Ports(
            Disk([node.folder / "none"]),
            lambda _: cluster.Drivers(Answer.WHOLE),
            lambda: stop.set() or 0.0,
            node.said.append,
        ),
        Settings(),
    )
    node.janitor.run(stop)
    assert "the service's directories cannot be read" in node.said[-1]


def test_the_page_names_every_metric(tmp_path: Path) -> None:
    """And no other."""
    node = Node(tmp_path, Server(refusal=Reply(500, {})))
    node.make(A)
    node.rounds(0)
    page = (Path(__file__).parents[3] / "docs" / "shuffle-service.md").read_text()
    given = re.findall(r"^# TYPE (\S+)", node.janitor.metrics(), re.MULTILINE)
    assert sorted(re.findall(r"^\| `(sparkgen_janitor_\w+)`", page, re.MULTILINE)) == sorted(given)


def test_the_state_of_all(node: Node) -> None:
    """What /status tells of each application."""
    node.server.phases[A.uid] = "Succeeded"
    node.rounds(0)
    node.now += 60
    body = node.janitor.body()
    assert [(entry["driver"], entry["state"]) for entry in body["applications"]] == [
        (A.uid, "finished"),
        (B.uid, "running"),
    ]
    assert body["applications"][0]["finishedFor"] == 60
    assert 'sparkgen_janitor_applications{state="running"} 1' in node.janitor.metrics()
