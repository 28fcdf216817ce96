"""Who has connected to a port of this machine, by the kernel's tables."""

from __future__ import annotations

import os
import socket
import struct
import sys
from pathlib import Path

import pytest

from sparkgen.live.peers import GONE, uid_in, user_of

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
QUEUES = "00000000:00000000 00:00000000 00000000"
CLIENT, SERVER = ("127.0.0.1", 0x8A4F), ("127.0.0.1", 0x0FC8)
HERE = "0100007F" if sys.byteorder == "little" else "7F000001"
V4 = f"   0: {HERE}:8A4F {HERE}:0FC8 01 {QUEUES}  1001        0 14257618 1 0000000063a5227f 20 4 30 10 -1\n"
SERVERS = (
    f"   1: {HERE}:0FC8 {HERE}:8A4F 01 {QUEUES}  1000        0 14257619 1 0000000063a5227f 20 4 30 10 -1\n"
)


def test_the_user_is_the_one_of_the_client() -> None:
    """The server's own socket has a row too, with the two addresses the other way round."""
    assert uid_in(HEAD + SERVERS + V4, CLIENT, SERVER) == 1001
    assert uid_in(HEAD + SERVERS, CLIENT, SERVER) is None
    assert uid_in("", CLIENT, SERVER) is None


def test_a_closed_socket_is_nobodys() -> None:
    """The kernel writes that it is root's, and has no inode."""
    closed = V4.replace(" 01 ", " 05 ").replace("1001", "   0").replace("14257618", "0")
    assert uid_in(HEAD + closed, CLIENT, SERVER) == GONE


@pytest.mark.parametrize("row", ["", " 01", f" 01 {QUEUES}"])
def test_a_row_that_breaks_off_is_none(row: str) -> None:
    """As at the end of a table that changes while it is read."""
    assert uid_in(f"{HEAD}   0: {HERE}:8A4F {HERE}:0FC8{row}", CLIENT, SERVER) is None


@pytest.mark.skipif(not Path("/proc/net/tcp6").exists(), reason="Linux has these tables")
@pytest.mark.parametrize(
    ("listens", "connects", "address"),
    [("127.0.0.1", socket.AF_INET, "127.0.0.1"), ("127.0.0.1", socket.AF_INET6, "::ffff:127.0.0.1")],
    ids=["IPv4", "IPv4 through a socket for IPv6"],
)
def test_the_kernel_knows_this_user(listens: str, connects: socket.AddressFamily, address: str) -> None:
    """However it connects, until it closes."""
    with socket.create_server((listens, 0)) as listener:
        with socket.socket(connects) as near:
            near.connect((address, listener.getsockname()[1]))
            far, client = listener.accept()
            assert user_of(client, listener.getsockname()) == os.getuid()
            near.shutdown(socket.SHUT_WR)
            assert user_of(client, listener.getsockname()) == os.getuid()
        with far:
            assert user_of(client, listener.getsockname()) == GONE


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="Linux has these tables")
def test_who_resets_a_connection_is_gone() -> None:
    """The kernel has forgotten the client, but not what it has sent."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        with socket.create_connection(listener.getsockname()) as near:
            far, client = listener.accept()
            near.sendall(b"POST /jobs/job/kill/?id=0 HTTP/1.1\r\n\r\n")
            near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        with far:
            assert user_of(client, listener.getsockname()) == GONE


LISTENING = (
    f"   2: {HERE}:0FC8 00000000:0000 0A {QUEUES}  1000        0 14257617 1 0000000063a5227f 100 0 0 10 0\n"
)


def test_a_client_without_a_row_is_gone_where_the_kernel_fills_the_table(tmp_path: Path) -> None:
    """Where it does not even have the port that this process listens to, nobody knows."""
    (tmp_path / "tcp").write_text(HEAD)
    assert user_of(CLIENT, SERVER, [tmp_path / "tcp"]) is None
    (tmp_path / "tcp").write_text(HEAD + LISTENING)
    assert user_of(CLIENT, SERVER, [tmp_path / "tcp"]) == GONE
    (tmp_path / "tcp").write_text(HEAD + LISTENING + V4)
    assert user_of(CLIENT, SERVER, [tmp_path / "tcp"]) == 1001


def test_without_tables_nobody_knows(tmp_path: Path) -> None:
    """As on macOS."""
    (tmp_path / "bytes").write_bytes(b"\xff")
    assert user_of(CLIENT, SERVER, (tmp_path / "none", tmp_path / "bytes")) is None
    (tmp_path / "tcp6").write_text(HEAD + V4)
    assert user_of(CLIENT, SERVER, (tmp_path / "none", tmp_path / "tcp6")) == 1001
