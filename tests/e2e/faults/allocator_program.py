"""A program for tests: the allocator of the sidecar on a real API server, and a driver that is none.

    python allocator_program.py FOLDER API_SERVER_ADDRESS SCHEDULER_PORT PUBLIC_PORT

FOLDER has the volumes (conf, executor, tuning, session) and the service account's files (account). The driver
reads how many executors it wants from FOLDER/target, counts every executor that runs as registered, and
writes how many these are to FOLDER/registered. Nobody listens at the driver's port, which is PUBLIC_PORT + 1:
so SIGTERM ends the allocator as after a driver's end.
"""

from __future__ import annotations

import json
import os
import random
import secrets
import signal
import sys
import threading
import time
import urllib.request
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from sparkgen.runtime.allocator import cluster, sidecar
from sparkgen.runtime.allocator.pods.driver_pod import DriverPod
from sparkgen.runtime.allocator.values.clock import ClockAndRandom
from sparkgen.runtime.exits import exit_code
from sparkgen.runtime.files import replace_file
from sparkgen.runtime.kubernetes.access import Access

LOOK_EVERY = 1.0
"""Seconds between two looks of the driver."""
SPEAK_EVERY = 5.0
"""Seconds after which it speaks though nothing is new."""


class Driver:
    """What the scheduler jar does, as far as numbers go."""

    def __init__(self, folder: Path, scheduler_port: int, public_port: int) -> None:
        self._folder = folder
        self._state = f"http://127.0.0.1:{scheduler_port}/v1/state"
        self._status = f"http://127.0.0.1:{public_port}/status"
        self._revision = 0
        self._said: tuple[object, ...] = ()
        self._spoke_at = 0.0
        self._killed: set[int] = set()

    def run(self) -> None:
        """Look and speak until the process ends."""
        while True:
            with suppress(OSError, ValueError):  # the allocator is not up yet, or ends
                self._round()
            time.sleep(LOOK_EVERY)

    def _round(self) -> None:
        with urllib.request.urlopen(self._status, timeout=10) as answer:  # noqa: S310 - http, as written
            status = json.load(answer)
        executors = status.get("executors", {})
        there = {id_ for state in ("running", "registered", "draining") for id_ in executors.get(state, [])}
        target = int((self._folder / "target").read_text())
        self._killed &= there
        alive = sorted(there - self._killed)
        self._killed |= set(alive[target:])
        registered = alive[:target]
        news = (target, registered, sorted(self._killed))
        if news != self._said or time.monotonic() - self._spoke_at > SPEAK_EVERY:
            self._speak(target, registered)
            self._said, self._spoke_at = news, time.monotonic()
        replace_file(self._folder / "registered", str(len(registered)))

    def _speak(self, target: int, registered: list[int]) -> None:
        self._revision += 1
        state: dict[str, Any] = {
            "version": 1,
            "session": "fake",
            "revision": self._revision,
            "phase": "running",
            "applicationId": "fake",
            "dynamic": True,
            "targets": {"0": target},
            "profiles": {"0": {"cores": 1, "memoryMiB": 1024, "overheadMiB": 384}},
            "registered": [str(id_) for id_ in registered],
            "kills": [str(id_) for id_ in sorted(self._killed)],
        }
        token = (self._folder / "session" / "token").read_text().strip()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        request = urllib.request.Request(  # noqa: S310 - http, as written
            self._state, json.dumps(state).encode(), headers, method="PUT"
        )
        urllib.request.urlopen(request, timeout=10).close()  # noqa: S310 - as above


def world(given: sidecar.BackendInputs) -> sidecar.BackendParts:
    """The cluster's; the driver's pod never runs there, and its end is what SIGTERM stands for."""
    return replace(cluster.kubernetes_backend(given), driver_pod=lambda: DriverPod.ENDS)


def main() -> int:
    """Be the allocator's process, with its driver on a thread."""
    folder, address = Path(sys.argv[1]), sys.argv[2]
    scheduler, public = int(sys.argv[3]), int(sys.argv[4])
    account = folder / "account"
    # What a pod would find in its environment, and in the volume of its service account.
    cluster.in_cluster = lambda _: Access(address, 6443, account / "token", account / "ca.crt")  # type: ignore[assignment]
    signal.pthread_sigmask(
        signal.SIG_BLOCK, sidecar.STOP_SIGNALS
    )  # the thread is not to be the one that ends
    threading.Thread(target=Driver(folder, scheduler, public).run, daemon=True).start()
    folders = sidecar.MountPaths(folder / "conf", folder / "executor", folder / "tuning", folder / "session")
    outside = sidecar.SidecarOptions(world, folders, scheduler, public, public + 1)
    clock_and_random = ClockAndRandom(time.monotonic, random.random)
    code = exit_code(
        lambda: sidecar.run(os.environ, outside, clock_and_random, lambda: secrets.token_hex(32))
    )
    sys.stdout.flush()
    return code


if __name__ == "__main__":
    os._exit(main())
