"""A Connect server on this machine: its properties, its token, and what a person is told."""

from __future__ import annotations

import random
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from sparkgen.errors import SparkgenError
from sparkgen.local import connect, launch, notebook, plan
from sparkgen.local.application import application_of
from sparkgen.local.errors import CannotRun
from sparkgen.local.folders import Folders
from sparkgen.local.java import Java
from sparkgen.local.path_mapping import PathMapping
from sparkgen.local.properties import Ports, local_properties
from sparkgen.local.spark import Spark
from sparkgen.model.application import Application

TOKEN = "SPARK_CONNECT_AUTHENTICATE_TOKEN"  # noqa: S105 - a name


def _document(**spec: Any) -> dict[str, Any]:
    every = {"sparkVersion": "4.3.0", "image": "x", **spec}
    return {"kind": "SparkConnectServer", "metadata": {"name": "a"}, "spec": every}


def _start(application: Application, folder: Path, **environment: str) -> launch.Start:
    setting = launch.Setting(
        spark=Spark(folder, "4.3.0", "2.13", "here"),
        java=Java(Path("/java"), 17, "here"),
        places=PathMapping(folder, folder),
        folders=Folders(folder / "work", folder / "logs"),
        environment={"PATH": "/bin", **environment},
        hadoop=False,
    )
    secret = {"name": TOKEN, "valueFrom": {"secretKeyRef": {"name": "s", "key": "token"}}}
    return launch.driver(application, {"env": [secret]}, setting, Path("/p"))


def test_it_listens_on_loopback_alone(tmp_path: Path) -> None:
    """At the port of the run; without the property, Spark listens on every address."""
    application = application_of(_document())
    ports = Ports(scheduler=20001, allocator=20002, driver=20003, ui=4041, connect=15003)
    found = local_properties(application, PathMapping(tmp_path, tmp_path), Path("/s.jar"), ports)
    assert found["spark.connect.grpc.binding.address"] == "127.0.0.1"
    assert found["spark.connect.grpc.binding.port"] == "15003"


def test_a_taken_port_is_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark's own if it is free, else the next; none for an application that is no server."""
    monkeypatch.setattr(plan.ports, "is_free", lambda port: port != 15002)
    chance = random.Random(1)  # noqa: S311 - ports
    assert plan.choose_ports(chance, connect=True).connect == 15003
    assert plan.choose_ports(chance, connect=False).connect == 0


def _listening_at(address: str) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    try:
        listener.bind((address, 0))
    except OSError:
        listener.close()
        pytest.skip(f"this machine has no {address}")
    listener.listen()
    return listener


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_a_port_is_free_at_no_address_of_localhost_or_at_both(address: str) -> None:
    """Clients may try either, and would send the token to whoever listens there."""
    with _listening_at(address) as other:
        port = other.getsockname()[1]
        assert not plan.ports.is_free(port)
    assert plan.ports.is_free(port)


def test_the_other_address_of_localhost_is_kept() -> None:
    """Nobody can take it during the run, and a client's connection to it is refused at once."""
    with _listening_at("::1") as other:
        port = other.getsockname()[1]
        with pytest.raises(CannotRun, match=rf"another program has port {port} of \[::1\]"):
            plan.ports.kept_from_others(port).__enter__()
    with plan.ports.kept_from_others(port), socket.socket(socket.AF_INET6) as thief:
        thief.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with pytest.raises(OSError, match="in use"):
            thief.bind(("::1", port))
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("::1", port), 2)
        with socket.socket() as server:
            server.bind(("127.0.0.1", port))


@pytest.mark.parametrize("section", [{}, {"token": {"name": "s", "key": "token"}}])
def test_the_token_is_that_of_the_shell(tmp_path: Path, section: dict[str, Any]) -> None:
    """Without one, everybody on this machine is let in; the Secret is the cluster's."""
    application = application_of(_document(connect=section))
    with_one = _start(application, tmp_path, **{TOKEN: "t"})
    assert with_one.command[-1] == "spark-internal"
    assert with_one.environment[TOKEN] == "t"
    assert connect.token_place(application, with_one.environment) == TOKEN
    for start in (_start(application, tmp_path), _start(application, tmp_path, **{TOKEN: ""})):
        assert TOKEN not in start.environment
        assert connect.token_place(application, start.environment) == ""


