"""An allocator of N executors from its start to its end, in this process; its server answers at once.

All of it is the production code with its threads (`Allocator` on `KubernetesBackend`), but for TLS: the
server keeps nothing of what it is given, so that the memory of this process is the allocator's. The driver
names what has registered, as the scheduler jar does. Prints a line of JSON: times in seconds, memory in MiB.
"""

from __future__ import annotations

import json
import os
import queue
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from common.command import wait_for
from common.process_usage import most_memory
from simulator import nodes
from simulator.template import TEMPLATE, attempt
from sparkgen import contract
from sparkgen.runtime.allocator.allocator import Allocator, ListenAddress, Parts
from sparkgen.runtime.allocator.driver import session
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.driver.tuning import TuningChange
from sparkgen.runtime.allocator.pods.kubernetes_backend import KubernetesBackend
from sparkgen.runtime.allocator.report.log import Log
from sparkgen.runtime.allocator.values.clock import ClockAndRandom
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget, Profile
from sparkgen.runtime.kubernetes.answers import Reply

SPEAKS_EVERY = 0.25
"""Seconds between two words of the driver while executors register, about as often as the jar's."""
STEADY = 10.0
"""Seconds for which all is well and nothing happens."""
LONGEST = 280.0


@dataclass(frozen=True, slots=True)
class Life:
    """What it came to. `created`, `ended`: seconds until all were asked for, and until all were deleted."""

    executors: int
    created: float
    ended: float
    cpu_up: float
    cpu_steady: float
    cpu_down: float
    rounds: int
    calls: dict[str, int]
    memory_before: float
    memory_steady: float
    memory_most: float


class Server:
    """`transport.ApiCalls`. Each pod runs as soon as it is made, and is gone when it is deleted."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.running: queue.SimpleQueue[int] = queue.SimpleQueue()
        """Executors whose pods run, to be registered."""
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._version = 0
        self._lock = threading.Lock()
        self._owner = attempt().owner

    def call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,  # noqa: ARG002 - the signature is the port's
        body: Any = None,
    ) -> Reply:
        """Answer as kube-apiserver does when all is well."""
        parts = path.split("/")
        self.calls[f"{method} {parts[5]}"] += 1
        if method == "GET":
            return Reply(200, {"metadata": {"resourceVersion": "0"}, "items": []})
        if method == "DELETE":
            self._show("DELETED", {"metadata": {"name": parts[6], "uid": f"uid-{parts[6]}"}, "spec": {}})
            return Reply(200, {})
        if parts[5] == "pods":
            self._created(json.loads(json.dumps(body)))
        return Reply(201, body)

    def _created(self, pod: dict[str, Any]) -> None:
        name = pod["metadata"]["name"]
        pod = {**pod, "metadata": {**pod["metadata"], "uid": f"uid-{name}"}, "status": {"phase": "Pending"}}
        self._show("ADDED", pod)
        bound = nodes.bound(pod, f"node-{hash(name) % 100}")
        self._show("MODIFIED", bound)
        self._show("MODIFIED", nodes.running(bound))
        self.running.put(int(pod["metadata"]["labels"][contract.LABEL_EXECUTOR_ID]))

    def _show(self, kind: str, pod: dict[str, Any]) -> None:
        with self._lock:
            self._version += 1
            metadata = {
                "ownerReferences": [self._owner],
                **pod["metadata"],
                "resourceVersion": str(self._version),
            }
            self._lines.put(json.dumps({"type": kind, "object": {**pod, "metadata": metadata}}).encode())

    @contextmanager
    def stream(self, *_: Any) -> Iterator[Server]:
        """The one watch."""
        self.calls["WATCH pods"] += 1
        yield self

    def lines(self) -> Iterator[bytes]:
        """Its lines, as they come."""
        while (line := self._lines.get()) is not None:
            yield line

    def stop(self) -> None:
        """End it."""
        self._lines.put(None)

    def close(self) -> None:
        """Nothing is open."""


@dataclass(slots=True)
class Constant:
    """Settings that do not change (loop.SettingsSource)."""

    settings: AllocationSettings = field(default_factory=lambda: AllocationSettings(dynamic=True))

    def look(self) -> TuningChange | None:
        """There are no others."""
        return None


class Rounds:
    """Counts the loop's rounds, and how many executors are in the last one."""

    def __init__(self) -> None:
        self.made = 0
        self.seen = 0

    def show(self, made: Round) -> None:
        """Another round."""
        self.made += 1
        self.seen = len(made.snapshot.executors)


