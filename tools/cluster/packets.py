"""Records packets in a network namespace, so that tests can prove that none leaves it, or arrives.

`watched` listens on every interface of a namespace, `probe` tries addresses from a namespace. Both run this
file as a program inside the namespace; a namespace is given as the command that enters it.
"""

from __future__ import annotations

import errno
import json
import select
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass

ETH_P_ALL = 3
PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp"}
CONNECT_SECONDS = 1.0
"""The most seconds for a connection: these are addresses on the same machine."""

SETTLE_SECONDS = 0.3
"""Seconds for which a watcher still listens after it was told to stop, because packets may be in transit."""


@dataclass(frozen=True, slots=True)
class Packet:
    """A recorded IPv4 packet: "icmp", "tcp" or "udp", its addresses, and its target port (icmp: 0)."""

    protocol: str
    source: str
    target: str
    port: int


def parse(data: bytes, marker: bytes, ports: Iterable[int]) -> Packet | None:
    """The packet in `data` (from the IP header on), if it contains `marker` or goes to one of `ports`."""
    if len(data) < 20 or data[0] >> 4 != 4 or data[9] not in PROTOCOLS:
        return None
    protocol = PROTOCOLS[data[9]]
    body = data[(data[0] & 15) * 4 :]
    port = struct.unpack("!H", body[2:4])[0] if protocol != "icmp" and len(body) >= 4 else 0
    if port not in ports and marker not in body:
        return None
    return Packet(protocol, socket.inet_ntoa(data[12:16]), socket.inet_ntoa(data[16:20]), port)


def echo_request(marker: bytes) -> bytes:
    """An ICMP echo request that contains `marker` (RFC 792)."""
    head = struct.pack("!BBHHH", 8, 0, 0, 1, 1)
    return head[:2] + struct.pack("!H", checksum(head + marker)) + head[4:] + marker


def checksum(data: bytes) -> int:
    """The internet checksum of `data` (RFC 1071)."""
    padded = data + b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f"!{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


@contextmanager
def watched(enter: Sequence[str], marker: str, ports: Iterable[int] = ()) -> Iterator[list[Packet]]:
    """All packets in a namespace that contain `marker` or go to a port; the list is filled at the end."""
    seen: list[Packet] = []
    command = [*enter, sys.executable, __file__, "watch", marker, *map(str, ports)]
    watcher = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert watcher.stdout is not None  # noqa: S101 - for the type checker
    try:
        if watcher.stdout.readline() != "ready\n":
            raise OSError(f"cannot watch: {' '.join(command)}")
        yield seen
        said, _ = watcher.communicate()
        seen += [Packet(**json.loads(line)) for line in said.splitlines()]
    finally:
        watcher.kill()
        watcher.wait()


def probe(enter: Sequence[str], marker: str, targets: Iterable[tuple[str, int]]) -> set[tuple[str, int]]:
    """Try (address, port)s from a namespace by TCP, UDP and ICMP. Returns those that accept connections."""
    command = [*enter, sys.executable, __file__, "probe", marker]
    command += [f"{address}:{port}" for address, port in targets]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {(address, port) for address, port in json.loads(done.stdout)}


def _watch(marker: bytes, ports: set[int]) -> None:
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_ALL)) as everything:
        print("ready", flush=True)
        until: float | None = None
        while until is None or time.monotonic() < until:
            readable, _, _ = select.select(
                [everything] if until else [everything, sys.stdin], [], [], SETTLE_SECONDS
            )
            if sys.stdin in readable:
                until = time.monotonic() + SETTLE_SECONDS
            if everything in readable and (packet := parse(everything.recv(65535), marker, ports)):
                print(json.dumps(asdict(packet)), flush=True)


def _probe(marker: bytes, targets: list[tuple[str, int]]) -> None:
    waiting = {}
    for address, port in targets:
        stream = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        stream.setblocking(False)
        if stream.connect_ex((address, port)) in (0, errno.EINPROGRESS):
            waiting[stream] = (address, port)
        _send(socket.SOCK_DGRAM, 0, marker, (address, port))
        _send(socket.SOCK_RAW, socket.IPPROTO_ICMP, echo_request(marker), (address, 0))
    accepted = []
    until = time.monotonic() + CONNECT_SECONDS
    while waiting and (left := until - time.monotonic()) > 0:
        for stream in select.select([], waiting, [], left)[1]:
            target = waiting.pop(stream)
            if stream.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0:
                accepted.append(target)
    print(json.dumps(accepted))


def _send(kind: int, protocol: int, data: bytes, target: tuple[str, int]) -> None:
    with socket.socket(socket.AF_INET, kind, protocol) as sender:
        try:
            sender.sendto(data, target)
        except OSError as error:
            # An unreachable address is a result of this program; any other error is a bug in it.
            if error.errno not in (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ECONNREFUSED):
                raise


def main(arguments: Sequence[str]) -> None:
    """`watch MARKER PORT...` until standard input ends, or `probe MARKER ADDRESS:PORT...`."""
    command, marker, *rest = arguments
    if command == "watch":
        _watch(marker.encode(), {int(port) for port in rest})
    else:
        split = (target.rpartition(":") for target in rest)
        _probe(marker.encode(), [(address, int(port)) for address, _, port in split])


if __name__ == "__main__":
    main(sys.argv[1:])
