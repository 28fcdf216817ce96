"""Packets as values: what the isolation tests count, and what they do not."""

from __future__ import annotations

import socket
import struct

from cluster.packets import Packet, checksum, echo_request, parse

MARKER = b"m4rk3r"


def packet(protocol: int, body: bytes, options: bytes = b"") -> bytes:
    """An IPv4 packet from 10.0.0.1 to 10.0.0.2."""
    words = 5 + len(options) // 4
    head = struct.pack("!BBHHHBBH", 4 << 4 | words, 0, words * 4 + len(body), 0, 0, 64, protocol, 0)
    return head + socket.inet_aton("10.0.0.1") + socket.inet_aton("10.0.0.2") + options + body


def test_a_packet_to_a_port_counts() -> None:
    """The first packet of a connection carries no data: its port tells it."""
    syn = struct.pack("!HHIIBBHHH", 40000, 18091, 0, 0, 5 << 4, 2, 0, 0, 0)
    expected = Packet("tcp", "10.0.0.1", "10.0.0.2", 18091)
    assert parse(packet(6, syn), MARKER, {18091}) == expected
    assert parse(packet(6, syn, options=b"\1" * 4), MARKER, {18091}) == expected
    assert parse(packet(6, syn), MARKER, {80}) is None


def test_a_packet_with_the_marker_counts_wherever_it_goes() -> None:
    """A translated address or port hides nothing."""
    datagram = struct.pack("!HHHH", 40000, 53, 8 + len(MARKER), 0) + MARKER
    assert parse(packet(17, datagram), MARKER, ()) == Packet("udp", "10.0.0.1", "10.0.0.2", 53)
    assert parse(packet(1, echo_request(MARKER)), MARKER, ()) == Packet("icmp", "10.0.0.1", "10.0.0.2", 0)
    assert parse(packet(17, datagram[:8]), MARKER, ()) is None


def test_what_is_no_ipv4_packet_is_left_out() -> None:
    """ARP, IPv6 and scraps pass every interface."""
    assert parse(b"", MARKER, {0}) is None
    assert parse(b"\x60" + bytes(60), MARKER, {0}) is None
    assert parse(b"\x45" + bytes(10), MARKER, {0}) is None


def test_an_echo_request_checks_out() -> None:
    """A right checksum makes the checksum of the whole zero (RFC 1071); odd lengths, too."""
    for marker in (b"odd", b"even"):
        assert checksum(echo_request(marker)) == 0
