"""A session beside a shuffle service: executors go, and what they have shuffled stays."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from deployed import APPLICATIONS, wait_until

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from tests.e2e.shuffle import services

from .laptop import Laptop
from .sessions import Session, document

pytestmark = pytest.mark.own_cluster
NEW = TESTED_VERSIONS[1]
PATIENCE = 300
"""Seconds, on a machine that others use as well."""
PORT = 7387
"""Of this service: others may be up beside it."""


@pytest.fixture
def service(cluster: Cluster, images: None) -> Iterator[services.Service]:
    """A shuffle service in a namespace of its own."""
    namespace = f"shuffle-{uuid.uuid4().hex[:6]}"
    cluster.kubectl("create", "namespace", namespace)
    janitor = {"intervalSeconds": 2, "graceSeconds": 10}
    yield services.start(cluster, namespace, NEW, name="beside", port=PORT, janitor=janitor)
    cluster.kubectl("delete", "namespace", namespace, "--wait=false")


def test_what_a_session_has_shuffled_outlives_its_executors(
    cluster: Cluster, namespace: str, service: services.Service, beside: Laptop, tmp_path: Path
) -> None:
    """Other executors read it, and no map task runs again; the janitor removes it after the session."""
    coming = {"enabled": True, "maxExecutors": 2, "executorIdleTimeout": "3s"}
    asked = document("reused", NEW, dynamicAllocation=coming, shuffleService=service.section())
    cluster.apply(services.secret(namespace))
    go = tmp_path / "go"
    command = [sys.executable, str(APPLICATIONS / "reused.py"), f"still:{go}", "4", "2"]
    session = Session(cluster, namespace, asked, command, enter=beside.enter, folder=tmp_path)
    try:
        session.line("mapped: 2", PATIENCE)
        wait_until(
            lambda: not session.pods("executor"), PATIENCE, "the idle executors have gone", session.story
        )
        (pod,) = session.pods("driver")
        assert service.folders(namespace) == {f"{namespace}_{pod['metadata']['uid']}"}, service.story()
        go.touch()
        assert session.ended(PATIENCE) == 0, session.story()
    finally:
        session.close()
    told = services.read_result(session.out)
    assert told["bytes"] == [told["expected"]]
    assert (told["mapTasks"], services.again(told)) == (2, 0), told
    session.nothing_is_left(60)
    gone = "the janitor has removed its files"
    wait_until(lambda: not service.folders(namespace), PATIENCE, gone, service.story)
