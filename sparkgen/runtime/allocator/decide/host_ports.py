"""A host port for each executor's block manager, if the node's shuffle service serves its files. Pure.

Such an executor is reached at its node's address, so its own port must be a port of the node (hostPort). The
scheduler never gives one host port of a node to two pods. To keep such conflicts rare, each application
begins at another place in the range, goes round it, and gives no port to two existing executors.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

from sparkgen import contract
from sparkgen.runtime.allocator.decide.executor_states import Situation
from sparkgen.runtime.allocator.values.observed import ExecutorState
from sparkgen.runtime.allocator.values.settings import HostPortRange

LEAST, GREATEST = 1024, 65535


class BadPorts(ValueError):
    """A range of ports that cannot be used; the message says what is allowed."""


@dataclass(frozen=True, slots=True)
class Supply:
    """The ports for one decision: the range, and the ports that executors have or were requested with."""

    ports: HostPortRange
    taken: Set[int]

    def next_for(self, id_: int) -> int | None:
        """A free port for the executor `id_`; None if all are taken."""
        size = self.ports.size
        for step in range(size):
            port = self.ports.first + (self.ports.start + id_ - 1 + step) % size
            if port not in self.taken:
                return port
        return None

    def less(self, port: int) -> Supply:
        """Returns the supply without `port`."""
        return Supply(self.ports, self.taken | {port})


def of_template(template: Mapping[str, Any], seed: str) -> HostPortRange | None:
    """The range in the executors' template; None if it has none. Raises BadPorts if the range is malformed.

    `seed`: a text that differs between applications; it decides where in the range this one begins.
    """
    annotations = (template.get("metadata") or {}).get("annotations") or {}
    text = annotations.get(contract.ANNOTATION_BLOCK_MANAGER_PORTS)
    if text is None:
        return None
    found = re.fullmatch(r"([0-9]{1,5})-([0-9]{1,5})", str(text))
    first, last = (int(found[1]), int(found[2])) if found else (0, 0)
    if not LEAST <= first <= last <= GREATEST:
        raise BadPorts(
            f"the executors' annotation {contract.ANNOTATION_BLOCK_MANAGER_PORTS} must be a range of ports "
            f"from {LEAST} to {GREATEST}, such as 23000-23999, not {text!r}: fix "
            "spec.shuffleService.hostPorts, and render the application again"
        )
    start = int.from_bytes(hashlib.sha256(seed.encode()).digest()[:8]) % (last - first + 1)
    return HostPortRange(first, last, start)


def supply(situation: Situation) -> Supply | None:
    """The ports for this decision; None if executors need no host ports."""
    ports = situation.settings.host_ports
    return None if ports is None else Supply(ports, taken(situation))


def taken(situation: Situation) -> frozenset[int]:
    """The ports of executors whose pods have not ended, and those of requests."""
    executors = situation.snapshot.executors
    ended = situation.sets[ExecutorState.GONE]
    seen = (executor.port for id_, executor in executors.items() if id_ not in ended)
    asked = (request.port for request in situation.memory.requests.values())
    return frozenset(port for port in (*seen, *asked) if port is not None)


def exhausted(situation: Situation) -> str:
    """Why no more executors can be created, if there are no free ports; "" otherwise."""
    found = supply(situation)
    if found is None or len(found.taken) < found.ports.size:
        return ""
    missing = sum(situation.wanted().values()) - sum(situation.active().values())
    if missing <= 0:
        return ""
    ports = found.ports
    return (
        f"all {ports.size} host ports for block managers ({ports.first}-{ports.last}) are in use, and "
        f"{missing} more are needed: widen spec.shuffleService.hostPorts, or lower the maximum number of "
        "executors"
    )
