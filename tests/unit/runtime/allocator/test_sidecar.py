"""The sidecar run for real: a process, a World in memory, and a driver that speaks the protocol."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from common.ports import free_port
from sparkgen.runtime.allocator.shutdown import driver_answers
from tests.unit.runtime.allocator.sidecar_pod import (
    APPLICATION_ID,
    Pod,
    until,
)


@pytest.fixture
def pod(tmp_path: Path) -> Iterator[Pod]:
    """A pod with dynamic allocation, 0 to 10 executors."""
    made = Pod(tmp_path)
    made.write({"executors": {"minimum": 0, "initial": 0, "maximum": 10}})
    yield made
    for process in made.processes:
        if process.poll() is None:
            process.kill()
            process.communicate()


def test_executors_follow_the_target_and_go_at_the_end(pod: Pod) -> None:
    """Up by the driver's word, down by Spark's, and nothing is left after the end; the log tells it."""
    process = pod.start()
    pod.say({"0": 3})
    until(lambda: pod.executors() == [1, 2, 3])
    pod.say({"0": 3}, registered=["1", "2", "3"])
    pod.say({"0": 1}, registered=["1"], kills=["2", "3"])
    until(lambda: pod.executors() == [1])
    code, log = pod.stop(process)
    assert code == 0
    assert "creating 1-3" in log
    assert "removed by Spark" in log
    assert "none left" in log
    assert pod.world()["left"] == []


def test_the_driver_is_told_what_became_of_its_executors(pod: Pod) -> None:
    """A killed executor is reported as gone until the driver names it no more."""
    pod.start()
    pod.say({"0": 2})
    until(lambda: len(pod.executors()) == 2)
    pod.say({"0": 1}, registered=["1"], kills=["2"])
    tag = ""
    body: dict[str, Any] = {}
    while "2" not in body.get("gone", {}):
        code, answer = pod.ask("GET", f"/v1/report?session=s1&seen={tag}&wait=5")
        assert code == 200
        body, tag = answer, answer["tag"]
    assert body["gone"]["2"]["cause"] == "killed"
    assert body["bounds"] == {"minimum": 0, "maximum": 10}
    pod.say({"0": 1}, registered=["1"])
    code, answer = pod.ask("GET", f"/v1/report?session=s1&seen={tag}&wait=5")
    assert (code, answer["gone"]) == (200, {})


def test_a_report_that_stays_the_same_is_waited_for(pod: Pod) -> None:
    """204 after the time, and for a session that is not the one that speaks."""
    pod.start()
    pod.say({"0": 0})
    _, answer = until(lambda: pod.ask("GET", "/v1/report?session=s1&seen=&wait=2"))
    began = time.monotonic()
    assert pod.ask("GET", f"/v1/report?session=s1&seen={answer['tag']}&wait=0.5") == (204, None)
    assert time.monotonic() - began >= 0.5
    assert pod.ask("GET", "/v1/report?session=other&seen=&wait=0") == (204, None)


def test_who_has_no_token_is_refused(pod: Pod) -> None:
    """401 for another token, with what to look at, and nothing is taken in."""
    pod.start()
    code, answer = pod.ask("PUT", "/v1/state", {}, token="guess")  # noqa: S106 - a wrong one
    assert code == 401
    assert "spark.sparkgen.tokenFile" in answer["error"]
    assert pod.ask("GET", "/v1/report?session=s1", token="")[0] == 401


def test_what_is_not_understood_is_refused(pod: Pod) -> None:
    """400 with both versions, or with the field."""
    pod.start()
    code, answer = pod.ask("PUT", "/v1/state", {"version": 2})
    assert (code, "version 2" in answer["error"], "version 1" in answer["error"]) == (400, True, True)
    assert pod.ask("PUT", "/v1/state", [])[0] == 400
    assert pod.ask("PUT", "/v1/other", {})[0] == 404


def test_an_executor_gets_its_word_when_the_driver_is_there(pod: Pod) -> None:
    """202 while the driver starts, held for a while; 200 when it speaks; 410 when it has stopped."""
    pod.write({"executors": {"instances": 1}})
    pod.start(HOLD_SECONDS="1")
    until(lambda: pod.executors() == [1])
    began = time.monotonic()
    assert pod.get("/v1/executors/1/start")[0] == 202
    assert time.monotonic() - began >= 1
    pod.say({"0": 1}, dynamic=False)
    assert until(lambda: pod.get("/v1/executors/1/start")[0] == 200)
    pod.say({}, phase="stopped", dynamic=False)
    assert until(lambda: pod.get("/v1/executors/1/start")[0] == 410)


def test_what_the_driver_starts_with(pod: Pod) -> None:
    """The rendered properties and what only the pod knows, for the driver's group alone."""
    process = pod.start()
    found = pod.properties()
    assert found["spark.app.name"] == "pi é"
    assert found["spark.app.id"] == APPLICATION_ID
    assert found["spark.dynamicAllocation.maxExecutors"] == "10"
    assert found["spark.driver.host"] == "127.0.0.1"
    assert found["spark.sparkgen.reviewed.spark.executor.cores"] == "2"
    assert len(found["spark.authenticate.secret"]) == 64
    files = [pod.folder / "session" / name for name in ("spark.properties", "token", "allocator.json")]
    assert [oct(path.stat().st_mode & 0o777) for path in files[:2]] == ["0o640", "0o640"]
    _, log = pod.stop(process)
    assert found["spark.authenticate.secret"] not in log
    assert files[1].read_text() not in log


