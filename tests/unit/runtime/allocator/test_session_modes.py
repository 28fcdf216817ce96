"""The allocator where drivers come and go, run for real: client mode and notebooks."""

from __future__ import annotations

import hashlib
import json
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from common.ports import free_port
from sparkgen.runtime.allocator.driver import properties
from tests.unit.runtime.allocator.sidecar_pod import APPLICATION_ID, Pod, until

TOKEN = "the token of the command"  # noqa: S105 - of a test
HASH = hashlib.sha256(TOKEN.encode()).hexdigest()
CLIENT = {"SPARKGEN_SESSIONS": "client", "SPARKGEN_SESSION_TOKEN_SHA256": HASH}
NOTEBOOK = {"SPARKGEN_SESSIONS": "notebook"}
NONCE = "0123456789abcdef"
ANA, BEN = "etl, process 7 on ana's machine", "notebook, process 9 on ben's machine"


@pytest.fixture
def pod(tmp_path: Path) -> Iterator[Pod]:
    """A pod with dynamic allocation, 0 to 10 executors; Spark's configuration has a second file."""
    made = Pod(tmp_path)
    made.write({"executors": {"minimum": 0, "initial": 2, "maximum": 10}})
    (tmp_path / "conf" / "log4j2.properties").write_text("rootLogger.level = info\n")
    yield made
    for process in made.processes:
        if process.poll() is None:
            process.kill()
            process.communicate()


class Command:
    """`sparkgen shell`, as far as the allocator sees it."""

    def __init__(self, pod: Pod) -> None:
        self.pod = pod

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Ask with its token."""
        return self.pod.ask(method, path, body, TOKEN)

    def tells(self, port: int, **changes: Any) -> tuple[int, Any]:
        """Say that the driver listens at a port of this machine."""
        told = {"version": 1, "host": "127.0.0.1", "port": port, "blockManagerPort": 7079, "nonce": NONCE}
        return self.ask("PUT", "/v1/session/driver", told | changes)

    def says(self, session: str, targets: dict[str, int], **changes: Any) -> tuple[int, Any]:
        """A driver's state, through the forwarded port."""
        return say(self.pod, session, targets, TOKEN, **changes)


def say(
    pod: Pod, session: str, targets: dict[str, int], token: str | None = None, **changes: Any
) -> tuple[int, Any]:
    """Say a driver's state; the answer."""
    pod.revision += 1
    state = {
        "version": 1,
        "session": session,
        "revision": pod.revision,
        "phase": "running",
        "applicationId": APPLICATION_ID,
        "dynamic": True,
        "targets": targets,
        **changes,
    }
    return pod.ask("PUT", "/v1/state", state, token)


