"""The network between allocator and API server: requests and answers take time, get lost, or come late."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from simulator.active_faults import ActiveFaults
from simulator.apiserver import ApiServer, Change, status
from simulator.event_queue import EventQueue
from simulator.schedule import FaultKind
from sparkgen import contract
from sparkgen.objects import Object
from sparkgen.runtime.allocator.pods.kubernetes_backend import SILENCE
from sparkgen.runtime.kubernetes.answers import CallFailed, Reply
from sparkgen.runtime.kubernetes.transport import READ_TIMEOUT, LineSource

RETRY_AFTER = "3"
"""Seconds that a busy server asks to wait (the header Retry-After of its 429)."""
BOOKMARK_EVERY = 60.0


class Fate(enum.Enum):
    """The possible results of a request."""

    CARRIED_OUT = "carried out"
    UNANSWERED = "carried out, not answered"
    LOST = "not carried out, not answered"
    LATE = "not answered, carried out later"
    ERROR = "carried out, answered with 500"
    UNREACHABLE = "not sent"
    BUSY = "answered 429"
    BROKEN = "answered 500"


WAITS = frozenset({Fate.UNANSWERED, Fate.LOST, Fate.LATE})
"""The results that the client notices only by its own time-out."""


@dataclass(slots=True)
class Network:
    """The network of all allocators of a schedule: a request of a dead one may still arrive."""

    event_queue: EventQueue
    server: ApiServer
    active_faults: ActiveFaults
    random: Random
    streams: list[WatchStream] = field(default_factory=list)
    on_their_way: int = 0
    """The number of requests that have timed out, and have not arrived yet."""
    late_ids: set[int] = field(default_factory=set)
    """Executors whose creation arrived after the client's time-out."""

    def delay(self) -> float:
        """The seconds that a message takes."""
        return self.random.uniform(0.005, 0.08)

    def fate(self, method: str) -> Fate:
        """The result of a request that is sent now."""
        active_faults = self.active_faults
        if active_faults.holds(FaultKind.AWAY):
            return Fate.UNREACHABLE
        if active_faults.holds(FaultKind.BUSY):
            return Fate.BUSY
        if active_faults.holds(FaultKind.BROKEN):
            return Fate.BROKEN
        kinds = {
            "POST": (
                (FaultKind.CREATE_UNANSWERED, Fate.UNANSWERED),
                (FaultKind.CREATE_LOST, Fate.LOST),
                (FaultKind.CREATE_LATE, Fate.LATE),
                (FaultKind.CREATE_ERROR, Fate.ERROR),
            ),
            "DELETE": ((FaultKind.DELETE_UNANSWERED, Fate.UNANSWERED), (FaultKind.DELETE_LOST, Fate.LOST)),
        }
        for kind, fate in kinds.get(method, ()):
            if active_faults.left[kind] and active_faults.takes(kind):
                return fate
        return Fate.CARRIED_OUT

    def slowness(self, method: str) -> float:
        """The additional seconds until an answer arrives."""
        if method == "POST" and self.active_faults.takes(FaultKind.CREATE_SLOW):
            return self.random.uniform(1.0, 20.0)
        if method == "LIST" and self.active_faults.holds(FaultKind.LIST_SLOW):
            return self.random.uniform(1.0, 10.0)
        return 0.0

    # --- watches --------------------------------------------------------------------------------------

    def open(self, query: Mapping[str, str], client: Client) -> Reply | WatchStream:
        """Open a watch. Raises CallFailed if the server is unreachable."""
        if self.active_faults.holds(FaultKind.AWAY):
            raise CallFailed("the API server cannot be reached", sent=False)
        if self.active_faults.holds(FaultKind.BUSY):
            return status(429, "TooManyRequests", "too many requests", RETRY_AFTER)
        self.server.calls["WATCH pods"] = self.server.calls.get("WATCH pods", 0) + 1
        changes = self.server.since(int(query["resourceVersion"]))
        if changes is None:
            return status(410, "Expired", "too old resource version")
        stream = WatchStream(self, client)
        self.streams.append(stream)
        for change in changes:
            stream.show(change)
        self.event_queue.after(float(query["timeoutSeconds"]), stream.end)
        return stream

    def changed(self, change: Change) -> None:
        """Send a new version of the server to every open watch."""
        for stream in self.streams:
            stream.show(change)

    def cut(self) -> None:
        """Break the connections of all watches."""
        for stream in tuple(self.streams):
            stream.break_off("the connection to the API server broke")

    def bookmark(self) -> None:
        """Send a bookmark with the present version to all watches, and again after BOOKMARK_EVERY seconds."""
        for stream in self.streams:
            stream.show((self.server.version, "BOOKMARK", {"metadata": {}}))
        self.event_queue.after(BOOKMARK_EVERY, self.bookmark)


class Client:
    """The reader of a watch."""

    def line(self, document: Object) -> None:
        """Receive one object of the watch."""

    def closed(self) -> None:
        """Called when the server has ended the watch."""

    def broke(self, fault: CallFailed) -> None:
        """Called when the connection broke."""


