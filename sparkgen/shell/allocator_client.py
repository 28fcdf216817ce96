"""Sends requests to a session's allocator (docs/design/protocol.md).

Each goes over a port-forward of its own. Other users of this machine can connect to the port that the driver
uses, and fill it.
"""

from __future__ import annotations

import ipaddress
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sparkgen import contract
from sparkgen.cluster import ClusterError
from sparkgen.cluster.channel import Forwarded
from sparkgen.errors import SparkgenError
from sparkgen.jsonvalue import decode
from sparkgen.live.forwarded_http import Answer, Request, Unanswered, answer_of
from sparkgen.shell.driver_address import DriverAddress
from sparkgen.terminal import visible

TIMEOUT_SECONDS = 15.0
"""Seconds for a whole answer: the allocator itself tries to reach the driver for some seconds."""
JAR_SECONDS = 60.0
"""Seconds for the scheduler jar, the one large answer."""
TRIES_SECONDS = 30.0
"""Seconds for which a request without an answer is repeated: a new pod may not be reachable yet."""
MAX_ANSWER = 16 * 2**20
_SHOWN = 500
_MALFORMED = (KeyError, TypeError, ValueError, AttributeError, OverflowError)
"""The errors of reading a value of another form; OverflowError is that of Infinity."""


class NoAnswer(SparkgenError):
    """There was no answer: the allocator is restarting, or the connection is broken."""


class Refusal(SparkgenError):
    """The allocator refused a request. `status`: of HTTP; the text is the allocator's."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class DriverSettings:
    """The driver's properties, and the allocator's place: an address of its pod, and a port."""

    properties: Mapping[str, str]
    pod_address: str
    allocator_port: int


@dataclass(frozen=True, slots=True)
class AllocatorClient:
    """A client of an allocator. `open_`: opens a connection to it, or raises ClusterError."""

    open_: Callable[[], Forwarded]
    token: str

    def tell_driver(self, address: DriverAddress, nonce: str) -> DriverSettings:
        """Report where the driver will listen. Raises Refusal (422) if the session's pod cannot reach it."""
        body = {
            "version": contract.VERSION,
            "host": address.host,
            "port": address.port,
            "blockManagerPort": address.block_manager_port,
            "nonce": nonce,
        }
        request = self._request("PUT", contract.SESSION_DRIVER_PATH, json.dumps(body).encode())
        answer = _parsed(self._again(request))
        try:
            return _settings(answer)
        except _MALFORMED as error:
            raise SparkgenError(
                "the session's allocator sent an answer that this version does not understand: "
                f"{visible(repr(error)[:_SHOWN])}"
            ) from error

    def say_alive(self) -> bool:
        """Report that this command is alive. Returns whether the allocator knows of a running driver."""
        return _parsed(self._ask(self._request("PUT", contract.SESSION_ALIVE_PATH))).get("phase") == "running"

    def jar(self, scala_version: str) -> bytes:
        """Returns the scheduler jar of a Scala version. Raises Refusal if the runtime image has none."""
        path = f"{contract.SESSION_JAR_PATH}?scala={scala_version}"
        return self._again(self._request("GET", path, seconds=JAR_SECONDS))

    def _request(
        self, method: str, path: str, body: bytes = b"", seconds: float = TIMEOUT_SECONDS
    ) -> Request:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        return Request(method, path, seconds, headers, body)

    def _again(self, request: Request) -> bytes:
        """Returns the answer to a request, which is repeated for TRIES_SECONDS; then raises NoAnswer."""
        until = time.monotonic() + TRIES_SECONDS
        while True:
            try:
                return self._ask(request)
            except NoAnswer:
                if time.monotonic() >= until:
                    raise
                time.sleep(0.5)

    def _ask(self, request: Request) -> bytes:
        try:
            with answer_of(self.open_(), contract.SCHEDULER_PORT, request) as answer:
                data = _whole(answer)
        except (ClusterError, Unanswered) as error:
            raise NoAnswer(f"the session's allocator does not answer ({error})") from error
        if not 200 <= answer.status <= 299:
            raise Refusal(answer.status, _why(answer.status, data))
        return data


def _whole(answer: Answer) -> bytes:
    data = bytearray()
    for piece in answer.pieces():
        data += piece
        if len(data) > MAX_ANSWER:
            raise SparkgenError(
                f"the session's allocator answered with more than {MAX_ANSWER >> 20} MiB; check that "
                "spec.runtimeImage is an image of this version"
            )
    return bytes(data)


def _parsed(text: bytes) -> Mapping[str, Any]:
    try:
        value = decode(text)
    except ValueError as error:
        raise SparkgenError(f"the session's allocator did not answer with JSON: {error}") from error
    return value if isinstance(value, dict) else {}


def _settings(answer: Mapping[str, Any]) -> DriverSettings:
    """Returns an answer's settings. Raises one of _MALFORMED if it has another form."""
    properties = {str(name): str(text) for name, text in answer["properties"].items()}
    "".join([*properties, *properties.values()]).encode()  # ValueError for half a surrogate pair
    port = int(answer["allocatorPort"])
    if not 0 < port <= 65535:
        raise ValueError(f"allocatorPort is {port}")
    return DriverSettings(properties, str(ipaddress.ip_address(answer["podAddress"])), port)


def _why(status: int, data: bytes) -> str:
    try:
        value = decode(data)
        said = str(value["error"]) if isinstance(value, dict) else ""
    except (ValueError, KeyError):
        said = ""
    return visible(said[:_SHOWN]) or f"the session's allocator refused the request (HTTP {status})"
