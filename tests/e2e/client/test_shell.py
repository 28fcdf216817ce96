"""Client mode on the cluster: drivers on a machine beside it and in a pod, and whatever ends first."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest
import yaml
from deployed import wait_until

from cluster import faults, network
from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from cluster.plan import NODES, PRIMARY
from sparkgen.runtime.addresses import url_host
from tests.e2e.commands.looking import sparkgen

from . import pods
from .laptop import Laptop
from .sessions import PROGRAMS, Begin, Session, document

pytestmark = pytest.mark.own_cluster
OLD, NEW = TESTED_VERSIONS[0], TESTED_VERSIONS[1]
SILENCE = 60
"""Seconds without a word after which a session ends; as long again it is still shown."""


def python(name: str) -> list[str]:
    """A program of these tests, and what runs it."""
    return [sys.executable, str(PROGRAMS / f"{name}.py")]


@pytest.mark.parametrize("version", [OLD, pytest.param(NEW, marks=pytest.mark.families)])
def test_a_script(begin: Begin, version: str) -> None:
    """Its results are there, also those that the driver fetches; the image's Python runs; nothing is left."""
    session = begin(document("pi", version), *python("pi"))
    assert session.ended(240) == 0, session.story()
    assert session.out[:2] == ["pi is about 3.2", "fetched 6 MiB"], session.story()
    assert sys.executable not in session.out[2]
    session.nothing_is_left(60)


def test_executors_come_and_go(begin: Begin) -> None:
    """For a shuffle, not while nothing is to do, and for the next one."""
    session = begin(document("waves", NEW), *python("waves"))
    assert session.ended(300) == 0, session.story()
    assert session.out == ["groups: 7, with executors: True", "idle: 0"] * 2, session.story()


@pytest.mark.parametrize(
    ("command", "given", "shown"),
    [
        (["pyspark"], "print('sum', spark.range(10).rdd.map(lambda row: row.id).sum())\nexit()", "sum 45"),
        (["spark-shell"], 'println("sum " + spark.range(10).rdd.map(_ + 0L).sum)\n:quit', "sum 45.0"),
        (["spark-sql", "-e", "select concat('sum ', sum(id)) from range(10)"], "", "sum 45"),
    ],
    ids=["pyspark", "spark-shell", "spark-sql"],
)
def test_sparks_own_shells(begin: Begin, command: list[str], given: str, shown: str) -> None:
    """Each finds everything by itself."""
    # As if on a terminal: Python else reads its input to the end, and PySpark's start-up file not at all.
    session = begin(document("shell", NEW), *command, variables={"PYSPARK_DRIVER_PYTHON_OPTS": "-i"})
    if given:
        session.say(given)
    assert session.ended(240) == 0, session.story()
    assert [line for line in session.out if line.endswith(shown)], session.story()


def test_a_driver_on_a_node(begin: Begin) -> None:
    """Its address is the node's."""
    session = begin(document("pi", NEW), *python("pi"), enter=network.enter(NODES[0].network_namespace))
    assert session.ended(240) == 0, session.story()
    assert f"executors will connect to {url_host(NODES[0].address)}:" in "\n".join(session.err)


def test_a_driver_in_a_pod(begin: Begin, cluster: Cluster, restricted: str, tmp_path: Path) -> None:
    """With the pod's account and no kubeconfig; the rights are those that docs/client-mode.md names."""
    asked = document("pi", NEW)
    file = tmp_path / "app.yaml"
    file.write_text(yaml.safe_dump(asked))
    applied = sparkgen(cluster, restricted, "apply", str(file), "--set", "spec.suspend=true")
    assert applied.returncode == 0, applied.stderr
    bench = pods.workbench(cluster, restricted, tmp_path)
    session = begin(asked, *python("pi"), enter=bench.enter, kubeconfig=False, variables=pods.VARIABLES)
    assert session.ended(240) == 0, session.story()
    assert f"executors will connect to {url_host(bench.address)}:" in "\n".join(session.err)
    session.nothing_is_left(60)


@pytest.mark.families
def test_an_address_that_pods_cannot_reach(begin: Begin) -> None:
    """It is said who cannot reach what, before an executor is made; nothing is left."""
    nobody = PRIMARY.node_address(200)
    session = begin(document("pi", NEW), *python("pi"), options=["--driver-host", nobody])
    assert session.ended() == 2
    said = session.err[-1]
    assert f"cannot reach {url_host(nobody)}:" in said
    assert "--driver-host" in said
    assert session.out == []
    session.nothing_is_left(60)