class WatchStream:
    """One connection of a watch: objects arrive in order, each after a delay, unless a fault changes this."""

    def __init__(self, network: Network, client: Client) -> None:
        self.open = True
        self._network = network
        self._client = client
        self._due = network.event_queue.now
        self._swapped: Object | None = None
        self._silent = False

    def show(self, change: Change) -> None:
        """Send a change to the client, which arrives after a delay."""
        if not self.open or self._silent:
            return
        version, kind, pod = change
        metadata = {**pod["metadata"], "resourceVersion": str(version)}
        document = {"type": kind, "object": {**pod, "metadata": metadata}}
        active_faults = self._network.active_faults
        if self._swapped is None and kind != "BOOKMARK" and active_faults.takes(FaultKind.WATCH_SWAPS):
            self._swapped = document
            self._network.event_queue.after(2.0, self._release)
            return
        self._send(document)
        self._release(self._due)
        if kind != "BOOKMARK" and active_faults.takes(FaultKind.WATCH_REPEATS):
            self._network.event_queue.after(
                self._network.random.uniform(0.1, 5.0), lambda: self._send(document)
            )

    def _release(self, due: float | None = None) -> None:
        """Send the object that was held back to arrive after the next one, if there is such an object."""
        held, self._swapped = self._swapped, None
        if held is not None:
            self._send(held, due)

    def _send(self, document: Object, due: float | None = None) -> None:
        network = self._network
        lag = network.delay()
        if network.active_faults.holds(FaultKind.WATCH_SLOW):
            lag += network.random.uniform(1.0, 8.0)
        self._due = max(self._due, network.event_queue.now + lag) if due is None else due
        network.event_queue.at(self._due, lambda: self._while_open(lambda: self._client.line(document)))

    def _while_open(self, what: Callable[[], None]) -> None:
        if self.open:
            what()

    def end(self) -> None:
        """End the watch, as the server does every few minutes."""
        if self._close():
            self._client.closed()

    def error(self) -> None:
        """Send an error in the stream: its version is too old."""
        if self.open:
            gone = {"type": "ERROR", "object": {"kind": "Status", "code": 410, "message": "too old"}}
            self._client.line(gone)

    def break_off(self, reason: str) -> None:
        """Break the connection."""
        if self._close():
            self._client.broke(CallFailed(reason, sent=True))

    def fall_silent(self) -> None:
        """Send nothing more, without an error; the client closes the connection after SILENCE seconds."""
        self._silent = True
        self._network.event_queue.after(
            SILENCE, lambda: self.break_off("the API server did not answer in time")
        )

    @property
    def is_behind(self) -> bool:
        """Whether the client has not yet received all changes."""
        return self._silent or self._swapped is not None or self._due > self._network.event_queue.now

    def forget(self) -> None:
        """Close the connection, because the client has ended."""
        self._close()

    def _close(self) -> bool:
        was_open, self.open = self.open, False
        if was_open:
            self._network.streams.remove(self)
        return was_open


@dataclass(slots=True)
class ApiConnection:
    """The allocator's connection (transport.ApiCalls): `fate` is the result of the next call."""

    network: Network
    fate: Fate = Fate.CARRIED_OUT

    def call(self, method: str, path: str, query: Mapping[str, str] | None = None, body: Any = None) -> Reply:
        """Make a call. It takes no time here: the callers wait before and after it. Raises CallFailed."""
        fate, self.fate = self.fate, Fate.CARRIED_OUT
        network = self.network
        if fate is Fate.UNREACHABLE or network.active_faults.holds(FaultKind.AWAY):
            raise CallFailed("the API server cannot be reached", sent=False)
        if fate is Fate.BUSY:
            return status(429, "TooManyRequests", "too many requests", RETRY_AFTER)
        if fate is Fate.BROKEN:
            return status(500, "InternalError", "an error on the server")
        if fate is Fate.LOST:
            raise CallFailed("the API server did not answer in time", sent=True)
        if fate is Fate.LATE:
            late = network.random.uniform(0.0, 30.0)
            network.on_their_way += 1
            network.event_queue.after(late, lambda: self._late(method, path, body))
            raise CallFailed("the API server did not answer in time", sent=True)
        reply = network.server.handle(method, path, query or {}, body)
        if fate is Fate.UNANSWERED:
            raise CallFailed("the API server did not answer in time", sent=True)
        if fate is Fate.ERROR:
            return status(500, "InternalError", "an error on the server")
        if (query or {}).get("continue") and network.active_faults.takes(FaultKind.LIST_EXPIRED):
            return status(410, "Expired", "the provided continue parameter is too old")
        return reply

    def _late(self, method: str, path: str, body: Any) -> None:
        self.network.on_their_way -= 1
        labels = body["metadata"].get("labels") or {}
        if contract.LABEL_EXECUTOR_ID in labels:
            self.network.late_ids.add(int(labels[contract.LABEL_EXECUTOR_ID]))
        self.network.server.handle(method, path, {}, body)

    def stream(
        self, path: str, query: Mapping[str, str], silence: float
    ) -> AbstractContextManager[LineSource | Reply]:
        """Raise NotImplementedError: the watch client opens watches with `Network.open`."""
        raise NotImplementedError

    def close(self) -> None:
        """Do nothing: no connection is open."""


def time_out(fate: Fate) -> float:
    """The seconds after which a client's request with this fate times out; 0 if it is answered."""
    return READ_TIMEOUT if fate in WAITS else 0.0
