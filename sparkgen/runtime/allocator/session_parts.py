"""The parts that an allocator needs in addition if drivers come and go, according to its environment."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sparkgen import contract
from sparkgen.runtime import sockets
from sparkgen.runtime.allocator.allocator import Parts
from sparkgen.runtime.allocator.driver.client_session import ClientEndpoint, ClientSession, SessionPod
from sparkgen.runtime.allocator.driver.driver_address import DriverAddress, DriverAddresses
from sparkgen.runtime.allocator.driver.session import driver_properties
from sparkgen.runtime.allocator.driver.sessions import SessionMode, SessionRules
from sparkgen.runtime.allocator.report.log import Log
from sparkgen.runtime.allocator.report.log_form import LogEvent, LogLevel
from sparkgen.runtime.allocator.values.target import DriverTarget
from sparkgen.runtime.exits import Refused

_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class SessionEnvironment:
    """The environment's settings for sessions. `mode` is None if the pod has its own driver."""

    mode: SessionMode | None
    token_hash: str = ""


@dataclass(frozen=True, slots=True)
class Around:
    """What differs between a cluster and a test. `pod_port`: for executors; `driver_port`: of kernels."""

    pod_port: int
    driver_port: int
    why_unreachable: Callable[[DriverAddress, str], str]
    jars: Path


def session_environment(environment: Mapping[str, str]) -> SessionEnvironment:
    """The environment's settings for sessions. Raises Refused for values that sparkgen never renders."""
    text = environment.get(contract.ENV_SESSIONS)
    if not text:
        return SessionEnvironment(None)
    known = [mode.value for mode in SessionMode]
    if text not in known:
        raise Refused(f"{contract.ENV_SESSIONS} must be {' or '.join(known)}, not {text[:100]!r}")
    mode = SessionMode(text)
    if mode is not SessionMode.CLIENT:
        return SessionEnvironment(mode)
    token_hash = environment.get(contract.ENV_SESSION_TOKEN_HASH, "")
    if not _HASH.fullmatch(token_hash):
        raise Refused(
            f"{contract.ENV_SESSION_TOKEN_HASH} must be the SHA-256 of the session's token, as 64 "
            "hexadecimal digits: `sparkgen shell` sets it"
        )
    return SessionEnvironment(mode, token_hash)


def with_sessions(parts: Parts, around: Around, log: Log, set_driver_url: Callable[[str], None]) -> Parts:
    """Returns the parts for the session's mode. Raises Refused if the session volume cannot be used."""
    resumed = parts.session.notes.session
    match parts.session.place.mode:
        case None:
            return parts
        case SessionMode.NOTEBOOK:
            return replace(parts, rules=notebook_rules(resumed, around.driver_port, log))
        case SessionMode.CLIENT:
            rules = SessionRules(resumed, refused=partial(_refused, log))
            return _client(replace(parts, rules=rules), around, set_driver_url)


def notebook_rules(resumed: str, driver_port: int, log: Log) -> SessionRules:
    """The rules for kernels that listen at this port, one after another."""
    return SessionRules(resumed, partial(sockets.listening, driver_port), partial(_refused, log))


def _refused(log: Log, target: DriverTarget) -> None:
    who = target.owner or target.application_id
    text = f"another driver tried to connect, and was refused because the first one is still connected: {who}"
    log.say(LogEvent.DRIVER, text, LogLevel.WARNING)


def _client(parts: Parts, around: Around, set_driver_url: Callable[[str], None]) -> Parts:
    session, attempt = parts.session, parts.attempt
    try:
        addresses = DriverAddresses(session.place.folder)
    except (OSError, ValueError) as error:
        raise Refused(f"{error}: end this session, and start a new one") from None

    def begins(application_id: str) -> None:
        parts.set_application_id(application_id)
        address = addresses.begins(application_id)
        if address is not None:
            set_driver_url(address.driver_url)

    clock, resumed = parts.clock_and_random.clock, addresses.known or bool(session.notes.session)
    return replace(
        parts,
        set_application_id=begins,
        client=ClientEndpoint(
            ClientSession(clock, resumed=resumed),
            addresses,
            SessionPod(attempt.pod_name, attempt.pod_ip, around.pod_port),
            lambda address: driver_properties(session, parts.settings_source.settings, address),
            around.why_unreachable,
            around.jars,
        ),
    )
