"""Tasks, as the driver's UI counts them: requested once a second, and only if a terminal shows them."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sparkgen.jsonvalue import decode
from sparkgen.local.ports import LOOPBACK, is_ours
from sparkgen.local.status import Tasks
from sparkgen.runtime.deadline import within

EVERY_SECONDS = 1.0
TIMEOUT_SECONDS = 2.0
"""Seconds for the whole answer: another program may have the port."""
MOST_BYTES = 1 << 24
"""Of an answer. Spark's has about 2 KiB for each executor."""


def follow(port: int, application_id: str, show: Callable[[Tasks], None], ended: threading.Event) -> None:
    """Request the tasks until `ended`. If the driver does not answer, or has no UI, retries later."""
    while not ended.wait(EVERY_SECONDS):
        tasks = ask(port, application_id)
        if tasks is not None:
            show(tasks)


def ask(port: int, application_id: str) -> Tasks | None:
    """The current tasks; None if the driver does not answer, or another user has its port.

    Source: Spark's monitoring REST API, `/applications/<id>/allexecutors`.
    """
    if not is_ours(port):
        return None
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=TIMEOUT_SECONDS)
    try:
        connection.connect()
        with within(TIMEOUT_SECONDS) as deadline:
            deadline.watch(connection.sock)
            connection.request("GET", f"/api/v1/applications/{application_id}/allexecutors")
            answer = connection.getresponse()
            body = answer.read(MOST_BYTES + 1) if answer.status == http.client.OK else b""
        return parse(decode(body)) if len(body) <= MOST_BYTES else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def parse(executors: Iterable[Mapping[str, Any]]) -> Tasks:
    """The sums over all executors, also those that are gone."""
    every = list(executors)
    return Tasks(
        active=sum(each["activeTasks"] for each in every if each.get("isActive", True)),
        done=sum(each["completedTasks"] for each in every),
        failed=sum(each["failedTasks"] for each in every),
    )
