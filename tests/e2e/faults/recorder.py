"""What happened to a namespace's pods, event by event: so that nothing is missed between two looks."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from cluster import network
from cluster.handle import Cluster
from cluster.plan import NAME
from gotools import gotools

Pod = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Happened:
    """One event: its type (ADDED, MODIFIED, DELETED), and the pod as it was then."""

    kind: str
    pod: Pod

    @property
    def uid(self) -> str:
        """Which pod it is."""
        return str(self.pod["metadata"]["uid"])


class Recorder:
    """Follows the pods of a namespace. A watch that breaks is opened again, and tells all that is there."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._command = [
            *network.enter(NAME),
            *(str(gotools.ensure("kubectl")), f"--kubeconfig={cluster.kubeconfig}"),
            *("get", "--raw", f"/api/v1/namespaces/{namespace}/pods?watch=1"),
        ]
        self._events: list[Happened] = []
        self._ended = threading.Event()
        self._process: subprocess.Popen[str] | None = None

    def events(self, role: str, until: int | None = None) -> list[Happened]:
        """What happened to the pods of a role ("driver", "executor") so far."""
        seen = self._events[:until]
        return [event for event in seen if event.pod["metadata"].get("labels", {}).get("spark-role") == role]

    def most_at_once(self, role: str, *, leaving: bool = True) -> int:
        """The largest number of pods of a role that were there, and had not ended, at one time.

        `leaving`: those that are being deleted count, too.
        """
        alive: set[str] = set()
        most = 0
        for event in self.events(role):
            over = event.kind == "DELETED" or event.pod["status"].get("phase") in ("Succeeded", "Failed")
            if over or (not leaving and event.pod["metadata"].get("deletionTimestamp")):
                alive.discard(event.uid)
            else:
                alive.add(event.uid)
            most = max(most, len(alive))
        return most

    def fewest_running(self, role: str, after: int, until: int) -> int:
        """The smallest number of running pods of a role, from when there were `after` of them on.

        `until`: how much had happened (`count`) when one stopped looking. One that is being deleted does not
        count.
        """
        running: set[str] = set()
        fewest: int | None = None
        for event in self.events(role, until):
            leaves = event.kind == "DELETED" or "deletionTimestamp" in event.pod["metadata"]
            if leaves or event.pod["status"].get("phase") != "Running":
                running.discard(event.uid)
            else:
                running.add(event.uid)
            if fewest is not None or len(running) == after:
                fewest = min(len(running) if fewest is None else fewest, len(running))
        return fewest or 0

    @property
    def count(self) -> int:
        """How much has happened so far."""
        return len(self._events)

    def uids(self, role: str) -> list[str]:
        """The pods of a role there have been, in the order of their creation."""
        return list(dict.fromkeys(event.uid for event in self.events(role)))

    def run(self) -> None:
        """Follow until `end`."""
        while not self._ended.is_set():
            self._process = subprocess.Popen(
                self._command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
            if self._ended.is_set():
                self._process.kill()
            for line in self._process.stdout or ():
                try:
                    event = json.loads(line)
                except ValueError:  # half a line, as the server died
                    break
                if event["type"] != "ERROR":
                    self._events.append(Happened(event["type"], event["object"]))
            self._process.kill()
            self._process.wait()
            self._ended.wait(0.2)

    def end(self) -> None:
        """Follow no more."""
        self._ended.set()
        if self._process is not None:
            self._process.kill()


@contextmanager
def recorded(cluster: Cluster, namespace: str) -> Iterator[Recorder]:
    """A recorder that follows while the block runs."""
    recorder = Recorder(cluster, namespace)
    thread = threading.Thread(target=recorder.run, daemon=True)
    thread.start()
    try:
        yield recorder
    finally:
        time.sleep(0.5)  # for the events that are on their way
        recorder.end()
        thread.join(5)
