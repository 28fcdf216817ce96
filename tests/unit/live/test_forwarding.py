"""A port of this machine that leads to a run's driver, and connections of the command's own."""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
from typing import cast

import pytest

from sparkgen.cluster import Cluster
from sparkgen.live.tunnel import LOCALHOST, has
from sparkgen.live.values import Run
from sparkgen.usecases import forwarding
from sparkgen.usecases.forwarding import Forwarding, Served
from tests.unit.live.played import Played

RUN = Run(
    "pi",
    "analytics",
    "pi-1a2b3c4d",
    "1a2b3c4d",
    {"kind": "Job"},
    ({"metadata": {"name": "pi-1a2b3c4d-x7k2p", "uid": "1"}, "spec": {"containers": []}, "status": {}},),
)


class Slow:
    """A cluster that opens a connection when the test says so. `asked`: one entry for each that is wanted."""

    def __init__(self) -> None:
        self.asked: queue.Queue[str] = queue.Queue()
        self.go = threading.Event()

    def forward(self, pod: str, port: int, namespace: str) -> Played:
        """A connection, after a while."""
        self.asked.put(threading.current_thread().name)
        self.go.wait(60)
        return Played([])


def test_the_commands_own_connection_waits_for_one_other_at_most() -> None:
    """However many clients the port has."""
    cluster = Slow()
    served = Served(4040, "it does not answer")
    forwarding = Forwarding(cast(Cluster, cluster), RUN, served, 0, print)
    own = threading.Thread(target=forwarding.open, name="own", daemon=True)
    with contextlib.ExitStack() as stack:
        stack.callback(forwarding.close)
        stack.callback(cluster.go.set)
        forwarding.start(RUN)
        for _ in range(5):
            near = stack.enter_context(socket.create_connection(("127.0.0.1", forwarding.port), 5))
            near.sendall(b"a question")
        cluster.asked.get(timeout=60)
        own.start()
        assert cluster.asked.get(timeout=60) == "own"
    own.join(60)


def test_the_port_of_a_driver_that_has_ended_is_nobody_elses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that still has its address would send its token to whoever listens there next."""

    class Ended:
        """A cluster without the driver."""

        def get(self, *_: str) -> None:
            """Nothing."""

    monkeypatch.setattr(forwarding, "LOOK_SECONDS", 0.0)
    served = Served(15002, "it does not answer", LOCALHOST)
    with contextlib.closing(Forwarding(cast(Cluster, Ended()), RUN, served, 0, print)) as kept:
        kept.start(RUN)
        assert kept.until_the_end()
        for address in filter(has, LOCALHOST):
            with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as thief:
                thief.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                with pytest.raises(OSError, match="in use"):
                    thief.bind((address, kept.port))
            with socket.create_connection((address, kept.port), 5) as near:
                assert near.recv(1) == b""
