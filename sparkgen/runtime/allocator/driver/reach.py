"""Whether executors will reach a driver outside of the cluster: tried from the session's pod, and in words.

The command listens at the driver's port for that moment, and says a nonce to whoever connects. Of what is
there, no more is read than that line, and nothing of it is handed on.
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
"""For the name, the connection and the line, together."""
MAX_LINE = 200
"""Bytes of the line."""
MAX_ADDRESSES = 4
"""Of one name, as many are tried."""
IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_UNREACHABLE = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL)


class _Unreachable(Exception):
    """Why, and what to do: one line."""


def of_machine_itself(address: IpAddress) -> bool:
    """Whether an address means another machine to each that uses it, or none at all."""
    mapped = getattr(address, "ipv4_mapped", None)
    if mapped is not None:
        address = mapped
    return address.is_loopback or address.is_unspecified or address.is_link_local or address.is_multicast


def why_unreachable(
    address: DriverAddress,
    nonce: str,
    seconds: float = SECONDS,
    refused: Callable[[IpAddress], bool] = of_machine_itself,
) -> str:
    """Why the one who knows the nonce is not reached at an address, and what to do; "" when it is.

    It returns within about `seconds`, and raises nothing.
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
    """The addresses of a host. The system's resolver knows no deadline, so a thread asks it."""
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
    """The first line of who listens there, without its end; as much of it as there is."""
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
    """What comes until a line ends, the other side closes, or it is too long. OSError otherwise."""
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
    """Seconds that are left; TimeoutError when there are none."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
