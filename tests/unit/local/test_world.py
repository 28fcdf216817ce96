"""Executors as processes: shown as pods, with ends that the allocator understands."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import count
from typing import Any

import pytest

from sparkgen import contract
from sparkgen.local.world import REMEMBERED, Processes, Tools, terminated
from sparkgen.runtime.allocator.observe.causes import loss_of
from sparkgen.runtime.allocator.values.actions import ActionOutcome, Create, Delete
from sparkgen.runtime.allocator.values.backend import WatchEnded, WatchEvent
from sparkgen.runtime.allocator.values.observed import Cause
from sparkgen.runtime.kubernetes.answers import Answer


class Stub:
    """A process that ends when the test says so."""

    def __init__(self) -> None:
        self._ended = threading.Event()
        self._code = 0
        self.asked: list[str] = []

    def end(self, code: int) -> None:
        """Let it end with this code."""
        self._code = code
        self._ended.set()

    def wait(self) -> int:
        """As a process would."""
        assert self._ended.wait(10)
        return self._code

    def terminate(self) -> None:
        """Ends at once, as a JVM would soon."""
        self.asked.append("terminate")
        self.end(143)

    def kill(self) -> None:
        """Ends by the signal."""
        self.asked.append("kill")
        self.end(-signal.SIGKILL)


class Bench:
    """A world of stubs."""

    def __init__(self) -> None:
        self.stubs: dict[int, Stub] = {}
        self.fault: Exception | None = None
        self.grace = 30
        self._uids = (f"uid-{number}" for number in count())
        clock = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
        tools = Tools(self._pod, self._start, lambda _: None, lambda: next(self._uids), lambda: clock)
        self.world = Processes(tools)

    def _pod(self, order: Create) -> Mapping[str, Any]:
        if isinstance(self.fault, ValueError):
            raise self.fault
        labels = {contract.LABEL_EXECUTOR_ID: str(order.id)}
        spec = {"containers": [], "terminationGracePeriodSeconds": self.grace}
        return {"metadata": {"name": f"exec-{order.id}", "labels": labels}, "spec": spec}

    def _start(self, pod: Mapping[str, Any], id_: int) -> Stub:
        if isinstance(self.fault, OSError):
            raise self.fault
        self.stubs[id_] = Stub()
        return self.stubs[id_]

    def after(self, version: str, number: int) -> list[WatchEvent]:
        """The next events of a watch."""
        watch = self.world.watch(version)
        return [next(watch) for _ in range(number)]


@pytest.fixture
def bench() -> Iterator[Bench]:
    """A world that is closed after the test."""
    bench = Bench()
    yield bench
    bench.world.kill()


def test_an_executor_appears_runs_and_ends(bench: Bench) -> None:
    """Added, running, ended: as a pod goes, with the exit code where a kubelet has it."""
    assert bench.world.create(Create(1, 0)) == ActionOutcome(Create(1, 0), Answer.DONE)
    bench.stubs[1].end(52)
    added, running, ended = bench.after("0", 3)
    assert [added.kind, running.kind, ended.kind] == ["ADDED", "MODIFIED", "MODIFIED"]
    assert [event.pod["status"]["phase"] for event in (added, running, ended)] == [
        "Pending",
        "Running",
        "Failed",
    ]
    assert added.pod["metadata"]["uid"] == ended.pod["metadata"]["uid"] == "uid-0"
    loss = loss_of(ended.pod)
    assert loss is not None
    assert (loss.cause, loss.exit_code, loss.by_application) == (Cause.EXITED, 52, True)
    (listed,) = bench.world.list().pods
    assert listed == ended.pod


def test_a_signal_is_told_as_a_kubelet_tells_it() -> None:
    """128 plus its number; a normal end is Completed."""
    assert terminated(-9, "a", "b") == {
        "startedAt": "a",
        "finishedAt": "b",
        "exitCode": 137,
        "signal": 9,
        "reason": "Error",
    }
    assert terminated(0, "a", "b")["reason"] == "Completed"


def test_a_repeated_creation_makes_no_second_process(bench: Bench) -> None:
    """The name is a function of the id: it is there already, and that is success."""
    bench.world.create(Create(1, 0))
    first = bench.stubs[1]
    assert bench.world.create(Create(1, 0, again=True)).answer is Answer.DONE
    assert bench.stubs[1] is first
    assert len(bench.world.list().pods) == 1


def test_a_deleted_executor_is_asked_and_then_gone(bench: Bench) -> None:
    """It is seen as being deleted, ends, and is not there any more."""
    bench.world.create(Create(1, 0))
    version = bench.world.list().version
    assert bench.world.delete(Delete(1)).answer is Answer.DONE
    deleting, ended, gone = bench.after(version, 3)
    assert bench.stubs[1].asked == ["terminate"]
    assert "deletionTimestamp" in deleting.pod["metadata"]
    assert ended.pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 143
    assert gone.kind == "DELETED"
    assert bench.world.list().pods == ()


def test_a_forced_deletion_kills(bench: Bench) -> None:
    """Without a grace there is nothing to wait for; the same holds for a grace of zero."""
    bench.world.create(Create(1, 0))
    bench.world.delete(Delete(1, forced=True))
    bench.grace = 0
    bench.world.create(Create(2, 0))
    bench.world.delete(Delete(2))
    assert bench.stubs[1].asked == bench.stubs[2].asked == ["kill"]


def test_what_has_ended_is_deleted_at_once(bench: Bench) -> None:
    """And what is not there is deleted already; another UID is another executor's."""
    bench.world.create(Create(1, 0))
    bench.stubs[1].end(1)
    bench.after("0", 3)
    assert bench.world.delete(Delete(1, uid="uid-of-another")).answer is Answer.DONE
    assert len(bench.world.list().pods) == 1
    assert bench.world.delete(Delete(1, uid="uid-0")).answer is Answer.DONE
    assert bench.world.list().pods == ()
    assert bench.world.delete(Delete(1)).answer is Answer.DONE


def test_a_machine_that_is_full_is_an_answer(bench: Bench) -> None:
    """No more processes or no memory: time may fix it. A profile that makes no pod: never."""
    bench.fault = OSError(11, "Resource temporarily unavailable")
    outcome = bench.world.create(Create(1, 0))
    assert outcome.answer is Answer.REFUSED
    assert "Resource temporarily unavailable" in str(outcome.hindrance)
    bench.fault = ValueError("resource profile 1 asks for a gpu")
    assert bench.world.create(Create(1, 1)).answer is Answer.PERMANENT
    assert bench.world.list().pods == ()


def test_a_watch_from_too_long_ago_has_to_list_again(bench: Bench) -> None:
    """Events are remembered for a while only."""
    for id_ in range(1, REMEMBERED // 2 + 2):
        bench.world.create(Create(id_, 0))
    with pytest.raises(WatchEnded):
        next(bench.world.watch("0"))


def test_closing_ends_watches(bench: Bench) -> None:
    """And nothing is created from then on."""
    ended = threading.Event()

    def follow() -> None:
        list(bench.world.watch("0"))
        ended.set()

    threading.Thread(target=follow, daemon=True).start()
    bench.world.close()
    assert ended.wait(5)
    assert bench.world.create(Create(1, 0)).answer is Answer.REFUSED


def test_the_end_of_a_run_kills_what_is_left(bench: Bench) -> None:
    """And knows when nothing runs any more."""
    bench.world.create(Create(1, 0))
    assert not bench.world.wait_until_empty(0.01)
    bench.world.kill()
    assert bench.stubs[1].asked == ["kill"]
    assert bench.world.wait_until_empty(5)
