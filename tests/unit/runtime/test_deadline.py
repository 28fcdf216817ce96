"""A limit on the time of a whole answer."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from sparkgen.runtime.deadline import Deadline, Keeper, Overdue, within


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both ends of a connection; the first one is watched."""
    near, far = socket.socketpair()
    with closing(near), closing(far):
        yield near, far


def test_each_part_has_as_long(pair: tuple[socket.socket, socket.socket]) -> None:
    """What was extended meanwhile is waited for again; then the connection is shut down."""
    now, waits = [0.0], list[float]()

    def wait(_: threading.Condition, seconds: float) -> None:
        now[0] += seconds
        waits.append(seconds)
        if len(waits) < 3:
            deadline.extend()

    deadline = Deadline(5.0, Keeper(lambda: now[0], wait))
    deadline.watch(pair[0])
    assert pair[1].recv(1) == b""
    assert waits == [5.0, 5.0, 5.0]
    assert deadline.end()


def test_what_ended_in_time_is_left_alone(pair: tuple[socket.socket, socket.socket]) -> None:
    """When its time comes, and for another one, which has a thread again."""
    now, ended = [0.0], threading.Event()
    waits = list[float]()

    def wait(changed: threading.Condition, seconds: float) -> None:
        changed.release()
        assert ended.wait(60)
        changed.acquire()
        now[0] += seconds
        waits.append(seconds)

    keeper = Keeper(lambda: now[0], wait)
    deadline = Deadline(5.0, keeper)
    deadline.watch(pair[0])
    assert not deadline.end()
    ended.set()
    later = Deadline(7.0, keeper)
    later.watch(pair[1])
    assert pair[0].recv(1) == b""
    assert (later.end(), deadline.end()) == (True, False)


def test_a_deadline_before_the_others_is_kept(pair: tuple[socket.socket, socket.socket]) -> None:
    """The thread waits for a later one when it comes."""
    keeper, (near, far) = Keeper(), pair
    waiting = Deadline(1000.0, keeper)
    waiting.watch(far)
    soon = Deadline(0.01, keeper)
    soon.watch(near)
    assert far.recv(1) == b""
    assert (soon.end(), waiting.end()) == (True, False)


def read_within(seconds: float, near: socket.socket, error: Exception | None) -> None:
    """Read to the end, and find an error in it."""
    with within(seconds) as deadline:
        deadline.watch(near)
        assert near.recv(1) == b""
        if error is not None:
            raise error


@pytest.mark.parametrize("error", [None, ValueError("the answer is empty")])
def test_an_answer_that_ends_because_of_the_deadline_is_none(
    pair: tuple[socket.socket, socket.socket], error: Exception | None
) -> None:
    """Whether it looks like an end or like an error."""
    with pytest.raises(Overdue, match=r"no complete answer within 0\.01 s") as caught:
        read_within(0.01, pair[0], error)
    assert caught.value.__cause__ is error


def test_an_answer_in_time_keeps_its_error(pair: tuple[socket.socket, socket.socket]) -> None:
    """It is the caller's."""
    pair[1].close()
    with pytest.raises(ValueError, match="empty"):
        read_within(60.0, pair[0], ValueError("the answer is empty"))


def test_without_a_thread_there_is_no_answer(
    pair: tuple[socket.socket, socket.socket], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container may not allow any more; later it may."""

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    deadline = Deadline(0.01, Keeper())
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        with pytest.raises(OSError, match="can't start new thread"):
            deadline.watch(pair[0])
    deadline.watch(pair[0])
    assert pair[1].recv(1) == b""
