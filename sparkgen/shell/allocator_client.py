"""Sends requests to a session's allocator, through the forwarded port (docs/design/protocol.md)."""

from __future__ import annotations

import http.client
import ipaddress
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparkgen import contract
from sparkgen.errors import SparkgenError
from sparkgen.live.tunnel import LOOPBACK
from sparkgen.shell.driver_address import DriverAddress
from sparkgen.terminal import visible

TIMEOUT_SECONDS = 15.0
"""Seconds for one request: the allocator itself tries to reach the driver for some seconds."""
TRIES_SECONDS = 30.0
"""Seconds for which a request without an answer is repeated: a new pod may not be reachable yet."""
MAX_ANSWER = 16 * 2**20
_SHOWN = 500


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
    """A client of the allocator behind a port of this machine."""

    port: int
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
        answer = self._json("PUT", contract.SESSION_DRIVER_PATH, body)
        try:
            return _settings(answer)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise SparkgenError(
                "the session's allocator sent an answer that this version does not understand: "
                f"{visible(repr(error)[:_SHOWN])}"
            ) from error

    def say_alive(self) -> bool:
        """Report that this command is alive. Returns whether the allocator knows of a running driver."""
        return _parsed(self._ask("PUT", contract.SESSION_ALIVE_PATH)).get("phase") == "running"

    def jar(self, scala_version: str) -> bytes:
        """Returns the scheduler jar of a Scala version. Raises Refusal if the runtime image has none."""
        return self._again("GET", f"{contract.SESSION_JAR_PATH}?scala={scala_version}")

    def _json(self, method: str, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return _parsed(self._again(method, path, json.dumps(body).encode()))

    def _again(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """Returns the answer to a request, which is repeated for TRIES_SECONDS; then raises NoAnswer."""
        until = time.monotonic() + TRIES_SECONDS
        while True:
            try:
                return self._ask(method, path, body)
            except NoAnswer:
                if time.monotonic() >= until:
                    raise
                time.sleep(0.5)

    def _ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=TIMEOUT_SECONDS)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        try:
            connection.request(method, path, body or b"", headers)
            answer = connection.getresponse()
            data = answer.read(MAX_ANSWER)
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswer(
                f"the session's allocator does not answer ({error or type(error).__name__})"
            ) from error
        finally:
            connection.close()
        if not 200 <= answer.status <= 299:
            raise Refusal(answer.status, _why(answer.status, data))
        return data


def _parsed(text: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise SparkgenError(f"the session's allocator did not answer with JSON: {error}") from error
    return value if isinstance(value, dict) else {}


def _settings(answer: Mapping[str, Any]) -> DriverSettings:
    """Returns an answer's settings. Raises KeyError, TypeError, ValueError or AttributeError if malformed."""
    properties = {str(name): str(text) for name, text in answer["properties"].items()}
    "".join([*properties, *properties.values()]).encode()  # ValueError for half a surrogate pair
    port = int(answer["allocatorPort"])
    if not 0 < port <= 65535:
        raise ValueError(f"allocatorPort is {port}")
    return DriverSettings(properties, str(ipaddress.ip_address(answer["podAddress"])), port)


def _why(status: int, data: bytes) -> str:
    try:
        value = json.loads(data)
        said = str(value["error"]) if isinstance(value, dict) else ""
    except (ValueError, KeyError):
        said = ""
    return visible(said[:_SHOWN]) or f"the session's allocator refused the request (HTTP {status})"
