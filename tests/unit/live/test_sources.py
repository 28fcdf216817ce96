"""Which logs are meant, where one went that is gone, and several at once."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import pytest

from sparkgen.cluster import ClusterError
from sparkgen.errors import SparkgenError
from sparkgen.live.find import find
from sparkgen.live.following import lines, one_by_one, together
from sparkgen.live.sources import Source, allocator_source, driver_source, executor_source, executor_sources
from sparkgen.live.values import Run
from sparkgen.runtime.allocator.report.log_form import LogEvent, LogLine
from tests.unit.live.cases import told
from tests.unit.live.objects import Cluster, Object, driver, ends, executor, job, runs

DRIVER = "spark-kubernetes-driver"
A, B = Source("a", DRIVER, "driver"), Source("b", "spark-kubernetes-executor", "executor 1")


def run_of(*objects: Object) -> Run:
    """The run of these objects."""
    return find(Cluster(*objects)).applications[0].runs[0]


def works(pod: Object, id_: int, state: Object | None = None) -> Object:
    """An executor's pod whose container runs, or is in another state."""
    status = {"name": "spark-kubernetes-executor", "state": runs() if state is None else state}
    return executor(pod, id_, containerStatuses=[status])


def test_the_drivers_log_or_that_of_what_failed_before_it() -> None:
    """Nothing while nothing has begun."""
    assert driver_source(run_of(job())) is None
    assert driver_source(run_of(job(), driver(job()))) is None
    found = driver_source(run_of(job(), driver(job(), state=runs())))
    assert found == Source("pi-1a2b3c4d-x7k2p", DRIVER, "driver")
    stopped = [{"name": "install", "state": ends(1)}]
    found = driver_source(run_of(job(), driver(job(), initContainerStatuses=stopped)))
    assert found == Source("pi-1a2b3c4d-x7k2p", "install", "install")


def test_the_allocators_log_is_there_when_it_has_begun() -> None:
    """Not before."""
    assert allocator_source(run_of(job(), driver(job()))) is None
    pod = driver(job(), initContainerStatuses=[{"name": "allocator", "state": runs()}])
    assert allocator_source(run_of(job(), pod)) == Source("pi-1a2b3c4d-x7k2p", "allocator", "allocator")


def test_executors_are_found_by_id_or_pod_and_listed_by_number() -> None:
    """10 comes after 9; one that has not started has no log."""
    pod = driver(job(), state=runs())
    pods = [works(pod, id_) for id_ in (10, 9)]
    waits = works(pod, 11, {"waiting": {"reason": "ImagePullBackOff"}})
    run = run_of(job(), pod, *pods, waits)
    assert [one.title for one in executor_sources(run)] == ["executor 9", "executor 10"]
    name = "pi-1a2b3c4d-7bab1-exec-9"
    assert executor_source(run, "9", "") == executor_source(run, name, "")
    assert executor_source(run, "9", "").pod == name
    with pytest.raises(
        SparkgenError, match=r"executor 11 has not started \(ImagePullBackOff\): see sparkgen status"
    ):
        executor_source(run, "11", "")


def test_a_gone_executor_has_its_story_and_the_name_of_its_pod() -> None:
    """From the allocator's log; without it the name at least, and without a number nothing."""
    pod = driver(job(), state=runs())
    run = run_of(job(), pod, works(pod, 9))
    log = told(
        LogLine(LogEvent.LOSS, "executor 3 is gone (oom): killed: out of memory.", facts={"executor": 3})
    )
    log += told(LogLine(LogEvent.LOSS, "executor 33 is gone (exited): executor 3 is", facts={"executor": 33}))
    with pytest.raises(SparkgenError) as caught:
        executor_source(run, "3", log)
    said = str(caught.value)
    assert said.startswith("executor 3 is gone (oom): killed: out of memory; its log was deleted")
    assert "-exec-3: look for that name in your cluster's log collection; it has executors 9" in said
    with pytest.raises(
        SparkgenError, match="pi-1a2b3c4d has no executor 4 any more; if it had one, its log was deleted with"
    ):
        executor_source(run, "4", log)
    with pytest.raises(SparkgenError, match="pi-1a2b3c4d has no executor x: it has executors 9"):
        executor_source(run, "x", log)


def test_lines_come_when_they_are_whole() -> None:
    """Pieces end anywhere, in the middle of a character too; the last line needs no end."""
    text = "grün\nzwei".encode()
    pieces = iter([text[:3], text[3:6], text[6:]])
    assert list(lines(pieces)) == ["grün\n", "zwei\n"]
    assert [line.encode(errors="surrogateescape") for line in lines([b"\xff\n"])] == [b"\xff\n"]


def test_a_line_without_an_end_takes_neither_all_memory_nor_hours() -> None:
    """An application may write one while its log is followed: each byte is looked at once."""
    found = lines([b"x" * 600] * 4 + [b"y\nz"], 1_000)
    assert [len(line) for line in found] == [1201, 1201, 2, 2]
    began = time.process_time()
    assert [*lines([b"x" * 64] * 100_000 + [b"\n"])] == ["x" * 6_400_000 + "\n"]
    assert time.process_time() - began < 1


def test_one_log_after_the_other_and_what_cannot_be_read_between() -> None:
    """Each line says whose it is."""

    def read(source: Source) -> Iterator[bytes]:
        if source is B:
            raise ClusterError("cannot read the log", 404)
        yield b"1\n2\n"

    assert list(one_by_one([B, A], read)) == [
        "[executor 1] cannot read the log\n",
        "[driver] 1\n",
        "[driver] 2\n",
    ]


def test_together_until_the_run_is_over_and_all_logs_have_ended() -> None:
    """A container that begins later comes in; one that cannot be read is said."""
    looks: list[tuple[Sequence[Source], bool]] = [([A], False), ([A, B], False), ([A, B], True)]
    known = iter(looks)

    def look() -> tuple[Sequence[Source], bool]:
        return next(known, looks[-1])

    def read(source: Source) -> Iterator[bytes]:
        if source is B:
            raise ClusterError("gone", 404)
        yield b"1\n"

    assert list(together(look, read)) == ["[driver] 1\n", "[executor 1] gone\n"]
