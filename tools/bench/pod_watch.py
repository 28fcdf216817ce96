"""A watch of a namespace's pods: when each was there first, ran first, and had ended. For benchmarks."""

from __future__ import annotations

import subprocess
import threading
import time
from datetime import UTC, datetime

from cluster import network
from cluster.handle import Cluster
from cluster.plan import NAME
from common.command import wait_for
from gotools import gotools

COLUMNS = 'jsonpath={.type} {.object.metadata.name} {.object.status.phase}{"\\n"}'


class Pods:
    """The pods that a selector names, from now on, with the time of this machine for each, by pod's name."""

    def __init__(self, cluster: Cluster, namespace: str, selector: str) -> None:
        self.seen: dict[str, datetime] = {}
        self.running: dict[str, datetime] = {}
        self.ended: dict[str, datetime] = {}
        """Also when it was deleted."""
        self._command = [*network.enter(NAME), str(gotools.ensure("kubectl"))]
        known = f"--kubeconfig={cluster.kubeconfig}"
        self._command += [known, "get", "pods", f"--namespace={namespace}", f"--selector={selector}"]
        self._closed = False
        self._watch = self._open()
        threading.Thread(target=self._follow, daemon=True).start()
        time.sleep(1)  # until it watches

    def _open(self) -> subprocess.Popen[str]:
        options = ("--watch", "--output-watch-events", "-o", COLUMNS)
        return subprocess.Popen([*self._command, *options], stdout=subprocess.PIPE, text=True)

    def _follow(self) -> None:
        """Note what comes. The API server ends the watch of a client that falls behind: then open another."""
        while not self._closed:
            for line in self._watch.stdout or ():
                self._note(*line.rstrip("\n").split(" "))
            self._watch.wait()
            if not self._closed:
                self._watch = self._open()
                self._note_gone()

    def _note(self, kind: str, name: str, phase: str) -> None:
        now = datetime.now(UTC)
        self.seen.setdefault(name, now)
        if phase == "Running":
            self.running.setdefault(name, now)
        if kind == "DELETED" or phase in ("Succeeded", "Failed"):
            self.ended.setdefault(name, now)

    def _note_gone(self) -> None:
        """What was deleted while nobody watched ended by now."""
        done = subprocess.run([*self._command, "-o", "name"], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            there = {line.removeprefix("pod/") for line in done.stdout.split()}
            for name in self.seen.keys() - there:
                self.ended.setdefault(name, datetime.now(UTC))

    def wait_running(self, count: int, seconds: float) -> bool:
        """Wait until so many ran, for a time at most. Whether they did."""
        return wait_for(lambda: len(self.running) >= count, seconds)

    def wait_ended(self, seconds: float) -> None:
        """Wait until all that were seen have ended, for a time at most."""
        wait_for(lambda: len(self.ended) >= len(self.seen), seconds)

    def pod_seconds(self) -> float:
        """For how long each was there, or is, summed up."""
        now = datetime.now(UTC)
        return sum((self.ended.get(name, now) - since).total_seconds() for name, since in self.seen.items())

    def close(self) -> None:
        """Watch no more."""
        self._closed = True
        self._watch.terminate()
        self._watch.wait()
