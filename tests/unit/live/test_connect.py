"""`sparkgen connect`: a port that leads to a Connect server, and programs that are its clients."""

from __future__ import annotations

import base64
import os
import re
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import chain, repeat

import pytest

from sparkgen.cluster import Cluster
from sparkgen.live.tunnel import has
from sparkgen.usecases import connect as usecase
from tests.unit.connection.conftest import Server
from tests.unit.live.conftest import ROOT, Sparkgen, fill, refuse
from tests.unit.live.objects import (
    Object,
    connect_driver,
    connect_server,
    deployment,
    driver,
    job,
    notebook,
    runs,
)
from tests.unit.live.test_tunnel import Far

TOKEN = "s3cret-of-team-a"  # noqa: S105 - of a test
SECRET = f"{ROOT}/secrets/team-a-connect"
DEPLOYMENT = "/apis/apps/v1/namespaces/analytics/deployments/team-a"
ASK = """
import os, socket
near = socket.create_connection(("localhost", int(os.environ["SPARK_REMOTE"].rpartition(":")[2])), 5)
near.sendall(os.environ["SPARK_CONNECT_AUTHENTICATE_TOKEN"].encode())
print(near.recv(99))
"""


@pytest.fixture
def forwarded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """To which pods and ports connections were opened."""
    opened: list[tuple[str, int]] = []

    def forward(_: Cluster, pod: str, port: int, namespace: str = "") -> Far:
        opened.append((pod, port))
        return Far()

    monkeypatch.setattr(Cluster, "forward", forward)
    return opened


