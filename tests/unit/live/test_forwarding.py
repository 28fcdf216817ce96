"""A port of this machine that leads to a run's driver, and connections of the command's own."""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
from typing import cast

from sparkgen.cluster import Cluster
from sparkgen.live.values import Run
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
