"""Forwards a port of this machine to a run's driver, for as long as the run has a driver."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkgen.cluster import ClusterError
from sparkgen.errors import SparkgenError
from sparkgen.live.find import reread
from sparkgen.live.page_address import authority
from sparkgen.live.state import State, life_of
from sparkgen.live.tunnel import LOOPBACK, SILENCE, Near, Places, Tunnel, has
from sparkgen.live.values import Run, container, leaving, name_of, running, status_of, uid_of
from sparkgen.objects import ObjectView

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster
    from sparkgen.cluster.channel import Forwarded

LOOK_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Served:
    """What a driver serves at a port of its pod.

    `closed`: the message while nothing listens there; `addresses`: of this machine, to which clients connect;
    `silence`: as of a Tunnel; `again`: the message about another driver, "" for a general one; `host`: as of
    Near.
    """

    port: int
    closed: str
    addresses: Sequence[str] = (LOOPBACK,)
    silence: float = SILENCE
    again: str = ""
    host: str = ""


class Forwarding:
    """A port of this machine that is forwarded to a run's driver.

    A Deployment starts another driver when one ends: each new connection goes to the new driver. `port`: 0
    for any free port. `say`: called once with each problem, and with a message about another driver.
    Raises SparkgenError if the port is in use.
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
        places = Places()
        try:
            for address in filter(has, served.addresses):
                near = Near(address, served.host)
                tunnel = Tunnel(port, served.port, self.open, self._complain, served.silence, near, places)
                self._tunnels.append(tunnel)
                port = self.port
        except SparkgenError:
            self.close()
            raise

    @property
    def port(self) -> int:
        """The port on which it listens."""
        return self._tunnels[0].port

    @property
    def page(self) -> str:
        """The address for a browser."""
        return f"http://{authority(self._served.host, self.port)}"

    def start(self, run: Run) -> None:
        """Start to accept connections. `run`: as it is now, with a driver that runs."""
        self.run, self._driver = run, _driver(run)
        for tunnel in self._tunnels:
            tunnel.start()

    def until_the_end(self) -> bool:
        """Return when the driver has ended and none comes after it (True), or after a close (False).

        The port then refuses connections, but stays this process's until `close` or `hand_over`.
        """
        while True:
            time.sleep(LOOK_SECONDS)
            if self._closed:
                return False
            try:
                if self._goes_on():
                    continue
            except ClusterError:
                continue  # the cluster may answer again; `open` reports the error to users of the port
            except SparkgenError:
                pass  # the application was deleted
            for tunnel in self._tunnels:
                tunnel.refuse()
            return True

    def hand_over(self) -> socket.socket:
        """Stop forwarding, and return the socket that listens at the first address.

        Raises OSError if it is closed.
        """
        listening = self._tunnels[0].hand_over()
        self.close()
        return listening

    def close(self) -> None:
        """Stop forwarding, and close the port."""
        self._closed = True
        for tunnel in self._tunnels:
            tunnel.stop()

    def _goes_on(self) -> bool:
        """Read the driver's pod; returns whether the driver runs, or another driver will."""
        before, comes_back = self.run, self.run.kind == "Deployment"
        name = name_of(before.driver) if before.driver is not None else ""
        pod = self._cluster.get("v1", "Pod", name, before.namespace) if name else None
        # A pod on a lost node is being deleted until the node is back, and still runs by its status.
        if pod is not None and _goes_on_in(pod) and not (comes_back and leaving(pod)):
            self.run = replace(before, drivers=(pod,))
        elif not comes_back:
            return False
        else:
            self.run = reread(self._cluster, before)
            if life_of(self.run).state in (State.SUSPENDED, State.DELETING):
                return False
        if (driver := _driver(self.run)) not in ("", self._driver):
            self._driver = driver
            self._told.clear()
            another = f"{self.run.application} has a new driver; new connections go to it"
            self._say(self._served.again or another)
        return True

    def open(self) -> Forwarded:
        """Open a connection to the driver that nobody else uses. Raises ClusterError if that fails."""
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
    """Whether a driver runs in its pod, or the kubelet will start it again there."""
    if pod["spec"].get("restartPolicy") == "OnFailure":
        return status_of(pod).get("phase") in ("Pending", "Running")
    return bool(running(container(pod)))


def _driver(run: Run) -> str:
    """Returns an id of the running driver, which changes also with a restart in its pod; "" if none runs."""
    if run.driver is None or not running(container(run.driver)):
        return ""
    return f"{uid_of(run.driver)} {container(run.driver).get('restartCount', 0)}"
