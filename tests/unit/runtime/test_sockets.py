"""Whose sockets listen and serve, by the kernel's tables."""

from __future__ import annotations

import os
import socket
import sys
from contextlib import closing
from pathlib import Path

import pytest

from sparkgen.runtime import sockets
from sparkgen.runtime.sockets import Row, own_users, rows, servers

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
QUEUES = "00000000:00000000 00:00000000 00000000"
HERE = "0100007F" if sys.byteorder == "little" else "7F000001"
MAPPED = ("0000000000000000FFFF0000" if sys.byteorder == "little" else "00000000000000000000FFFF") + HERE
HERE_6 = "00000000000000000000000001000000" if sys.byteorder == "little" else f"{1:032X}"
ANY, ANY_6 = "0" * 8, "0" * 32
SERVER, CLIENT = ("127.0.0.1", 0x1388), ("127.0.0.1", 0x8A4F)
SERVER_6, CLIENT_6 = ("::1", 0x1388), ("::1", 0x8A4F)
linux = pytest.mark.skipif(not Path("/proc/net/tcp6").exists(), reason="Linux has these tables")


def row(local: str, remote: str, state: str, uid: int, inode: int = 14257618) -> str:
    """A row as the kernel writes it."""
    user = f"{uid:5}        0 {inode} 1 0000000063a5227f 20 4 30 10 -1"
    return f"   0: {local} {remote} {state} {QUEUES} {user}\n"


def listens(host: str, uid: int) -> str:
    """The row of a socket that listens at port 5000."""
    return row(f"{host}:1388", f"{'0' * len(host)}:0000", "0A", uid)


def accepted(host: str, uid: int, inode: int = 14257619) -> str:
    """The row of the server's end of a connection to port 5000."""
    return row(f"{host}:1388", f"{host}:8A4F", "01", uid, inode)


@linux
def test_who_listens_at_a_port(tmp_path: Path) -> None:
    """By the kernel's table: another socket has another inode, and who does not listen has none."""
    with closing(socket.create_server(("127.0.0.1", 0))) as first:
        port = first.getsockname()[1]
        before = sockets.listening(port)
        assert len(before) == 1
        assert sockets.users(port) == {os.getuid()}
        with socket.create_connection(("127.0.0.1", port)):
            assert sockets.listening(port) == before
    assert not sockets.listening(port) & before
    garbled = tmp_path / "tcp"
    garbled.write_text("head\n\n  0: 0100007F:1BA6\n 1: x:1BA6 y 0A a b c d e 0 z\n")
    assert sockets.listening(7078, (garbled, tmp_path / "none")) == frozenset()
    assert sockets.users(7078, (garbled, tmp_path / "none")) == frozenset()


def test_rows_are_those_of_a_port_and_whole() -> None:
    """The other end's port is not the socket's own, and the last row may break off anywhere."""
    ours, other = listens(HERE, 1000), row(f"{HERE}:8A4F", f"{HERE}:1388", "01", 1001)
    expected = [Row(f"{HERE}:1388", f"{ANY}:0000", "0A", 1000, "14257618")]
    assert list(rows(HEAD + other + ours, 5000)) == expected
    whole = ours.index(" 1 0000000063a5227f")
    for at in range(len(ours)):
        assert list(rows(HEAD + ours[:at], 5000)) == (expected if at > whole else [])


@pytest.mark.parametrize(
    ("tcp", "tcp6", "expected"),
    [
        (listens(HERE, 1000) + accepted(HERE, 1001), "", {1001}),
        (listens(HERE, 1000) + accepted(HERE, 0, inode=0), "", {1000}),
        (listens(HERE, 1000), listens(HERE_6, 1001), {1000}),
        (listens(HERE, 1000), listens(ANY_6, 1001), {1000}),
        (listens(ANY, 1000), listens(ANY_6, 1001), {1000}),
        ("", listens(ANY_6, 1001), {1001}),
        ("", listens(MAPPED, 1001), {1001}),
        ("", listens(ANY_6, 0) + accepted(MAPPED, 1001), {1001}),
        ("", listens(HERE_6, 1001), set()),
    ],
    ids=[
        "who accepted it",
        "not accepted: the kernel writes root",
        "who listens at the other address gets other connections",
        "the narrowest listener gets it",
        "of IPv4",
        "of both",
        "of IPv4, through a socket for IPv6",
        "accepted through a socket for both",
        "nobody",
    ],
)
@pytest.mark.parametrize("host", ["127.0.0.1", "::ffff:127.0.0.1"])
def test_who_serves_a_connection_of_ipv4(
    host: str, tcp: str, tcp6: str, expected: set[int], tmp_path: Path
) -> None:
    """However the client's own socket was made."""
    tables = tmp_path / "tcp", tmp_path / "tcp6"
    for table, text in zip(tables, (tcp, tcp6), strict=True):
        table.write_text(HEAD + text)
    assert servers((host, SERVER[1]), (host, CLIENT[1]), tables) == expected


@pytest.mark.parametrize(
    ("tcp", "tcp6", "expected"),
    [
        (listens(HERE, 1000), listens(HERE_6, 1001), {1001}),
        (listens(ANY, 1000), listens(ANY_6, 1001), {1001}),
        (listens(ANY, 1000), "", set()),
        ("", listens(ANY_6, 0) + accepted(HERE_6, 1001), {1001}),
    ],
)
def test_who_serves_a_connection_of_ipv6(tcp: str, tcp6: str, expected: set[int], tmp_path: Path) -> None:
    """What listens for IPv4 only does not get it."""
    tables = tmp_path / "tcp", tmp_path / "tcp6"
    for table, text in zip(tables, (tcp, tcp6), strict=True):
        table.write_text(HEAD + text)
    assert servers(SERVER_6, CLIENT_6, tables) == expected


def test_without_tables_nobody_is_known(tmp_path: Path) -> None:
    """As on macOS."""
    (tmp_path / "bytes").write_bytes(b"\xff")
    assert servers(SERVER, CLIENT, (tmp_path / "none", tmp_path / "bytes")) == frozenset()


@linux
@pytest.mark.parametrize(
    ("listens_at", "family", "address"),
    [
        ("127.0.0.1", socket.AF_INET, "127.0.0.1"),
        ("0.0.0.0", socket.AF_INET, "127.0.0.2"),  # noqa: S104 - for the length of a test
        ("127.0.0.1", socket.AF_INET6, "::ffff:127.0.0.1"),
    ],
)
def test_the_kernel_knows_who_serves(listens_at: str, family: socket.AddressFamily, address: str) -> None:
    """Before the connection is accepted, and then."""
    with socket.create_server((listens_at, 0)) as listener, socket.socket(family) as near:
        near.connect((address, listener.getsockname()[1]))
        ends = near.getpeername()[:2], near.getsockname()[:2]
        assert servers(*ends) == {os.getuid()}
        far, _ = listener.accept()
        with far:
            listener.close()
            assert servers(*ends) == {os.getuid()}
        assert servers(*ends) == frozenset()


def test_own_users_are_this_one_root_and_who_called_sudo() -> None:
    """What is no number is nobody."""
    assert own_users({}) == {0, os.getuid()}
    assert own_users({"SUDO_UID": "1234"}) == {0, os.getuid(), 1234}
    assert own_users({"SUDO_UID": "-1"}) == {0, os.getuid()}