def test_what_the_commands_say_of_sessions(begin: Begin, cluster: Cluster, restricted: str) -> None:
    """Two of one document, each with its own name; one is killed, and its driver hears it."""
    both = [begin(document("two", NEW), *python("rounds")) for _ in range(2)]
    for session in both:
        session.line("round 1:")
    rows = json.loads(sparkgen(cluster, restricted, "status", "-o", "json").stdout)["runs"]
    assert [(row["state"], row["session"]) for row in rows] == [("Running", True)] * 2
    names = [row["run"] for row in rows]
    assert len(set(names)) == 2
    said = sparkgen(cluster, restricted, "logs", names[0])
    assert "the driver of a session logs to its own terminal" in said.stderr
    assert "session" in said.stdout
    killed = next(name for name in names if any(name in line for line in both[0].err))
    assert sparkgen(cluster, restricted, "kill", "two", "--run", killed, "--yes").returncode == 0
    both[0].line("stopped:", 30)
    assert both[0].ended() == 3
    both[1].line("round ")
    both[1].say()
    assert both[1].ended() == 0
    both[1].nothing_is_left(30 + SILENCE)


def test_an_allocator_that_is_killed(begin: Begin) -> None:
    """The next one goes on, with the same executors."""
    session = begin(document("killed", NEW, instances=2), *python("rounds"))
    session.line("round 3:")
    before = {pod["metadata"]["uid"] for pod in session.pods("executor")}
    [pod] = session.pods("driver")
    assert faults.kill_container(pod, "allocator")
    wait_until(lambda: restarts(session) == 1, 60, "the allocator was started again", session.story)
    for _ in range(30):
        session.line("round ")
    assert {pod["metadata"]["uid"] for pod in session.pods("executor")} == before
    session.say()
    assert session.ended() == 0, session.story()
    session.nothing_is_left(60)


def restarts(session: Session) -> int:
    """How often the allocator was started again."""
    [pod] = session.pods("driver")
    [status] = pod["status"]["containerStatuses"]
    return int(status["restartCount"])


def test_a_driver_that_is_killed(begin: Begin) -> None:
    """The program with its JVM: the command ends the session at once."""
    session = begin(document("killed", NEW), *python("rounds"))
    session.line("round 2:")
    session.kill(*session.driver())
    assert session.ended() == 137
    session.nothing_is_left(60)


@pytest.mark.full
def test_commands_that_are_killed(begin: Begin) -> None:
    """Nobody is left to delete anything: it goes by itself, and Spark stops in a program that goes on.

    One loses its command, which is its way to the allocator; one its driver, too; one the allocator as well.
    """
    alone, both, all_three = (begin(document(name, NEW), *python("rounds")) for name in ("a", "b", "c"))
    for session in (alone, both, all_three):
        session.line("round 2:", 240)
    for session in (alone, both, all_three):
        [pod] = session.pods("driver")
        below = session.driver()
        session.kill(session.process.pid, *(() if session is alone else below))
        if session is all_three:
            assert faults.kill_container(pod, "allocator")
    seconds = alone.nothing_is_left(3 * SILENCE)
    assert seconds > SILENCE
    alone.line("stopped:", 60)


@pytest.mark.full
def test_a_machine_that_sleeps(begin: Begin) -> None:
    """Nothing is left meanwhile; when it wakes, Spark stops in the program at once, and says why."""
    session = begin(document("asleep", NEW), *python("rounds"))
    session.line("round 3:", 300)
    with session.asleep():
        assert session.nothing_is_left(3 * SILENCE) > SILENCE
    session.line("stopped:", 30)
    assert session.ended(30) == 3, session.story()
    assert [line for line in session.err if "[SessionEnded]" in line], session.story()


@pytest.mark.full
def test_half_a_minute_without_a_network(begin: Begin, beside: Laptop) -> None:
    """The same executors go on."""
    session = begin(document("cut", NEW, instances=2), *python("rounds"))
    session.line("round 3:")
    before = {pod["metadata"]["uid"] for pod in session.pods("executor")}
    with beside.cut_off():
        time.sleep(30)
    for _ in range(5):
        session.line("round ", 120)
    assert {pod["metadata"]["uid"] for pod in session.pods("executor")} == before
    session.say()
    assert session.ended() == 0, session.story()
    session.nothing_is_left(60)


@pytest.mark.full
def test_five_minutes_without_a_network(begin: Begin, beside: Laptop) -> None:
    """Nothing is left in the cluster long before; Spark stops in the program, and the command says why."""
    session = begin(document("cut", NEW), *python("rounds"))
    session.line("round 3:")
    with beside.cut_off():
        began = time.monotonic()
        session.nothing_is_left(3 * SILENCE)
        session.line("stopped:", 120)
        assert session.ended(120) == 3
        time.sleep(max(300 - (time.monotonic() - began), 0))
    assert [line for line in session.err if "could not be deleted" in line], session.story()