def test_a_token_of_the_document_is_one() -> None:
    """In plain sight, as a property, and Spark asks for it, whatever the variable says."""
    application = application_of(_document(sparkConf={"spark.connect.authenticate.token": "t"}))
    for environment in ({}, {TOKEN: "u"}):
        place = connect.token_place(application, environment)
        assert place == "spark.connect.authenticate.token"
        text = connect.lines(15003, place)[-1]
        assert "the token in spark.connect.authenticate.token" in text
        assert f"set {TOKEN} to it" in text


def test_other_applications_get_no_token(tmp_path: Path) -> None:
    """Their programs are clients at most."""
    value = {**_document(type="Scala", mainClass="org.A"), "kind": "SparkApplication"}
    assert TOKEN not in _start(application_of(value), tmp_path, **{TOKEN: "t"}).environment


def test_spark_3_is_refused() -> None:
    """It would listen on every address, and ask nobody for a token."""
    with pytest.raises(CannotRun, match=r"Spark 3\.5\.8 listens on every address.*Spark 4"):
        connect.check(application_of(_document(sparkVersion="3.5.8")))
    connect.check(application_of(_document()))


def test_it_takes_no_arguments() -> None:
    """They would be left aside in silence."""
    with pytest.raises(SparkgenError, match="takes no arguments"):
        application_of(_document(), ("a",))


def test_a_person_is_told_the_address_and_who_is_let_in() -> None:
    """By the name `localhost`: to no other do clients send a token without TLS."""
    with_token = "\n".join(connect.lines(15003, TOKEN))
    assert "export SPARK_REMOTE=sc://localhost:15003" in with_token
    assert "every user of this machine" not in with_token
    assert "every user of this machine" in connect.lines(15003, "")[-1]


def test_a_server_of_another_user_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between a port's choice and Spark's use, anybody can listen there: clients would send the token."""
    with _listening_at("127.0.0.1") as other:
        port = other.getsockname()[1]
        assert plan.ports.is_ours(port)
        monkeypatch.setattr("sparkgen.local.ports.sockets.users", lambda _: frozenset({65534}))
        assert not plan.ports.is_ours(port)
        other.settimeout(0.01)
        assert not connect.answers(port)
        assert not notebook.answers(port)
        with pytest.raises(TimeoutError):
            other.accept()


@pytest.mark.parametrize(
    ("said", "answers"),
    [(bytes(3) + b"\x04" + bytes(5), True), (b"HTTP/1.1 400 Bad Request\r\n\r\n", False), (b"", False)],
)
def test_an_answer_is_one_of_http_2(said: bytes, *, answers: bool) -> None:
    """What speaks something else, or hangs up, is no Connect server."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                assert connection.recv(100).startswith(b"PRI * HTTP/2.0")
                connection.sendall(said)

        server = threading.Thread(target=serve)
        server.start()
        assert connect.answers(listener.getsockname()[1]) is answers
        server.join()


def test_the_end_of_the_run_ends_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that fails to start is never told of as one that answers."""
    monkeypatch.setattr(connect, "EVERY_SECONDS", 0.01)
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        ended = threading.Event()
        timer = threading.Timer(0.1, ended.set)
        timer.start()
        assert not connect.wait(lambda: connect.answers(nobody.getsockname()[1]), ended)
        timer.join()


def test_it_waits_until_the_server_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked again until nothing speaks against it."""
    answers = iter([False, False, True])
    monkeypatch.setattr(connect, "EVERY_SECONDS", 0.001)
    assert connect.wait(lambda: next(answers), threading.Event())
    assert next(answers, None) is None
