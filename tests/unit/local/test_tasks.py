"""The answer at the port of the driver's UI, which another program may have taken."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest

from sparkgen.local import ports, tasks
from sparkgen.local.status import Tasks


@contextlib.contextmanager
def answering(*pieces: bytes, again: bytes = b"") -> Iterator[int]:
    """A port that sends these pieces to its first client, then `again` for ever."""

    def answer() -> None:
        with contextlib.suppress(OSError):
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                for piece in pieces:
                    connection.sendall(piece)
                while again:
                    connection.sendall(again)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
    thread.join(60)


def whole(body: bytes) -> bytes:
    """An answer with a body."""
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


def test_an_answer_of_spark_is_read() -> None:
    """Its executors are summed."""
    with answering(whole(b'[{"activeTasks": 1, "completedTasks": 2, "failedTasks": 3}]')) as port:
        assert tasks.ask(port, "a") == Tasks(1, 2, 3)


def test_another_user_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who listens at the port before Spark does would choose what the terminal shows."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        monkeypatch.setattr(ports.sockets, "users", lambda _: frozenset({65534}))
        assert tasks.ask(listener.getsockname()[1], "a") is None
        with pytest.raises(BlockingIOError):
            listener.accept()


@pytest.mark.parametrize(
    "body",
    [b"[1]", b'["a"]', b'{"a": 1}', b"[" * 100_000, b"\xff", b"null"],
    ids=["numbers", "texts", "an object", "deep", "bytes", "null"],
)
def test_another_answer_is_none(body: bytes) -> None:
    """And no error, which would end the thread that shows the tasks."""
    with answering(whole(body)) as port:
        assert tasks.ask(port, "a") is None


def test_an_answer_of_more_than_the_limit_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """However it ends; one at the limit is read."""
    monkeypatch.setattr(tasks, "MOST_BYTES", 1000)
    with answering(whole(b"[" + b" " * 998 + b"]")) as port:
        assert tasks.ask(port, "a") == Tasks(0, 0, 0)
    with answering(whole(b"[" + b" " * 999 + b"]")) as port:
        assert tasks.ask(port, "a") is None


def test_an_answer_without_an_end_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte comes in time, and the limit on bytes is never reached."""
    monkeypatch.setattr(tasks, "TIMEOUT_SECONDS", 0.2)
    with answering(again=b"HTTP/1.1 100 Continue\r\n\r\n") as port:
        assert tasks.ask(port, "a") is None
