"""The checks that an application tries while it runs, and what its lines come to. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sparkgen.doctor.values import Row, Verdict
from sparkgen.jsonvalue import decode

_MARK = "sparkgen-doctor "
_EXECUTORS = ("executors",)
_AGAIN = ("executors-again",)


@dataclass(frozen=True, slots=True)
class Step:
    """A check. `meaning`, `ask`: if it fails; `soft`: applications work without it."""

    name: str
    needs: tuple[str, ...]
    meaning: str
    ask: str
    soft: bool = False


STEPS: tuple[Step, ...] = (
    Step(
        "images",
        (),
        "no pod of an application starts here",
        "let pods of this namespace pull these images, or name a registry and an imagePullSecret that do",
    ),
    Step(
        "dns",
        ("images",),
        "programs that use names of hosts fail or are slow",
        "repair the cluster's DNS for pods of this namespace",
    ),
    Step(
        "executors",
        ("images",),
        "applications get no executors, or too few",
        "let the driver's pod reach the API server, and executors reach their driver; make room for them",
    ),
    Step(
        "pi", _EXECUTORS, "tasks fail or give wrong results", "find out with us what differs in this cluster"
    ),
    Step("idle", _EXECUTORS, "idle executors keep their resources", "look at the allocator's log with us"),
    Step("executors-again", _EXECUTORS, "applications do not grow again", "make room for executors"),
    Step(
        "moved",
        _AGAIN,
        "when a node is drained, Spark computes cached data again",
        "let executors connect to each other, and give pods their terminationGracePeriodSeconds",
        soft=True,
    ),
    Step(
        "replaced",
        _AGAIN,
        "applications lose executors for good",
        "find out what keeps new pods from starting",
    ),
    Step(
        "network-policy",
        ("images",),
        "any pod of the cluster can connect to drivers and executors, whatever a NetworkPolicy says",
        "use a network plugin that enforces NetworkPolicies, or tell us who else may run pods",
        soft=True,
    ),
)
"""In the order of the table, which is that of the program, too."""

LATE_BINDING = Step(
    "late-binding",
    (),
    "an application that is applied before its RoleBinding fails, instead of waiting",
    "find out with us why the allocator does not see what it lacks",
)
_DISK = Step(
    "disk",
    _AGAIN,
    "an executor that fills its volume may fill the disk of its node",
    "let the kubelet enforce the sizeLimit of emptyDir volumes",
    soft=True,
)


def chosen(*, conformance: bool) -> tuple[Step, ...]:
    """Returns the steps; `conformance`: with the faults of docs/faults.md that are safe in any namespace."""
    return (LATE_BINDING, *STEPS, _DISK) if conformance else STEPS


@dataclass(frozen=True, slots=True)
class Seen:
    """What has been seen of the application.

    `results`: the last result of each step; `ended`: why no more will come, "" while it runs; `reason`: what
    status says of it, "" if nothing.
    """

    results: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    ended: str = ""
    reason: str = ""


def row_of(step: Step, seen: Seen) -> Row | None:
    """Returns the row of a step; None while it is not known."""
    result = seen.results.get(step.name)
    if result is None:
        return _unknown(step, seen) if seen.ended else None
    found, ok = str(result.get("found") or ""), result.get("ok")
    if ok is None:
        return Row(step.name, Verdict.UNKNOWN, found)
    if ok:
        return Row(step.name, Verdict.WORKS, found)
    return _failed(step, f"{found}: {seen.reason}" if seen.reason else found)


def _unknown(step: Step, seen: Seen) -> Row:
    text = f"{seen.ended}: {seen.reason}" if seen.reason else seen.ended
    return Row(step.name, Verdict.UNKNOWN, text) if step.soft else _failed(step, text)


def _failed(step: Step, found: str) -> Row:
    verdict = Verdict.WARNS if step.soft else Verdict.FAILS
    return Row(step.name, verdict, found, step.meaning, step.ask)


def lines(log: str) -> Iterator[Mapping[str, Any]]:
    """Yields what the doctor's own program has printed into a log."""
    for line in log.splitlines():
        _, mark, text = line.partition(_MARK)
        if mark:
            try:
                value = decode(text)
            except ValueError:  # a line that is still being written
                continue
            if isinstance(value, dict):
                yield value


def results(log: str) -> dict[str, Mapping[str, Any]]:
    """Returns the result of each step in the driver's log."""
    return {str(line.get("step")): line for line in lines(log) if "ok" in line}


def deletions(log: str) -> dict[str, Mapping[str, Any]]:
    """Returns the executors that the program wants deleted, by step: `delete`, and perhaps `grace`."""
    return {str(line.get("step")): line for line in lines(log) if "delete" in line}


def policy_result(log: str) -> Mapping[str, Any] | None:
    """Returns the result about the network policy, from the log of the pod that is a stranger."""
    line = next((one for one in lines(log) if "driver" in one), None)
    if line is None:
        return None
    if not line.get("api"):
        return {"ok": None, "found": "a pod without a policy reaches nothing, not even the API server"}
    if line.get("driver"):
        return {"ok": False, "found": "the network does not enforce NetworkPolicies"}
    return {"ok": True, "found": "another pod cannot connect to the driver"}
