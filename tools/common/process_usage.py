"""How long processes have used the processors, and how much memory."""

from __future__ import annotations

import os
import resource
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int, *, children: bool = False) -> float:
    """Seconds of CPU that a process has used; `children`: with those that it has started and seen end."""
    # proc(5): utime, stime, cutime and cstime are fields 14 to 17; the second field may contain spaces.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11 : 15 if children else 13])) / _TICKS


def children_cpu_seconds() -> float:
    """Seconds of CPU that this process's commands have used, once they have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def most_memory(pid: int) -> float:
    """The most memory that a process has had resident, in MiB (`ru_maxrss` begins with its parent's).

    OSError if the process has ended; 0 for a process of the kernel, and for one that is about to end.
    """
    words = Path(f"/proc/{pid}/status").read_text().partition("VmHWM:")[2].split(maxsplit=1)
    return int(words[0]) / 1024 if words else 0.0