@contextmanager
def listener(line: bytes) -> Iterator[int]:
    """Somebody who says a line to each that connects; the port."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(line)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


@pytest.fixture
def command(pod: Pod) -> Command:
    """The command of a session whose allocator is up, after it has said where its driver is."""
    return Command(pod)


def begin(command: Command, **environment: str) -> subprocess.Popen[str]:
    """Start the allocator, and say where the driver is."""
    process = command.pod.start(**CLIENT, **environment)
    with listener(f"{NONCE}\n".encode()) as port:
        assert command.tells(port)[0] == 200
    return process


def test_what_a_driver_outside_starts_with(pod: Pod, command: Command) -> None:
    """All properties but what the command sets; nothing of the token is in the session volume."""
    process = pod.start(**CLIENT)
    with listener(f"{NONCE}\n".encode()) as port:
        status, answer = command.tells(port)
    assert (status, answer["podAddress"], answer["allocatorPort"]) == (200, "127.0.0.1", pod.ports[1])
    found = answer["properties"]
    assert found["spark.driver.host"] == "127.0.0.1"
    assert found["spark.driver.port"] == str(port)
    assert found["spark.driver.blockManager.port"] == "7079"
    assert found["spark.driver.bindAddress"] == "0.0.0.0"  # noqa: S104 - what is expected
    assert found["spark.app.id"] == APPLICATION_ID
    assert found["spark.sparkgen.session.timeout"] == "90s"
    assert found["spark.sparkgen.reviewed.spark.executor.cores"] == "2"
    assert len(found["spark.authenticate.secret"]) == 64
    unset = {"spark.master", "spark.driver.extraClassPath", "spark.sparkgen.tokenFile"}
    assert not unset & found.keys()
    texts = [file.read_text() for file in (pod.folder / "session").iterdir()]
    assert not any(TOKEN in text for text in texts)
    assert not (pod.folder / "session" / "token").exists()
    _, log = pod.stop(process)
    assert TOKEN not in log
    assert found["spark.authenticate.secret"] not in log


def test_only_the_token_of_the_command_opens(pod: Pod, command: Command) -> None:
    """Not the hash, which is in the Job, and nothing that is in the volume."""
    pod.start(**CLIENT)
    for token in ("", "guess", HASH, (pod.folder / "session" / "name-key").read_text()):
        for method, path in (("PUT", "/v1/session/alive"), ("GET", "/v1/session/jar"), ("GET", "/v1/report")):
            assert pod.ask(method, path, token=token)[0] == 401
    assert command.ask("PUT", "/v1/session/alive") == (
        200,
        {"version": 1, "phase": "waiting", "executors": 0},
    )


def test_executors_come_with_a_driver(pod: Pod, command: Command) -> None:
    """None before it speaks, whatever the document's initial number; they are told where it is."""
    begin(command)
    until(lambda: pod.status().get("reason") == "there is no driver: no executors left")
    assert command.says("a", {"0": 2}, owner=ANA)[0] == 200
    until(lambda: pod.executors() == [1, 2])
    assert (pod.folder / "driver-url").read_text().startswith("spark://CoarseGrainedScheduler@127.0.0.1:")
    assert pod.status()["driver"]["owner"] == ANA
    assert command.ask("PUT", "/v1/session/alive")[1] == {"version": 1, "phase": "running", "executors": 2}


def test_a_driver_of_an_unknown_address_is_refused(pod: Pod, command: Command) -> None:
    """Its executors would not find it."""
    pod.start(**CLIENT)
    status, answer = command.says("a", {"0": 1})
    assert status == 400
    assert "sparkgen shell" in answer["error"]


def test_one_driver_at_a_time(pod: Pod, command: Command) -> None:
    """The second is told who is there, and does not disturb it; it may come when the first has stopped."""
    process = begin(command)
    command.says("a", {"0": 2}, owner=ANA)
    until(lambda: pod.executors() == [1, 2])
    status, answer = command.says("b", {"0": 5}, owner=BEN)
    assert status == 409
    assert ANA in answer["error"]
    assert "spark.stop()" in answer["error"]
    assert command.says("b", {}, phase="stopped", owner=BEN)[0] == 200  # and nothing comes of it
    assert command.says("a", {"0": 2}, owner=ANA)[0] == 200
    assert pod.executors() == [1, 2]
    command.says("a", {}, phase="stopped", owner=ANA)
    next_id = f"{APPLICATION_ID}-2"
    assert command.says("b", {"0": 1}, owner=BEN, applicationId=next_id)[0] == 200
    until(lambda: pod.executors() == [3])
    assert command.says("a", {"0": 2}, owner=ANA)[0] == 409
    _, log = pod.stop(process)
    assert f"refused because the first one is still connected: {BEN}" in log
    assert f"the driver runs as {next_id} ({BEN})" in log


def test_a_silent_driver_loses_its_executors_and_its_place(pod: Pod, command: Command) -> None:
    """While the command lives, the session does; the silent one may go on when nobody has come."""
    begin(command, SILENCE_SECONDS="2")
    command.says("a", {"0": 2}, owner=ANA)
    until(lambda: pod.executors() == [1, 2])

    def alive() -> bool:
        assert command.ask("PUT", "/v1/session/alive")[0] == 200
        return not pod.executors()

    until(alive)
    assert "the driver stopped reporting" in pod.status()["reason"]
    assert command.says("a", {"0": 1}, owner=ANA)[0] == 200
    until(lambda: pod.executors() == [3])


def test_a_session_that_nobody_needs_ends(pod: Pod, command: Command) -> None:
    """Neither the command nor a driver is heard: exit 0, and no executor is left."""
    process = begin(command, SILENCE_SECONDS="2")
    command.says("a", {"0": 2})
    until(lambda: pod.executors() == [1, 2])
    log, _ = process.communicate(timeout=40)
    assert process.returncode == 0
    assert "the session is over: neither the command nor a driver sent anything for 2 s" in log
    assert pod.world()["left"] == []


