"""What tests of client mode share: a machine beside the cluster, and sessions that end with the test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cluster.handle import Cluster

from .laptop import Laptop, laptop
from .sessions import Begin, Session


@pytest.fixture(scope="module")
def beside(cluster: Cluster) -> Iterator[Laptop]:
    """A machine beside the cluster."""
    with laptop() as made:
        yield made


@pytest.fixture
def begin(cluster: Cluster, restricted: str, beside: Laptop, tmp_path: Path) -> Iterator[Begin]:
    """A function: begin a session on that machine, in a namespace of level "restricted"."""
    begun: list[Session] = []

    def call(asked: dict[str, Any], *command: str, **more: Any) -> Session:
        more.setdefault("enter", beside.enter)
        begun.append(Session(cluster, restricted, asked, command, folder=tmp_path, **more))
        return begun[-1]

    yield call
    for session in begun:
        session.close()
