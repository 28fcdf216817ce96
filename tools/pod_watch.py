"""A watch of a namespace's pods: when each was there first, ran first, and had ended. For benchmarks."""

from __future__ import annotations

import subprocess
import threading
import time

import gotools
from cluster import network
from cluster.handle import Cluster
from cluster.plan import NAME

COLUMNS = 'jsonpath={.type} {.object.metadata.name} {.object.status.phase}{"\\n"}'


class Pods:
    """The pods that a selector names, from now on. Times are those of `time.monotonic`, by pod's name."""

    def __init__(self, cluster: Cluster, namespace: str, selector: str) -> None:
        self.seen: dict[str, float] = {}
        self.running: dict[str, float] = {}
        self.ended: dict[str, float] = {}
        """Also when it was deleted."""
        command = [*network.enter(NAME), str(gotools.ensure("kubectl")), f"--kubeconfig={cluster.kubeconfig}"]
        command += ["get", "pods", "-n", namespace, "-l", selector]
        command += ["--watch", "--output-watch-events", "-o", COLUMNS]
        self._watch = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        threading.Thread(target=self._note, daemon=True).start()
        time.sleep(1)  # until it watches

    def _note(self) -> None:
        for line in self._watch.stdout or ():
            kind, name, phase = line.rstrip("\n").split(" ")
            now = time.monotonic()
            self.seen.setdefault(name, now)
            if phase == "Running":
                self.running.setdefault(name, now)
            if kind == "DELETED" or phase in ("Succeeded", "Failed"):
                self.ended.setdefault(name, now)

    def wait_ended(self, seconds: float) -> None:
        """Wait until all that were seen have ended, for a time at most."""
        deadline = time.monotonic() + seconds
        while len(self.ended) < len(self.seen) and time.monotonic() < deadline:
            time.sleep(0.1)

    def pod_seconds(self) -> float:
        """For how long each was there, or is, summed up."""
        now = time.monotonic()
        return sum(self.ended.get(name, now) - since for name, since in self.seen.items())

    def close(self) -> None:
        """Watch no more."""
        self._watch.terminate()
        self._watch.wait()