def test_an_allocator_that_was_killed_goes_on(pod: Pod) -> None:
    """After kill -9 no id comes twice, and the secret stays; only the pods were in its memory."""
    process = pod.start()
    pod.say({"0": 2})
    until(lambda: pod.executors() == [1, 2])
    before = pod.properties()
    process.kill()
    process.communicate()
    pod.start()
    pod.say({"0": 2})
    until(lambda: pod.executors() == [3, 4])
    assert pod.properties()["spark.authenticate.secret"] == before["spark.authenticate.secret"]


def test_the_next_driver_in_the_pod_has_an_id_of_its_own(pod: Pod) -> None:
    """Once a driver has spoken, its successor is another application; executors of the first one go."""
    pod.start()
    pod.say({"0": 1})
    until(lambda: pod.properties()["spark.app.id"] == f"{APPLICATION_ID}-2")
    until(lambda: pod.executors() == [1])
    pod.session, pod.revision = "s2", 0
    pod.say({"0": 1}, applicationId=f"{APPLICATION_ID}-2")
    until(lambda: pod.executors() == [2])
    until(lambda: pod.properties()["spark.app.id"] == f"{APPLICATION_ID}-3")


def test_the_tuning_is_followed(pod: Pod) -> None:
    """A raised maximum holds within seconds; a bad edit changes nothing, and is told."""
    process = pod.start()
    pod.write({"executors": {"minimum": 0, "maximum": 1}})
    until(lambda: pod.status().get("settings", {}).get("maximum") == 1)  # none before the first round
    pod.say({"0": 2})
    until(lambda: pod.executors() == [1])
    (pod.folder / "tuning" / "tuning.json").write_text("{")
    until(lambda: pod.status()["troubles"])
    pod.write({"executors": {"minimum": 0, "maximum": 2}})
    until(lambda: pod.executors() == [1, 2])
    _, log = pod.stop(process)
    assert "tuning.json has changed: 0 to 1 executors" in log
    assert "keeping the previous settings" in log
    assert [reason for reason, _ in pod.world()["notices"]] == ["MaximumReached", "TuningIgnored"]


def test_told_to_end_while_the_driver_runs(pod: Pod) -> None:
    """The kubelet restarts this container alone: the executors of a living driver stay."""
    process = pod.start()
    pod.say({"0": 1})
    until(lambda: pod.executors() == [1])
    with socket.create_server(("127.0.0.1", pod.ports[2])):
        code, log = pod.stop(process)
    assert (code, pod.world()["left"]) == (0, [1])
    assert "stay for the next allocator" in log


@pytest.mark.parametrize("says", ["RUNS", "UNKNOWN"])
@pytest.mark.parametrize("spoke", [True, False], ids=["spoke", "silent"])
def test_told_to_end_while_a_running_driver_takes_no_connection(pod: Pod, says: str, spoke: bool) -> None:
    """Its accept queue is full: what its pod says counts, also after a restart, before it spoke again."""
    process = pod.start(LATE_SECONDS="0.5")
    pod.say({"0": 1})
    until(lambda: pod.executors() == [1])
    (pod.folder / "driver-pod").write_text(says)
    if not spoke:
        process.kill()
        process.wait()
        process = pod.start(LATE_SECONDS="0.5")
        left: list[int] = []
    else:
        left = [1]
    with full_queue(pod.ports[2]):
        code, log = pod.stop(process)
    assert (code, pod.world()["left"]) == (0, left)
    assert "stay for the next allocator" in log
    assert "executors deleted" not in log


def test_told_to_end_after_a_driver_that_died(pod: Pod) -> None:
    """Its pod says so a moment late: nothing is left behind."""
    process = pod.start()
    pod.say({"0": 1})
    until(lambda: pod.executors() == [1])
    file = pod.folder / "driver-pod"
    file.write_text("RUNS")
    late = threading.Timer(1.5, lambda: file.write_text("ENDS"))
    late.start()
    code, log = pod.stop(process)
    assert (code, pod.world()["left"]) == (0, [])
    assert "none left" in log