def main(arguments: list[str] | None = None) -> int:
    """Play the life of as many executors as the first argument says."""
    count = int((sys.argv[1:] if arguments is None else arguments)[0])
    with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        log = Log(nowhere, lambda: datetime.now(UTC))
        print(json.dumps(asdict(life(count, Path(folder), log))))
    return 0


def life(count: int, folder: Path, log: Log) -> Life:
    """From start to end."""
    server, rounds, settings = Server(), Rounds(), Constant()
    of = attempt()
    clock_and_random = ClockAndRandom(time.monotonic, random.random)
    kube = KubernetesBackend(server, of, TEMPLATE, clock=time.monotonic, wall=time.time, random=random.random)
    place = session.DriverLocation(folder, of.application_id, "127.0.0.1")
    begun = session.begin(place, "", settings.settings, lambda: "x" * 32)
    here = ListenAddress("127.0.0.1", 0)
    allocator = Allocator(
        Parts(
            kube,
            of,
            begun,
            settings,
            log,
            clock_and_random,
            "t",
            here,
            here,
            kube.set_application_id,
            rounds.show,
        )
    )
    before = resident()
    allocator.start()
    up = Span()
    target = DriverTarget(DriverPhase.RUNNING, "s", 1, of.application_id, True, {0: count}, {0: Profile()})
    created, target = _until_registered(allocator, server, target, count)
    _until(lambda: rounds.seen == count)
    cpu_up, steady_rounds = up.cpu(), Span()
    time.sleep(STEADY)
    memory_steady, cpu_steady = resident(), steady_rounds.cpu()
    down = Span()
    last = replace(
        target,
        revision=target.revision + 1,
        executors={0: 0},
        registered=frozenset(),
        kills=target.registered,
    )
    allocator.mailbox.receive(last)
    _until(lambda: rounds.seen == 0)
    result = Life(
        executors=count,
        created=created,
        ended=down.seconds(),
        cpu_up=cpu_up,
        cpu_steady=cpu_steady,
        cpu_down=down.cpu(),
        rounds=rounds.made,
        calls=dict(server.calls),
        memory_before=before,
        memory_steady=memory_steady,
        memory_most=most_memory(os.getpid()),
    )
    allocator.stop(leave=True)
    allocator.close()
    return result


def _until_registered(
    allocator: Allocator, server: Server, target: DriverTarget, count: int
) -> tuple[float, DriverTarget]:
    """Let the driver speak until its executors are registered; seconds until the last pod was made."""
    began = time.monotonic()
    ids: set[int] = set()
    while len(ids) < count:
        if time.monotonic() - began > LONGEST:
            raise SystemExit(f"error: {len(ids)} of {count} executors after {LONGEST:.0f} s")
        target = replace(target, revision=target.revision + 1, registered=frozenset(ids))
        allocator.mailbox.receive(target)
        time.sleep(SPEAKS_EVERY)
        while not server.running.empty():
            ids.add(server.running.get())
    created = time.monotonic() - began
    target = replace(target, revision=target.revision + 1, registered=frozenset(ids))
    allocator.mailbox.receive(target)
    return created, target


def _until(holds: Callable[[], bool]) -> None:
    if not wait_for(holds, LONGEST, pause=0.05):
        raise SystemExit(f"error: not reached within {LONGEST:.0f} s")


class Span:
    """Time and CPU from now on."""

    def __init__(self) -> None:
        self._began, self._cpu = time.monotonic(), time.process_time()

    def seconds(self) -> float:
        """Seconds since."""
        return time.monotonic() - self._began

    def cpu(self) -> float:
        """Seconds of CPU since."""
        return time.process_time() - self._cpu


def resident() -> float:
    """The memory that this process has now, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
