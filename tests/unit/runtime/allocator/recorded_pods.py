"""Executor pods as values: those in pods/, which a real cluster wrote, and changes of them.

The two of a queue are `preempted` with Kueue's condition in place of the scheduler's.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sparkgen.runtime.allocator.values.attempt import new_attempt

FOLDER = Path(__file__).parent / "pods"
DRIVER_UID = "3f0b1c9e-6c1e-4a52-9f07-2d9a1c5b8e11"
ATTEMPT = new_attempt("pi", "pi-1a2b3c4d", "analytics", "pi-1a2b3c4d-x7k2p", DRIVER_UID, "10.88.1.5")

Pod = dict[str, Any]


def recorded(name: str, /, **metadata: Any) -> Pod:
    """The pod in pods/<name>.json, with some of its metadata changed."""
    pod: Pod = json.loads((FOLDER / f"{name}.json").read_text())
    pod["metadata"].update(metadata)
    return pod


def executor(name: str, id_: int, uid: str = "") -> Pod:
    """The pod in pods/<name>.json as the executor `id_`."""
    return recorded(name, name=ATTEMPT.executor_name(id_), uid=uid or f"uid-{id_}")
