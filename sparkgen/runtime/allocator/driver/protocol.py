"""The messages between the scheduler jar and the allocator: from JSON to values, and back.

docs/design/protocol.md describes the messages. This module is strict about fields that decisions use. It
ignores fields that this version does not know, so that a newer jar may send more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from sparkgen import contract
from sparkgen.codes import Hindrance, marked
from sparkgen.jsonvalue import decode
from sparkgen.runtime.allocator.decide import ceiling
from sparkgen.runtime.allocator.values.mappings import EMPTY_MAP
from sparkgen.runtime.allocator.values.observed import Loss, ObservedExecutor
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget, Profile, TokenFailure
from sparkgen.runtime.kubernetes.untrusted import shown

STATE_PATH = "/v1/state"
REPORT_PATH = "/v1/report"
MAX_WAIT = 20.0
"""The most seconds that a request for the report may wait."""
MAX_BODY = 2 * 1024 * 1024
"""The most bytes of a state: 10,000 executors with their hosts take less than half of it. The worst content
of this size takes 50 MiB and a second to decode."""
GREATEST_ID = 2**31 - 1
"""Spark's ids of executors and resource profiles are Java's int, like all its numbers except the revision."""
GREATEST_REVISION = 2**63 - 1
GREATEST_TIME = 253402300799
"""The last second of the year 9999, in seconds since 1970."""
MAX_PROFILES = 1000
"""The most resource profiles of one state: a program makes a handful."""
MAX_EXECUTORS = 50_000
"""The most executors of one state, all lists together, and hosts of its tasks: five times as many as were
measured."""
MAX_RESOURCES = 20
"""The most resources of one profile besides cores and memory."""
MAX_TOKEN_SERVICES = 20
"""The most services whose tokens cannot be renewed: Spark itself knows four."""
MAX_TEXT = 253
"""The most characters of a session, an application id, a host or a resource: DNS names are no longer."""
MAX_OWNER = 200
"""The most characters of `owner`; a longer one is cut off."""

_ID = re.compile(r"[0-9]{1,10}")

V = TypeVar("V")


class BadMessage(Exception):
    """A message that cannot be used; the text names the field and what was expected."""


@dataclass(frozen=True, slots=True)
class NodeReport:
    """The executors on a node, and the node's addresses."""

    executors: tuple[int, ...]
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DriverReport:
    """The report to the driver. `bounds`: the minimum and maximum of executors, with dynamic allocation."""

    gone: Mapping[int, Loss] = EMPTY_MAP
    refuse: frozenset[int] = frozenset()
    bounds: tuple[int, int | None] | None = None
    failure: Hindrance | None = None
    nodes: Mapping[str, NodeReport] = EMPTY_MAP
    """The nodes that executors run on, by name; empty if tasks should not wait for nodes."""
    data_hosts: tuple[tuple[str, str], ...] = ()
    """Hosts of data, and the nodes that the document assigns to them."""
    hold: bool = False
    """Whether the driver lets all executors finish their tasks and leave."""


def nodes(executors: Iterable[ObservedExecutor]) -> dict[str, NodeReport]:
    """The nodes of these executors, for the report to the driver."""
    found: dict[str, tuple[set[str], list[int]]] = {}
    for one in executors:
        if one.node:
            addresses, ids = found.setdefault(one.node, (set(), []))
            ids.append(one.id)
            addresses |= {one.node_address} - {""}
    return {
        node: NodeReport(tuple(sorted(ids)), tuple(sorted(addresses)))
        for node, (addresses, ids) in sorted(found.items())
    }


def bounds(settings: AllocationSettings) -> tuple[int, int | None] | None:
    """The executor bounds in the report. Spark keeps them per profile, the allocator for all together."""
    return (settings.minimum, ceiling.maximum(settings)) if settings.dynamic else None


def target_of(body: object) -> DriverTarget:
    """The driver's state as a value. Raises BadMessage if it has another version, or is malformed."""
    state = _mapping("the state", body)
    if state.get("version") != contract.VERSION:
        raise BadMessage(
            f"the scheduler jar speaks protocol version {state.get('version')!r}, but this allocator speaks "
            f"version {contract.VERSION}; use the jar and the runtime image of the same release"
        )
    lists = {name: _ids(name, state) for name in ("registered", "lost", "kills", "draining", "refused")}
    _few("executors", sum(map(len, lists.values())), MAX_EXECUTORS)
    tasks = _by_id("hostTasks", state.get("hostTasks", {}), _counts)
    _few("hosts", sum(map(len, tasks.values())), MAX_EXECUTORS)
    return DriverTarget(
        phase=_phase(state.get("phase")),
        session=_text("session", state.get("session")),
        revision=_number("revision", state.get("revision"), 1, GREATEST_REVISION),
        application_id=_text("applicationId", state.get("applicationId")),
        dynamic=_boolean("dynamic", state.get("dynamic", False)),
        executors=_by_id("targets", state.get("targets", {}), _number),
        profiles=_by_id("profiles", state.get("profiles", {}), _profile),
        registered=lists["registered"],
        lost=lists["lost"],
        kills=lists["kills"],
        draining=lists["draining"],
        refused=lists["refused"],
        host_tasks=tasks,
        token_failures=_token_failures(state.get("tokenFailures", [])),
        owner=_owner(state.get("owner", "")),
    )


def state_in(body: bytes) -> DriverTarget:
    """The driver's state in a request's body. Raises BadMessage like `target_of`, and if it is not JSON."""
    try:
        return target_of(decode(body))
    except BadMessage:
        raise
    except ValueError as error:
        raise BadMessage(f"the state is not JSON: {error}"[:MAX_TEXT]) from None