@pytest.fixture
def team(server: Server, sparkgen: Sparkgen, monkeypatch: pytest.MonkeyPatch) -> Server:
    """A Connect server that answers, and its token."""
    for name in ("SPARK_REMOTE", "SPARK_CONNECT_AUTHENTICATE_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    fill(server, connect_server(), connect_driver())
    server.answers[f"GET {SECRET}"] = (200, secret(TOKEN.encode()))
    return server


def stopped() -> Object:
    """The Deployment of a Connect server that was scaled to 0."""
    made = connect_server()
    made["spec"]["replicas"] = 0
    return made


def secret(value: bytes, key: str = "the.token") -> Object:
    """A Secret as an API server gives it."""
    names = {"name": "team-a-connect", "namespace": "analytics", "uid": "u"}
    metadata = {**names, "creationTimestamp": "2026-11-22T00:00:00Z"}
    return {"kind": "Secret", "metadata": metadata, "data": {key: base64.b64encode(value).decode()}}


def played(monkeypatch: pytest.MonkeyPatch, server: Server, *steps: Callable[[], object]) -> None:
    """Play a step at each look at the cluster, and in the end delete the application."""
    left: Iterator[Callable[[], object]] = chain(steps, repeat(lambda: fill(server)))
    monkeypatch.setattr("time.sleep", lambda seconds: next(left)())


def shell(script: str) -> list[str]:
    """A program that plays a script, behind --."""
    return ["--port", "0", "--", "sh", "-c", script]


def test_a_server_that_answers_is_at_a_port_until_its_end(
    team: Server, sparkgen: Sparkgen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address is data; how to use it is notes, and the token in none of them, nor asked for."""
    played(monkeypatch, team)
    result = sparkgen("connect", "team-a", "--port", "0", "-n", "analytics")
    assert result.code == 0
    port = re.fullmatch(r"sc://localhost:(\d+)\n", result.out)
    assert port is not None
    lines = result.err.splitlines()
    assert lines[:3] == [
        "forwarding the Connect server team-a; press Ctrl-C to stop",
        f"to use it, run in another terminal: export SPARK_REMOTE=sc://localhost:{port[1]}",
        "its token is in the Secret team-a-connect, key the.token; if you have permission to read the "
        "Secret:",
    ]
    assert lines[3].startswith(
        '  export SPARK_CONNECT_AUTHENTICATE_TOKEN="$(kubectl get secret team-a-connect -n analytics '
    )
    assert lines[3].endswith("""-o go-template='{{index .data "the.token" | base64decode}}')\"""")
    assert lines[4:] == ["the Connect server team-a has ended"]
    assert not any("secrets" in request[0] for request in team.requests)


def test_a_notebook_is_at_a_port_for_a_browser(
    server: Server, sparkgen: Sparkgen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its address is data; where its token is, and how to read it, are notes; it has no clients."""
    status = {"name": "spark-kubernetes-driver", "state": runs(), "ready": True}
    fill(server, notebook(), driver(notebook(), containerStatuses=[status]))
    refused = sparkgen("connect", "ada", "--port", "0", "--", "true")
    assert refused.code == 2
    assert refused.err.startswith("sparkgen: ada is a notebook, not a server for true")
    played(monkeypatch, server)
    result = sparkgen("connect", "ada", "--port", "0", "-n", "analytics")
    assert result.code == 0
    assert re.fullmatch(r"http://ada-analytics-[0-9a-f]{16}\.localhost:\d+\n", result.out)
    first, second, read, last = result.err.splitlines()
    assert first == "forwarding the notebook ada; press Ctrl-C to stop"
    assert second == (
        "its token is in the Secret ada-notebook, key the.token; if you have permission to read the Secret:"
    )
    assert read.startswith("  kubectl get secret ada-notebook -n analytics ")
    assert read.endswith("""-o go-template='{{index .data "the.token" | base64decode}}'""")
    assert last == "the notebook ada has ended"
    assert not any("secrets" in request[0] for request in server.requests)


def test_an_application_that_is_no_server_is_said(server: Server, sparkgen: Sparkgen) -> None:
    """A batch application, a streaming one, and none at all."""
    fill(server, job(), driver(job(), state=runs()), deployment())
    for name in ("pi", "stream"):
        result = sparkgen("connect", name)
        assert (result.code, result.out) == (2, "")
        assert result.err == (
            f"sparkgen: {name} is not a Connect server or a notebook; choose an application of kind "
            "SparkConnectServer or SparkNotebook, or apply one\n"
        )
    assert "there is no application team in analytics" in sparkgen("connect", "team").err


def test_a_server_is_waited_for(team: Server, sparkgen: Sparkgen, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each reason is said once; a driver that is being deleted is none to wait for."""
    unready, leaving = connect_driver(ready=False), connect_driver()
    leaving["metadata"]["deletionTimestamp"] = "2026-11-22T01:00:00Z"
    fill(team, connect_server())
    played(
        monkeypatch,
        team,
        lambda: fill(team, connect_server()),
        lambda: fill(team, connect_server(), unready),
        lambda: fill(team, connect_server(), leaving),
        lambda: fill(team, connect_server(), connect_driver()),
    )
    result = sparkgen("connect", "team-a", "--port", "0")
    assert (result.code, result.err.splitlines()[:3]) == (
        0,
        [
            "sparkgen: waiting: team-a is Pending",
            "sparkgen: waiting: team-a is running, but not ready yet",
            "forwarding the Connect server team-a; press Ctrl-C to stop",
        ],
    )


def test_a_server_that_does_not_come_is_not_waited_for_for_ever(team: Server, sparkgen: Sparkgen) -> None:
    """After the timeout, or at once when it is stopped; a timeout that is none is said."""
    fill(team, connect_server())
    result = sparkgen("connect", "team-a", "--port", "0", "--timeout", "0s")
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        "sparkgen: team-a is Pending; it was not ready within 0s. To wait longer, increase --timeout\n"
    )
    fill(team, stopped())
    assert sparkgen("connect", "team-a", "--port", "0").err == (
        "sparkgen: team-a is Suspended: it is suspended: set spec.suspend to false in the document, and "
        "apply it, or start it: sparkgen connect team-a -n analytics --start\n"
    )
    assert sparkgen("connect", "team-a", "--timeout", "soon").err.startswith("sparkgen: --timeout soon")


@pytest.mark.parametrize("controller", ["", "Flux (Kustomization apps)"])
def test_a_suspended_server_is_started_when_that_is_asked(
    team: Server, sparkgen: Sparkgen, monkeypatch: pytest.MonkeyPatch, controller: str
) -> None:
    """By scaling its Deployment to 1; who controls it may undo that. One that runs is left as it is."""
    waits, works = stopped(), connect_server()
    if controller:
        waits["metadata"]["labels"]["kustomize.toolkit.fluxcd.io/name"] = "apps"
    fill(team, waits)

    def scaled(_: str) -> Object:
        fill(team, works)
        return works

    team.answers[f"PATCH {DEPLOYMENT}"] = (200, scaled)
    played(monkeypatch, team, lambda: fill(team, works, connect_driver()))
    result = sparkgen("connect", "team-a", "--port", "0", "--start")
    warning = f"sparkgen: {controller} stops it at its next sync if spec.suspend is true in Git"
    assert result.err.splitlines()[:-5] == [
        "sparkgen: started team-a",
        *([warning] if controller else []),
        "sparkgen: waiting: team-a is Pending",
    ]
    asked = [body for call, _, body in team.requests if call == f"PATCH {DEPLOYMENT}"]
    assert asked == [{"spec": {"replicas": 1}}]

    fill(team, works, connect_driver())
    assert sparkgen("connect", "team-a", "--port", "0", "--start").code == 0
    assert len([call for call, *_ in team.requests if call.startswith("PATCH")]) == 1


def test_a_start_that_is_refused_is_said(team: Server, sparkgen: Sparkgen) -> None:
    """It takes the right to patch the Deployment."""
    fill(team, stopped())
    team.answers[f"PATCH {DEPLOYMENT}"] = (403, {"kind": "Status", "message": "x cannot patch"})
    result = sparkgen("connect", "team-a", "--port", "0", "--start")
    assert (result.code, result.out) == (2, "")
    assert "change Deployment team-a in analytics" in result.err


def test_a_driver_that_is_replaced_is_followed(
    team: Server,
    sparkgen: Sparkgen,
    forwarded: list[tuple[str, int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """New connections go to the next pod, the next container, or away from a lost node; each is said once."""
    ports: list[int] = []
    listen = socket.socket.listen
    monkeypatch.setattr(
        socket.socket,
        "listen",
        lambda self, *more: (ports.append(self.getsockname()[1]), listen(self, *more)),
    )

    def asks() -> None:
        refused = suppress(ConnectionError)  # while there is no driver
        with refused, socket.create_connection(("127.0.0.1", ports[0]), 5) as client:
            client.sendall(b"a")
            client.recv(1)

    def turns_to(*pods: Object) -> Callable[[], object]:
        return lambda: fill(team, connect_server(run="team-a-99999999"), *pods)

    restarted, lost = connect_driver("team-a-2", restartCount=1), connect_driver("team-a-2", restartCount=1)
    lost["metadata"]["deletionTimestamp"] = "2026-11-22T01:00:00Z"
    played(
        monkeypatch,
        team,
        asks,
        turns_to(),
        asks,
        turns_to(connect_driver("team-a-2")),
        lambda: None,
        asks,
        turns_to(restarted),
        asks,
        turns_to(lost, connect_driver("team-a-3")),
        asks,
        lambda: None,
    )
    result = sparkgen("connect", "team-a", "--port", "0")
    assert result.code == 0
    assert forwarded == [
        ("team-a-x7k2p", 15002),
        ("team-a-2", 15002),
        ("team-a-2", 15002),
        ("team-a-3", 15002),
    ]
    another = "sparkgen: team-a has a new driver; new connections go to it"
    assert result.err.splitlines()[4:] == [
        "sparkgen: the driver of team-a has ended, and the next has not started",
        *[another] * 3,
        "the Connect server team-a has ended",
    ]


def test_a_taken_port_is_said_before_the_wait(team: Server, sparkgen: Sparkgen) -> None:
    """Of either address that `localhost` has, so that a token goes nowhere else."""
    fill(team, connect_server())
    families = ((socket.AF_INET, "127.0.0.1", "127.0.0.1"), (socket.AF_INET6, "::1", "[::1]"))
    for family, address, shown in families:
        if not has(address):
            continue
        with socket.socket(family) as taken:
            taken.bind((address, 0))
            taken.listen()
            port = taken.getsockname()[1]
            result = sparkgen("connect", "team-a", "--port", str(port))
        assert (result.code, result.out) == (2, "")
        assert f"cannot listen on {shown}:{port}: Address already in use; choose another" in result.err
        assert "--port 0" in result.err


def test_a_program_is_a_client(team: Server, sparkgen: Sparkgen, forwarded: list[tuple[str, int]]) -> None:
    """It reaches the server by the address and has the token; nothing else is said or printed."""
    result = sparkgen("connect", "team-a", "--port", "0", "--", sys.executable, "-c", ASK)
    assert (result.code, result.out, result.err) == (0, f"{TOKEN.upper().encode()!r}\n", "")
    assert forwarded == [("team-a-x7k2p", 15002)]


@pytest.mark.parametrize(("script", "code"), [("exit 7", 7), ("kill -KILL $$", 137), ("exit 0", 0)])
def test_the_exit_code_is_the_programs(team: Server, sparkgen: Sparkgen, script: str, code: int) -> None:
    """128 and the signal's number, where that has ended it, as in a shell."""
    assert sparkgen("connect", "team-a", *shell(script)).code == code


def test_signals_are_the_programs(team: Server, sparkgen: Sparkgen, monkeypatch: pytest.MonkeyPatch) -> None:
    """SIGTERM always; Ctrl-C of a terminal reaches the program without help."""
    before = signal.getsignal(signal.SIGTERM)
    script = "trap 'exit 5' {0}; kill -{0} {1}; for i in $(seq 100); do sleep 0.1; done; exit 9"
    assert sparkgen("connect", "team-a", *shell(script.format("TERM", os.getpid()))).code == 5
    monkeypatch.setattr(usecase, "_in_foreground", lambda: False)
    assert sparkgen("connect", "team-a", *shell(script.format("INT", os.getpid()))).code == 5
    monkeypatch.setattr(usecase, "_in_foreground", lambda: True)
    assert sparkgen("connect", "team-a", *shell(f"kill -INT {os.getpid()}; sleep 0.2; exit 6")).code == 6
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_program_that_is_not_there_is_said_before_anything_else(team: Server, sparkgen: Sparkgen) -> None:
    """Also a file that is no program."""
    result = sparkgen("connect", "team-a", "--", "pyspork", "--token")
    assert (result.code, result.err) == (2, "sparkgen: cannot run pyspork: command not found\n")
    assert team.requests == []


def test_without_the_right_to_the_token_ones_own_is_used(
    team: Server, sparkgen: Sparkgen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In its variable, or in an address; where there is none, the right that is missing is said."""
    refuse(team, SECRET)
    check = shell('test "$SPARK_CONNECT_AUTHENTICATE_TOKEN" = mine=1; echo $?')
    result = sparkgen("connect", "team-a", *check)
    refused = (
        "sparkgen: you are not allowed to get the Secret team-a-connect in analytics, which contains the "
        "token of team-a; "
    )
    assert (result.code, result.out) == (2, "")
    assert (
        result.err
        == f"{refused}request permission to get it, or set the token in SPARK_CONNECT_AUTHENTICATE_TOKEN\n"
    )
    monkeypatch.setenv("SPARK_REMOTE", "sc://elsewhere:1/;user_id=me;token=mine%3D1")
    result = sparkgen("connect", "team-a", *check)
    assert (result.code, result.out) == (0, "0\n")
    assert result.err == f"{refused}using the token in your environment\n"
    monkeypatch.setenv("SPARK_REMOTE", "sc://elsewhere:1/;token=other")
    monkeypatch.setenv("SPARK_CONNECT_AUTHENTICATE_TOKEN", "mine=1")
    assert sparkgen("connect", "team-a", *check).out == "0\n"


def test_a_token_that_is_not_there_is_said(team: Server, sparkgen: Sparkgen) -> None:
    """No Secret, no key, and one that no program could get; without its value."""
    team.answers[f"GET {SECRET}"] = (200, secret(b"x", "other"))
    assert "which has no key the.token" in sparkgen("connect", "team-a", *shell("exit 0")).err
    team.answers[f"GET {SECRET}"] = (200, secret(b"hidden\0"))
    result = sparkgen("connect", "team-a", *shell("exit 0"))
    assert (result.code, "key the.token, contains a NUL character" in result.err) == (2, True)
    assert "hidden" not in result.err
    del team.answers[f"GET {SECRET}"]
    result = sparkgen("connect", "team-a", *shell("exit 0"))
    assert "reads its token from the Secret team-a-connect in analytics, which does not exist" in result.err
    assert result.code == 2


def test_a_server_without_a_token_asks_for_none(team: Server, sparkgen: Sparkgen) -> None:
    """Nothing is read, and the program has what it had."""
    open_ = connect_server()
    del open_["spec"]["template"]["spec"]["containers"][0]["env"]
    fill(team, open_, connect_driver())
    result = sparkgen(
        "connect",
        "team-a",
        *shell("echo ${SPARK_CONNECT_AUTHENTICATE_TOKEN-none} $SPARK_CONNECT_MODE_ENABLED $SPARK_REMOTE"),
    )
    assert (result.code, result.err) == (0, "")
    assert re.fullmatch(r"none 1 sc://localhost:\d+\n", result.out)
    assert not any("secrets" in request[0] for request in team.requests)