def test_a_session_that_nobody_comes_for_ends(pod: Pod) -> None:
    """After a longer time: the command waits for the pod first."""
    process = pod.start(**CLIENT, SILENCE_SECONDS="0.5", START_WAIT_SECONDS="3")
    log, _ = process.communicate(timeout=40)
    assert (process.returncode, "the session is over: nothing connected" in log) == (0, True)
    assert not any(call.startswith("create") for call in pod.world()["calls"])


def test_told_to_end_while_the_driver_speaks(pod: Pod, command: Command) -> None:
    """It is told so by the report that it waits for, before its executors go."""
    process = begin(command)
    command.says("a", {"0": 2})
    until(lambda: pod.executors() == [1, 2])
    answers: list[Any] = []

    def poll() -> None:
        tag = ""
        while not answers:
            status, body = command.ask("GET", f"/v1/report?session=a&seen={tag}&wait=20")
            tag = body["tag"] if body else tag
            if status == 200 and body["failure"]:
                answers.append(body["failure"])

    poller = threading.Thread(target=poll)
    poller.start()
    code, log = pod.stop(process)
    poller.join()
    assert code == 0
    assert answers == ["[SessionEnded] the session is over: its pod was asked to stop"]
    assert "2 executors deleted, none left" in log


def test_a_killed_allocator_goes_on(pod: Pod, command: Command) -> None:
    """The token, the secret and the address stay; the driver from before has its place until it is silent."""
    process = begin(command)
    command.says("a", {"0": 1})
    until(lambda: pod.executors() == [1])
    url, before = (pod.folder / "driver-url").read_text(), pod.properties()
    (pod.folder / "driver-url").unlink()
    process.kill()
    process.communicate()
    process = pod.start(**CLIENT)
    assert command.says("b", {"0": 1})[0] == 503
    assert command.says("a", {"0": 1})[0] == 200
    assert command.says("b", {"0": 1})[0] == 409
    until(lambda: pod.executors() == [2])  # the World of a test does not outlive its process
    assert (pod.folder / "driver-url").read_text() == url
    assert pod.properties()["spark.authenticate.secret"] == before["spark.authenticate.secret"]


def test_another_address_is_for_the_next_driver(pod: Pod, command: Command) -> None:
    """Executors of the one that runs find it where it was."""
    begin(command)
    command.says("a", {"0": 1})
    until(lambda: pod.executors() == [1])
    url = (pod.folder / "driver-url").read_text()
    with listener(f"{NONCE}\n".encode()) as port:
        _, answer = command.tells(port)
    application_id = answer["properties"]["spark.app.id"]
    assert application_id == f"{APPLICATION_ID}-2"
    command.says("a", {"0": 2})
    until(lambda: pod.executors() == [1, 2])
    assert (pod.folder / "driver-url").read_text() == url
    command.says("a", {}, phase="stopped")
    command.says("b", {"0": 1}, applicationId=application_id)
    until(lambda: pod.executors() == [3])
    assert (pod.folder / "driver-url").read_text() == f"spark://CoarseGrainedScheduler@127.0.0.1:{port}"


def test_a_driver_that_is_not_reached(pod: Pod, command: Command) -> None:
    """Who does not reach whom, and why."""
    pod.start(**CLIENT)
    nobody = free_port()
    status, answer = command.tells(nobody)
    assert (status, answer["code"]) == (422, "DriverUnreachable")
    expected = f"the session's pod pi-12345678-abc (127.0.0.1) cannot reach 127.0.0.1:{nobody}: "
    assert answer["error"].startswith(f"{expected}the connection was refused")
    with listener(b"SSH-2.0-OpenSSH_9.6\r\n") as port:
        status, answer = command.tells(port)
    assert (status, "another program answers there" in answer["error"]) == (422, True)
    assert "SSH" not in answer["error"]
    assert command.tells(nobody, host="a b")[0] == 400
    assert command.says("a", {"0": 1})[0] == 400