def acknowledgement(target: DriverTarget) -> dict[str, Any]:
    """The answer to a state that was taken in, or that was older than the known one."""
    return {"version": contract.VERSION, "session": target.session, "revision": target.revision}


def report_body(report: DriverReport, tag: str) -> dict[str, Any]:
    """The report as JSON for the driver."""
    limits = None
    if report.bounds is not None:
        minimum, maximum = report.bounds
        limits = {"minimum": minimum} | ({} if maximum is None else {"maximum": maximum})
    body = {
        "version": contract.VERSION,
        "tag": tag,
        "gone": {str(id_): _loss(loss) for id_, loss in sorted(report.gone.items())},
        "refuse": [str(id_) for id_ in sorted(report.refuse)],
        "bounds": limits,
        "failure": None if report.failure is None else marked(report.failure.code, report.failure),
    }
    if report.hold:
        body["hold"] = True
    if report.nodes:
        body["nodes"] = {name: _node(node) for name, node in report.nodes.items()}
    return body | ({"dataHosts": dict(report.data_hosts)} if report.data_hosts else {})


def _node(node: NodeReport) -> dict[str, list[str]]:
    return {"executors": [str(id_) for id_ in node.executors], "addresses": list(node.addresses)}


def _loss(loss: Loss) -> dict[str, Any]:
    body: dict[str, Any] = {
        "cause": loss.cause.value,
        "byApplication": loss.by_application,
        "message": marked(loss.hindrance.code, loss.message),
    }
    return body if loss.exit_code is None else {**body, "exitCode": loss.exit_code}


def _phase(value: object) -> DriverPhase:
    if value not in ("running", "stopped"):
        raise _wrong("phase", value, '"running" or "stopped"')
    return DriverPhase(value)


def _profile(name: str, value: object) -> Profile:
    body = _mapping(name, value)

    def size(field: str, default: int) -> int:
        return _number(f"{name}.{field}", body.get(field, default))

    resources = _mapping(f"{name}.resources", body.get("resources", {}))
    _few(f"{name}.resources", len(resources), MAX_RESOURCES)
    return Profile(
        cores=size("cores", 1),
        memory=size("memoryMiB", 1024),
        overhead=size("overheadMiB", 384),
        pyspark=size("pysparkMiB", 0),
        off_heap=size("offHeapMiB", 0),
        resources={
            _text(f"{name}.resources", resource): _number(f"{name}.resources.{resource[:MAX_TEXT]}", count)
            for resource, count in resources.items()
        },
    )


def _token_failures(value: object) -> tuple[TokenFailure, ...]:
    if not isinstance(value, list):
        raise _wrong("tokenFailures", value, "a list")
    _few("tokenFailures", len(value), MAX_TOKEN_SERVICES)
    return tuple(_token_failure(f"tokenFailures[{i}]", each) for i, each in enumerate(value))


def _token_failure(name: str, value: object) -> TokenFailure:
    body = _mapping(name, value)
    end = body.get("expiresAt")
    return TokenFailure(
        _text(f"{name}.service", body.get("service")),
        _number(f"{name}.since", body.get("since"), 0, GREATEST_TIME),
        _number(f"{name}.attempts", body.get("attempts"), 1),
        None if end is None else _number(f"{name}.expiresAt", end, 0, GREATEST_TIME),
    )


def _counts(name: str, value: object) -> dict[str, int]:
    tasks = _mapping(name, value)
    return {_text(name, host): _number(f"{name}.{host[:MAX_TEXT]}", count) for host, count in tasks.items()}


def _by_id(name: str, value: object, read: Callable[[str, object], V]) -> dict[int, V]:
    items = _mapping(name, value)
    _few(name, len(items), MAX_PROFILES)
    return {_id(name, key): read(f"{name}.{key[:MAX_TEXT]}", item) for key, item in sorted(items.items())}


def _ids(name: str, state: Mapping[str, object]) -> frozenset[int]:
    value = state.get(name, [])
    if not isinstance(value, list):
        raise _wrong(name, value, "a list of executor IDs")
    return frozenset(_id(name, item) for item in value)


def _id(name: str, value: object) -> int:
    """Reads an id. In JSON, ids are strings, as in Spark."""
    if not isinstance(value, str) or not _ID.fullmatch(value) or int(value) > GREATEST_ID:
        raise _wrong(f"an ID in {name}", value, 'a string of digits, such as "7"')
    return int(value)


def _number(name: str, value: object, least: int = 0, most: int = GREATEST_ID) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise _wrong(name, value, f"a whole number from {least} to {most}")
    return value


def _few(name: str, count: int, most: int) -> None:
    if count > most:
        raise BadMessage(f"{name} must have at most {most} entries, not {count}")


def _boolean(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise _wrong(name, value, "true or false")
    return value


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= MAX_TEXT:
        raise _wrong(name, value, f"a string of 1 to {MAX_TEXT} characters")
    return shown(value)


def _owner(value: object) -> str:
    """Reads `owner` as one line of limited length, because the log and the status show it to other users."""
    if not isinstance(value, str):
        raise _wrong("owner", value, "a string")
    return " ".join(shown(value[: 4 * MAX_OWNER]).split())[:MAX_OWNER]


def _mapping(name: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(name, value, "an object")
    return value


def _wrong(name: str, value: object, expected: str) -> BadMessage:
    found = _brief(value)
    return BadMessage(f"{name} must be {expected}, not {shown(found)}")


def _brief(value: object) -> str:
    """The beginning of a value, for a message. Large values are never written out in full first."""
    if isinstance(value, (dict, list)):
        return (
            f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
            if value
            else repr(value)
        )
    if isinstance(value, int) and abs(value) > GREATEST_REVISION:
        return "a number beyond 64 bits"
    found = repr(value[:60] if isinstance(value, str) else value)
    return found if len(found) <= 60 else f"{found[:60]}..."
