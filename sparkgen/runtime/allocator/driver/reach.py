"""Tests from the session's pod whether executors can reach a driver outside of the cluster.

During the test, the command listens at the driver's port, and sends a nonce to whoever connects. Only that
one line is read from whatever listens there, and none of it is passed on.
"""

from __future__ import annotations

import errno
import hmac
import ipaddress
import queue
import socket
import threading
import time
from collections.abc import Callable

from sparkgen.runtime.allocator.driver.driver_address import DriverAddress

SECONDS = 3.0
"""The time for resolving the name, connecting and reading the line, together."""
MAX_LINE = 200
"""The most bytes of the line."""
MAX_ADDRESSES = 4
"""The most addresses of a name that are tried."""
IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_METADATA = tuple(
    ipaddress.ip_network(text)
    for text in (
        "fd00:ec2::/32",  # of Amazon's machines: metadata, name server, clock, EKS Pod Identity
        "fd20:ce::254",  # Google
        "fd00:c1::a9fe:a9fe",  # Oracle
        "fd00:42::42",  # Scaleway
        "100.100.100.200",  # Alibaba
        "168.63.129.16",  # Azure: what gives machines their settings
        "192.0.0.192",  # Oracle's older one
    )
)
"""Where clouds tell a machine its own credentials and settings, if the address is not link-local."""
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""IPv6 addresses whose last four bytes are an IPv4 address (RFC 6052)."""

_UNREACHABLE = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL)


class _Unreachable(Exception):
    """Why the driver is unreachable, and what to do: one line."""


def of_machine_itself(address: IpAddress) -> bool:
    """Whether an address means another machine on every host that uses it, or no machine at all."""
    address = _inner(address)
    return (
        address.is_loopback
        or address.is_unspecified
        or address.is_link_local
        or address.is_multicast
        or any(address in network for network in _METADATA)
    )


def _inner(address: IpAddress) -> IpAddress:
    """The IPv4 address inside an IPv6 address; the address itself if it has none."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    number = int(address) & 0xFFFFFFFF
    if address in _NAT64 or (int(address) == number and number > 1):
        return ipaddress.IPv4Address(number)
    return address.ipv4_mapped or address.sixtofour or address


def why_unreachable(
    address: DriverAddress,
    nonce: str,
    seconds: float = SECONDS,
    refused: Callable[[IpAddress], bool] = of_machine_itself,
) -> str:
    """Why nobody at an address sends the nonce, and what to do; "" if somebody does.

    Returns within about `seconds`, and never raises.
    """
    deadline = time.monotonic() + seconds
    try:
        why = _Unreachable(f"{address.host} has no address")
        for found in _resolved(address, deadline)[:MAX_ADDRESSES]:
            if refused(found):
                raise _Unreachable(
                    f"{found} means a different machine on every host; set --driver-host to an address of "
                    "your machine that pods can reach"
                )
            try:
                line = _line(str(found), address.port, deadline)
            except _Unreachable as error:
                why = error
                continue
            if hmac.compare_digest(line, nonce.encode()):
                return ""
            why = _Unreachable(
                "another program answers there; set --driver-host to an address of your machine, or "
                "--driver-port to a port that is free"
            )
        raise why
    except _Unreachable as error:
        return str(error)


def _resolved(address: DriverAddress, deadline: float) -> list[IpAddress]:
    """The addresses of a host. Uses a thread, because the system's resolver has no time-out."""
    try:
        return [ipaddress.ip_address(address.host)]
    except ValueError:
        pass
    answer: queue.SimpleQueue[list[IpAddress] | OSError] = queue.SimpleQueue()

    def ask() -> None:
        try:
            found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
            answer.put([ipaddress.ip_address(entry[4][0]) for entry in found])
        except (OSError, ValueError) as error:
            answer.put(OSError(str(error)))

    threading.Thread(target=ask, name="resolve", daemon=True).start()
    try:
        found = answer.get(timeout=max(0.0, deadline - time.monotonic()))
    except queue.Empty:
        found = OSError("no name server answered in time")
    if isinstance(found, OSError):
        raise _Unreachable(
            "the cluster's name servers do not know that name; set --driver-host to your machine's IP address"
        )
    return found


def _line(host: str, port: int, deadline: float) -> bytes:
    """The first line from whatever listens there, without its line end; possibly incomplete."""
    try:
        with socket.create_connection((host, port), _left(deadline)) as connection:
            return _first_line(connection, deadline)
    except ConnectionRefusedError:
        raise _Unreachable(
            "the connection was refused, by a firewall or because --driver-host is another machine's "
            "address; open the port, or correct --driver-host"
        ) from None
    except TimeoutError:
        raise _Unreachable(
            "there is no answer, possibly because of a firewall or NAT; open the port (--driver-port) for "
            "the cluster's pods, or set --driver-host to another address of your machine"
        ) from None
    except OSError as error:
        if error.errno in _UNREACHABLE:
            raise _Unreachable(
                "the cluster has no route to it; set --driver-host to an address that pods can reach, such "
                "as one in a VPN"
            ) from None
        raise _Unreachable(f"the connection broke ({error.strerror or type(error).__name__})") from None


def _first_line(connection: socket.socket, deadline: float) -> bytes:
    """What arrives until a line ends, the other side closes, or it is too long. Raises OSError otherwise."""
    received = b""
    while len(received) < MAX_LINE and b"\n" not in received:
        connection.settimeout(_left(deadline))
        try:
            data = connection.recv(MAX_LINE - len(received))
        except TimeoutError:
            break  # who is silent is not who was looked for
        if not data:
            break
        received += data
    return received.partition(b"\n")[0].rstrip(b"\r")


def _left(deadline: float) -> float:
    """The seconds that are left. Raises TimeoutError if there are none."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
