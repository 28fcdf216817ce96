"""Whether this machine is large enough for a document. Only a warning, because it may be enough."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from sparkgen.model.application import Application
from sparkgen.phrases import number_of


@dataclass(frozen=True, slots=True)
class Machine:
    """The resources for processes here: cores, and the memory in MiB available now (None: unknown)."""

    cores: int
    memory: int | None


def here(root: Path = Path("/")) -> Machine:
    """The machine, or the container, of this process."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limits = [
        available(_text(root / "proc" / "meminfo")),
        group_limit(_text(root / "sys/fs/cgroup/memory.max")),
    ]
    return Machine(cores, min((limit for limit in limits if limit is not None), default=None))


def available(meminfo: str) -> int | None:
    """MemAvailable of /proc/meminfo, in MiB."""
    found = re.search(r"^MemAvailable:\s+(\d+) kB", meminfo, re.MULTILINE)
    return int(found[1]) // 1024 if found else None


def group_limit(text: str) -> int | None:
    """The limit of a control group (memory.max: bytes, or `max`), in MiB."""
    return int(text) // 2**20 if text.strip().isdigit() else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""


def complaints(application: Application, machine: Machine) -> list[str]:
    """The warnings about what this machine is too small for, each with what to do."""
    executors = application.executors
    most = executors.maximum
    first = max(1, executors.initial)
    said = []
    one, driver = application.executor.memory.total, application.driver.memory.total
    if machine.memory is not None:
        room = max(0, (machine.memory - driver) // one)
        if room < first:
            said.append(
                f"the driver ({driver} MiB) and {_number(first)} ({one} MiB each) may need more than the "
                f"{machine.memory} MiB that this machine has free: use less with --set "
                "spec.executor.memory=..."
            )
        elif most is None or room < most:
            bound = "without a limit" if most is None else f"up to {_number(most)}"
            option = "dynamicAllocation.maxExecutors" if executors.dynamic else "executor.instances"
            said.append(
                f"{bound}, of {one} MiB each, but this machine has memory for about {_number(room)} now: use "
                f"--set spec.{option}={room}"
            )
    if application.executor.cores * first > machine.cores:
        said.append(
            f"{_number(first)} of {application.executor.cores} cores share this machine's {machine.cores}: "
            "it works, but more slowly"
        )
    return said


def _number(count: int) -> str:
    return number_of(count, "executor")
