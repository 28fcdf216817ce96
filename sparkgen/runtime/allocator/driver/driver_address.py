"""The address of the driver of a session in client mode, from the command's request or the session volume."""

from __future__ import annotations

import ipaddress
import json
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparkgen import contract
from sparkgen.jsonvalue import decode
from sparkgen.runtime.addresses import url_host
from sparkgen.runtime.allocator.driver.protocol import BadMessage
from sparkgen.runtime.files import replace_file
from sparkgen.runtime.kubernetes.untrusted import shown

FILE = "driver.json"
MAX_BODY = 4096
"""The most bytes in the command's request."""

_NAME = re.compile(
    r"(?=.{1,253}\Z)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*", re.I
)
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.I)
_NONCE = re.compile(r"[0-9a-f]{16,128}")


@dataclass(frozen=True, slots=True)
class DriverAddress:
    """Where executors connect to a driver: an IP address or a DNS name, and two ports."""

    host: str
    port: int
    block_manager_port: int

    @property
    def driver_url(self) -> str:
        """The URL of Spark's scheduler in the driver, for executors."""
        return f"spark://CoarseGrainedScheduler@{self}"

    @property
    def properties(self) -> dict[str, str]:
        """Spark's properties for this address. The driver listens on all addresses of its machine."""
        return {
            "spark.driver.host": url_host(self.host),
            "spark.driver.bindAddress": "::" if ":" in self.host else "0.0.0.0",  # noqa: S104 - its own address is unknown here
            "spark.driver.port": str(self.port),
            contract.DRIVER_PORT_PROPERTY: str(self.port),
            "spark.driver.blockManager.port": str(self.block_manager_port),
        }

    def __str__(self) -> str:
        return f"{url_host(self.host)}:{self.port}"


def told_address(body: bytes) -> tuple[DriverAddress, str]:
    """The address in a request, and the nonce to read there. Raises BadMessage for a malformed request."""
    try:
        said = decode(body)
    except ValueError as error:
        raise BadMessage(f"the body is not JSON: {shown(str(error))[:200]}") from None
    if not isinstance(said, dict):
        raise BadMessage("the body must be an object")
    if said.get("version") != contract.VERSION:
        raise BadMessage(
            f"the command speaks protocol version {str(said.get('version'))[:20]!r}, but this allocator "
            f"speaks version {contract.VERSION}; use the command and the runtime image of the same release"
        )
    nonce = said.get("nonce")
    if not isinstance(nonce, str) or not _NONCE.fullmatch(nonce):
        raise BadMessage("nonce must be 16 to 128 hexadecimal digits")
    return _address(said), nonce


def _address(said: Mapping[str, Any]) -> DriverAddress:
    """The address in an object. Raises BadMessage if it is malformed."""
    return DriverAddress(_host(said.get("host")), _port("port", said), _port("blockManagerPort", said))


def _host(value: object) -> str:
    if isinstance(value, str) and len(value) <= 253 and "%" not in value:  # a zone is a machine's own
        try:
            return str(ipaddress.ip_address(value))
        except ValueError:
            # A name that ends in a number and is no address here is an address for inet_aton (127.1, 0x7f.1).
            if _NAME.fullmatch(value) and not _NUMBER.fullmatch(value.rpartition(".")[2]):
                return value
    raise BadMessage(
        "host must be an IP address or a DNS name of letters, digits, '-' and '.', not "
        f"{shown(repr(value)[:60])}"
    )


def _port(name: str, said: Mapping[str, Any]) -> int:
    value = said.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= 65535:
        raise BadMessage(f"{name} must be a number from 1 to 65535, not {shown(repr(value)[:60])}")
    return value


class DriverAddresses:
    """The address for the next driver, and the running driver's address; kept in the session volume.

    A new address applies to the next driver, because the executors of the running driver could not reach it
    there. Thread-safe.
    """

    def __init__(self, folder: Path) -> None:
        """Raises ValueError or OSError if the file in the session volume cannot be read."""
        self._file = folder / FILE
        self._lock = threading.Lock()
        self._next: DriverAddress | None = None
        self._current: DriverAddress | None = None
        self._application_id = ""
        if self._file.exists():
            self._read(decode(self._file.read_text("utf-8")))

    def _read(self, kept: Any) -> None:
        if (
            not isinstance(kept, dict)
            or not isinstance(kept.get("next"), dict)
            or not isinstance(kept.get("applicationId"), str)
        ):
            raise ValueError(f"{self._file} does not have the expected content")
        try:
            self._next = _address(kept["next"])
            self._application_id = kept["applicationId"]
            current = kept.get("current")
            self._current = _address(current) if isinstance(current, dict) else None
        except BadMessage as error:
            raise ValueError(f"{self._file} is invalid: {error}") from None

    @property
    def known(self) -> bool:
        """Whether the command has ever sent an address."""
        with self._lock:
            return self._next is not None

    def tell(self, address: DriverAddress) -> None:
        """Set the address of the next driver. Raises OSError if it cannot be saved."""
        with self._lock:
            if address != self._next:
                self._next = address
                self._keep()

    def begins(self, application_id: str) -> DriverAddress | None:
        """Returns the address of the driver with this application id; None if the command sent no address."""
        with self._lock:
            if self._next is not None and (self._current is None or application_id != self._application_id):
                self._application_id, self._current = application_id, self._next
                self._keep()
            return self._current

    def _keep(self) -> None:
        body = {
            "version": contract.VERSION,
            "applicationId": self._application_id,
            **{
                name: {"host": one.host, "port": one.port, "blockManagerPort": one.block_manager_port}
                for name, one in (("next", self._next), ("current", self._current))
                if one is not None
            },
        }
        replace_file(self._file, json.dumps(body) + "\n")
