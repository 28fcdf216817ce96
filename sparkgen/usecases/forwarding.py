"""Forward a port of this machine to a run's driver, for as long as there is one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkgen.cluster import ClusterError
from sparkgen.errors import SparkgenError
from sparkgen.live.state import State, life_of
from sparkgen.live.tunnel import LOOPBACK, SILENCE, Tunnel, has
from sparkgen.live.values import Run, container, leaving, name_of, running, status_of, uid_of
from sparkgen.objects import ObjectView
from sparkgen.usecases.drivers import again

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster
    from sparkgen.cluster.channel import Forwarded

LOOK_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Served:
    """What a driver serves at a port of its pod.

    `closed`: what to say while nothing listens there; `addresses`: of this machine, where its clients look
    for it; `silence`: as of a Tunnel; `again`: what to say of another driver, "" for words that fit most.
    """

    port: int
    closed: str
    addresses: Sequence[str] = (LOOPBACK,)
    silence: float = SILENCE
    again: str = ""


class Forwarding:
    """A port of this machine that leads to a run's driver.

    A Deployment has another driver after the end of one: each new connection goes to the one that is there.
    `port`: 0 for any that is free. `say`: is told what goes wrong, and of another driver, each once.
    SparkgenError when the port is taken.
    """

    def __init__(
        self, cluster: Cluster, run: Run, served: Served, port: int, say: Callable[[str], None]
    ) -> None:
        self.run = run
        self._cluster, self._served, self._say = cluster, served, say
        self._told: set[str] = set()
        self._driver = ""
        self._closed = False
        self._tunnels: list[Tunnel] = []
        try:
            for address in filter(has, served.addresses):
                tunnel = Tunnel(port, served.port, self._open, self._complain, served.silence, address)
                self._tunnels.append(tunnel)
                port = self.port
        except SparkgenError:
            self.close()
            raise

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._tunnels[0].port

    def start(self, run: Run) -> None:
        """Begin. `run`: as it is now, with a driver that runs."""
        self.run, self._driver = run, _driver(run)
        for tunnel in self._tunnels:
            tunnel.start()

    def until_the_end(self) -> bool:
        """Return when the driver has ended and none comes after it (True), or after a close (False)."""
        while True:
            time.sleep(LOOK_SECONDS)
            if self._closed:
                return False
            try:
                if self._goes_on():
                    continue
            except ClusterError:
                continue  # it may answer again; who uses the port is told
            except SparkgenError:
                pass  # the application was deleted
            self.close()
            return True

    def close(self) -> None:
        """End it."""
        self._closed = True
        for tunnel in self._tunnels:
            tunnel.stop()

    def _goes_on(self) -> bool:
        """Look for the driver: whether it runs, or another one will."""
        before, comes_back = self.run, self.run.kind == "Deployment"
        name = name_of(before.driver) if before.driver is not None else ""
        pod = self._cluster.get("v1", "Pod", name, before.namespace) if name else None
        # One on a node that is lost is being deleted for as long as the node is, and runs by its status.
        if pod is not None and _goes_on_in(pod) and not (comes_back and leaving(pod)):
            self.run = replace(before, drivers=(pod,))
        elif not comes_back:
            return False
        else:
            self.run = again(self._cluster, before)
            if life_of(self.run).state in (State.SUSPENDED, State.DELETING):
                return False
        if (driver := _driver(self.run)) not in ("", self._driver):
            self._driver = driver
            self._told.clear()
            another = f"{self.run.application} has a new driver; new connections go to it"
            self._say(self._served.again or another)
        return True

    def _open(self) -> Forwarded:
        if self.run.driver is None:
            raise ClusterError(
                f"the driver of {self.run.application} has ended, and the next has not started"
            )
        return self._cluster.forward(name_of(self.run.driver), self._served.port, self.run.namespace)

    def _complain(self, text: str) -> None:
        text = self._served.closed if "connection refused" in text else text
        if text not in self._told:
            self._told.add(text)
            self._say(text)


def _goes_on_in(pod: ObjectView) -> bool:
    """Whether a driver runs in its pod, or one will that the kubelet starts again."""
    if pod["spec"].get("restartPolicy") == "OnFailure":
        return status_of(pod).get("phase") in ("Pending", "Running")
    return bool(running(container(pod)))


def _driver(run: Run) -> str:
    """What tells the driver that runs from the one before, also in the same pod; "" while none runs."""
    if run.driver is None or not running(container(run.driver)):
        return ""
    return f"{uid_of(run.driver)} {container(run.driver).get('restartCount', 0)}"