def test_the_scheduler_jar(pod: Pod, command: Command) -> None:
    """Of a Scala line that there is, and no other file."""
    (pod.folder / "jars").mkdir()
    (pod.folder / "jars" / "sparkgen-scheduler_2.13.jar").write_bytes(b"{}")
    pod.start(**CLIENT)
    assert command.ask("GET", "/v1/session/jar?scala=2.13") == (200, {})
    for line in ("2.12", "", "..%2F2.13", "2.13.jar"):
        status, answer = command.ask("GET", f"/v1/session/jar?scala={line}")
        assert (status, "for Scala 2.13 only" in answer["error"]) == (404, True)


def test_without_sessions_nothing_of_it_is_there(pod: Pod) -> None:
    """And the next driver takes over from one that runs, as the pod's only one."""
    pod.start()
    assert pod.ask("PUT", "/v1/session/alive")[0] == 404
    assert "spark.sparkgen.session.timeout" not in pod.properties()
    assert not (pod.folder / "session" / "spark-defaults.conf").exists()
    assert say(pod, "a", {"0": 1})[0] == say(pod, "b", {"0": 1})[0] == 200


# --- notebooks --------------------------------------------------------------------------------------


def test_kernels_find_all_in_the_session_volume(pod: Pod) -> None:
    """As their SPARK_CONF_DIR: the properties under the name that Spark reads, and the other files."""
    pod.start(**NOTEBOOK)
    folder = pod.folder / "session"
    found = properties.parse((folder / "spark-defaults.conf").read_text())
    assert found == pod.properties()
    assert found["spark.sparkgen.session.timeout"] == "90s"
    assert found["spark.sparkgen.tokenFile"] == str(folder / "token")
    assert (folder / "log4j2.properties").read_text() == "rootLogger.level = info\n"
    until(lambda: pod.status().get("executors") == {})
    assert say(pod, "a", {"0": 1})[0] == 200
    next_id = f"{APPLICATION_ID}-2"
    until(lambda: f"spark.app.id={next_id}\n" in (folder / "spark-defaults.conf").read_text())


def test_a_dead_kernel_frees_the_place_at_once(pod: Pod) -> None:
    """The next one has the port by then, so that its being taken says nothing."""
    pod.start(**NOTEBOOK)
    with socket.create_server(("127.0.0.1", pod.ports[2])):
        assert say(pod, "a", {"0": 2}, owner=ANA)[0] == 200
        until(lambda: pod.executors() == [1, 2])
        assert say(pod, "b", {"0": 1}, owner=BEN)[0] == 409
    with socket.create_server(("127.0.0.1", pod.ports[2])):
        assert say(pod, "b", {"0": 1}, owner=BEN)[0] == 200
        until(lambda: pod.executors() == [3])
        assert say(pod, "a", {"0": 2}, owner=ANA)[0] == 409


def test_told_to_end_while_a_kernel_runs(pod: Pod) -> None:
    """The kubelet starts this container again: its executors stay, as a driver's do."""
    process = pod.start(**NOTEBOOK)
    with socket.create_server(("127.0.0.1", pod.ports[2])):
        say(pod, "a", {"0": 1})
        until(lambda: pod.executors() == [1])
        code, log = pod.stop(process)
    assert (code, pod.world()["left"]) == (0, [1])
    assert "stay for the next allocator" in log


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"SPARKGEN_SESSIONS": "cluster"}, "must be client or notebook"),
        ({"SPARKGEN_SESSIONS": "client"}, "must be the SHA-256 of the session's token"),
        (CLIENT | {"SPARKGEN_SESSION_TOKEN_SHA256": TOKEN}, "must be the SHA-256 of the session's token"),
    ],
)
def test_what_it_cannot_begin_with(pod: Pod, environment: dict[str, str], expected: str) -> None:
    """One sentence, and exit 1."""
    process = pod.start(**environment)
    log, _ = process.communicate(timeout=20)
    assert (process.returncode, expected in log) == (1, True)


def test_a_kept_address_that_cannot_be_read(pod: Pod) -> None:
    """Executors would be sent somewhere else: it does not begin."""
    (pod.folder / "session" / "driver.json").write_text(json.dumps({"applicationId": "a", "next": {}}))
    process = pod.start(**CLIENT)
    log, _ = process.communicate(timeout=20)
    assert (process.returncode, "driver.json is invalid" in log) == (1, True)
