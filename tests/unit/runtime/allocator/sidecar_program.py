"""A program for tests: the sidecar as it is, with a World in memory and its folders below one.

    python sidecar_program.py FOLDER SCHEDULER_PORT PUBLIC_PORT DRIVER_PORT

FOLDER/driver-pod says what the driver's pod tells of itself (ending.DriverPod); ENDS without one.
LATE_SECONDS, HOLD_SECONDS, SILENCE_SECONDS and START_WAIT_SECONDS in the environment take the places of
shutdown.LATE, endpoints.HOLD_SECONDS, sessions.SILENCE and sessions.START_WAIT. In client mode a driver may
be on loopback. Writes the World's notices and calls to FOLDER/world.json when it ends, and into
FOLDER/driver-url where executors look for their driver.
"""

from __future__ import annotations

import json
import os
import random
import secrets
import sys
import time
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from memory_backend import MemoryBackend

from sparkgen.runtime.allocator import endpoints, shutdown, sidecar
from sparkgen.runtime.allocator.driver import reach, sessions
from sparkgen.runtime.allocator.pods.driver_pod import DriverPod
from sparkgen.runtime.allocator.values.clock import ClockAndRandom
from sparkgen.runtime.exits import exit_code


def main() -> int:
    """Be the sidecar."""
    shutdown.LATE = float(os.environ.get("LATE_SECONDS", shutdown.LATE))
    endpoints.HOLD_SECONDS = float(os.environ.get("HOLD_SECONDS", endpoints.HOLD_SECONDS))
    sessions.SILENCE = float(os.environ.get("SILENCE_SECONDS", sessions.SILENCE))
    sessions.START_WAIT = float(os.environ.get("START_WAIT_SECONDS", sessions.START_WAIT))
    folder, ports = Path(sys.argv[1]), [int(text) for text in sys.argv[2:5]]
    worlds: list[MemoryBackend] = []

    def world(given: sidecar.BackendInputs) -> sidecar.BackendParts:
        made = MemoryBackend(given.attempt)
        worlds.append(made)
        return sidecar.BackendParts(made, made.set_application_id, set_driver_url, driver_pod)

    def set_driver_url(url: str) -> None:
        (folder / "driver-url").write_text(url)

    def driver_pod() -> DriverPod:
        file = folder / "driver-pod"
        return DriverPod[file.read_text()] if file.exists() else DriverPod.ENDS

    folders = sidecar.MountPaths(folder / "conf", folder / "executor", folder / "tuning", folder / "session")
    anywhere = partial(reach.why_unreachable, refused=lambda _: False)
    outside = sidecar.SidecarOptions(world, folders, *ports, anywhere, folder / "jars")
    clock_and_random = ClockAndRandom(time.monotonic, random.random)
    code = exit_code(
        lambda: sidecar.run(os.environ, outside, clock_and_random, lambda: secrets.token_hex(32))
    )
    for made in worlds:
        notices = [[notice.reason, str(notice.hindrance)] for notice in made.notices]
        found = {"notices": notices, "calls": made.calls, "left": sorted(made.pods)}
        (folder / "world.json").write_text(json.dumps(found))
    sys.stdout.flush()
    return code


if __name__ == "__main__":
    os._exit(main())