@contextmanager
def full_queue(port: int) -> Iterator[None]:
    """A program that listens and takes no connection any more, as a JVM that does not come to it."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", port), backlog=0))
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        assert not driver_answers("127.0.0.1", port, 0.2)
        yield


def test_it_ends_at_once(pod: Pod) -> None:
    """A sidecar that waits adds its grace to every job."""
    process = pod.start()
    began = time.monotonic()
    assert pod.stop(process)[0] == 0
    assert time.monotonic() - began < 5


def test_metrics_and_health(pod: Pod) -> None:
    """Prometheus' text format, and a probe that is well."""
    pod.start()
    pod.say({"0": 1})
    until(lambda: pod.executors() == [1])
    assert pod.get("/healthz") == (200, "ok\n")
    text = pod.get("/metrics")[1]
    assert 'sparkgen_executors_wanted{profile="0"} 1\n' in text
    assert 'sparkgen_executors{profile="0",state="running"} 1\n' in text
    assert 'sparkgen_answers_total{action="create",answer="done"} 1\n' in text
    for line in text.splitlines():
        assert line.startswith("#") or len(line.rsplit(" ", 1)) == 2


def test_the_allocator_of_a_connect_server_asks_it(pod: Pod) -> None:
    """At the pod's address and the port that the environment names; other allocators have no such page."""
    port = free_port()
    process = pod.start(SPARKGEN_CONNECT_PORT=str(port))
    assert pod.get("/connect") == (503, f"the Connect server at 127.0.0.1:{port} is not listening yet\n")
    pod.stop(process)
    pod.start()
    assert pod.get("/connect")[0] == 404


def test_a_log_for_machines(pod: Pod) -> None:
    """With SPARKGEN_LOG_FORMAT=json each line is an object with time, level and message."""
    process = pod.start(SPARKGEN_LOG_FORMAT="json")
    pod.say({"0": 1})
    until(lambda: pod.executors() == [1])
    lines = [json.loads(line) for line in pod.stop(process)[1].splitlines()]
    assert all({"time", "level", "message"} <= set(line) for line in lines)
    assert [line["create"] for line in lines if line.get("create")] == [[1]]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"SPARKGEN_CONTRACT": "9"}, "contract version 9"),
        ({"SPARKGEN_POD_UID": ""}, "variables: SPARKGEN_POD_UID"),
        ({"SPARKGEN_CONNECT_PORT": "15002.0"}, "SPARKGEN_CONNECT_PORT must be a port, not '15002.0'"),
        ({"SPARKGEN_CONNECT_PORT": "0"}, "SPARKGEN_CONNECT_PORT must be a port, not '0'"),
        ({"SPARKGEN_CONNECT_PORT": "65536"}, "SPARKGEN_CONNECT_PORT must be a port, not '65536'"),
    ],
)
def test_what_it_cannot_begin_with(pod: Pod, environment: dict[str, str], expected: str) -> None:
    """One line that says what is wrong, the exit code 1, no traceback."""
    process = pod.start(**environment)
    log, _ = process.communicate(timeout=20)
    assert (process.returncode, expected in log, "Traceback" in log) == (1, True, False), log


def test_a_run_that_has_expired_keeps_its_driver_from_starting(pod: Pod) -> None:
    """Where no `install` looks: the driver gets no properties, and the log says why.

    An allocator that comes after another one in the pod does not look: the driver has begun.
    """
    properties, launch = (pod.folder / "session" / f"{name}.properties" for name in ("spark", "launch"))
    pod.write({"executors": {"instances": 1}, "run": {"expiresAt": "2020-01-01T00:00:00Z"}})
    process = pod.start(SPARKGEN_CHECK_EXPIRY="true")
    assert not properties.exists()
    assert not launch.exists()
    log = pod.stop(process)[1]
    assert "this run expired at 2020-01-01T00:00:00Z" in log
    pod.stop(pod.start())
    assert properties.exists()
    pod.stop(pod.start(SPARKGEN_CHECK_EXPIRY="true"))
    assert properties.exists()


def test_a_port_that_is_taken_is_said(pod: Pod) -> None:
    """A second one beside the first cannot begin, and says why."""
    pod.start()
    log, _ = pod.start().communicate(timeout=20)
    assert "cannot listen" in log
    assert "Traceback" not in log


def test_it_is_small(pod: Pod) -> None:
    """Below 40 MB resident with the cluster's libraries loaded, as the sidecar of every driver."""
    process = pod.start()
    pages = Path(f"/proc/{process.pid}/statm").read_text().split()[1]
    assert int(pages) * os.sysconf("SC_PAGE_SIZE") < 40_000_000
