"""Finds where executors reach the driver on this machine: address and ports, and a nonce to verify them."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from sparkgen.errors import SparkgenError
from sparkgen.live.tunnel import LOCALHOST

ELSEWHERE = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}
"""Addresses that nobody has (RFC 5737, RFC 3849): packets to them leave from this machine's own address."""
ASK_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class DriverAddress:
    """Where the driver listens: an address or a name of this machine, and two of its ports."""

    host: str
    port: int
    block_manager_port: int


def own_address(server: str) -> str:
    """Returns the address from which this machine reaches the API server; in a pod, the pod's address.

    `server`: the API server's URL. If the API server is on this machine, or behind a tunnel, returns the
    address from which packets leave this machine. Raises SparkgenError if there is none.
    """
    url = urlsplit(server)
    host, port = url.hostname or "", url.port or 443
    try:
        family, _, _, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        address = _way_to(family, place)
        if address.startswith("127.") or address == "::1":
            address = _way_to(family, (ELSEWHERE[socket.AddressFamily(family)], port))
    except OSError as error:
        raise SparkgenError(
            f"cannot find this machine's address ({error.strerror or error}); set one that pods can reach "
            "with --driver-host"
        ) from error
    return address


def _way_to(family: int, place: tuple[object, ...]) -> str:
    """Returns the own address from which a datagram to `place` would leave; none is sent."""
    with socket.socket(family, socket.SOCK_DGRAM) as tried:
        tried.connect(place)
        return str(tried.getsockname()[0])


def resolved(host: str) -> str:
    """Returns the address of a host name. Raises SparkgenError if it cannot be resolved."""
    try:
        return str(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][4][0])
    except OSError as error:
        raise SparkgenError(
            f"--driver-host {host}: cannot resolve it ({error.strerror}); use an address of this machine "
            "that pods can reach"
        ) from error


@contextlib.contextmanager
def taken_ports(address: str, port: int, block_manager_port: int) -> Iterator[list[socket.socket]]:
    """Yields sockets that listen at two ports of this machine; 0: any free port.

    `address`: chooses IPv4 or IPv6. Raises SparkgenError if a port is in use.
    """
    with contextlib.ExitStack() as stack:
        options = {"--driver-port": port, "--block-manager-port": block_manager_port}
        yield [stack.enter_context(_listening(address, wanted, name)) for name, wanted in options.items()]


def _listening(address: str, port: int, option: str) -> socket.socket:
    family, everywhere = (socket.AF_INET6, "::") if ":" in address else (socket.AF_INET, "0.0.0.0")  # noqa: S104
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((everywhere, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise SparkgenError(
            f"cannot listen on {option} {port}: {error.strerror}; choose another port"
        ) from error
    return listener


@contextlib.contextmanager
def shown_nonce(listening: socket.socket, nonce: str) -> Iterator[None]:
    """Send the nonce to each client that connects during the block; then nothing listens there any more.

    The socket is shut down: a thread that waits for a connection would keep a closed port open.
    """

    def answer() -> None:
        with contextlib.suppress(OSError):
            while True:
                who, _ = listening.accept()
                with contextlib.suppress(OSError), who:
                    who.settimeout(ASK_SECONDS)
                    who.sendall(f"{nonce}\n".encode())

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    try:
        yield
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(ASK_SECONDS)


def reaches(host: str, port: int, seconds: float = 2.0) -> bool:
    """Whether this machine can connect to a port of a pod."""
    try:
        socket.create_connection((host, port), seconds).close()
    except OSError:
        return False
    return True


def listens_here(port: int) -> bool:
    """Whether something listens at a port of this machine's loopback addresses."""
    return any(reaches(address, port) for address in LOCALHOST)
