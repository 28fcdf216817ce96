"""Whether executors would reach a driver: what is tried, what is never tried, and what is said of it."""

from __future__ import annotations

import ipaddress
import json
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkgen.runtime.allocator.driver import driver_address, reach
from sparkgen.runtime.allocator.driver.driver_address import DriverAddress, DriverAddresses, told_address
from sparkgen.runtime.allocator.driver.protocol import BadMessage

NONCE = "0123456789abcdef"
SAID = {"version": 1, "host": "10.1.2.3", "port": 7078, "blockManagerPort": 7079, "nonce": NONCE}


def told(**changes: Any) -> DriverAddress:
    """The address in a request."""
    return told_address(json.dumps(SAID | changes).encode())[0]


@pytest.mark.parametrize(
    ("host", "url", "bind"),
    [
        ("10.1.2.3", "10.1.2.3:7078", "0.0.0.0"),  # noqa: S104 - what is expected
        ("fd00:0::1", "[fd00::1]:7078", "::"),
        ("Ana-Laptop.vpn.example.com", "Ana-Laptop.vpn.example.com:7078", "0.0.0.0"),  # noqa: S104 - as above
    ],
)
def test_an_address_as_spark_has_it(host: str, url: str, bind: str) -> None:
    """Brackets around a version 6 address, and all addresses of the machine to listen at."""
    address = told(host=host)
    assert address.driver_url == f"spark://CoarseGrainedScheduler@{url}"
    assert f"{address.properties['spark.driver.host']}:{address.properties['spark.driver.port']}" == url
    assert address.properties["spark.driver.bindAddress"] == bind


@pytest.mark.parametrize(
    "changes",
    [
        *(
            {"host": host}
            for host in ("", "a b", "a/b", "a:b", "-a", "a..b", "a_b", "ä", 7, None, "a\n", "[::1]")
        ),
        *(
            {"host": host}
            for host in ("127.1", "0x7f.1", "0x7f000001", "010.0.0.1", "2130706433", "1.2.3.4.5")
        ),
        *({"host": host} for host in ("x" * 64, ".".join(["x" * 60] * 5), "fe80::1%eth0;id")),
        *({"port": port} for port in (0, -1, 65536, "7078", 7078.0, True, None)),
        *({"blockManagerPort": port} for port in (0, "", None)),
        *({"nonce": nonce} for nonce in ("", "0" * 15, "0" * 129, "ABCDEF0123456789", 7, None)),
        *({"version": version} for version in (2, None, "1")),
    ],
)
def test_what_is_no_address(changes: dict[str, Any]) -> None:
    """A strict pattern: what two readers may take for two addresses is none."""
    with pytest.raises(BadMessage):
        told(**changes)


@pytest.mark.parametrize("body", [b"", b"[]", b"7", b"{", b"[" * 4000, b"\xff", b"null"])
def test_what_is_no_object(body: bytes) -> None:
    """And what is no JSON."""
    with pytest.raises(BadMessage):
        told_address(body)


@given(st.binary(max_size=400))
def test_any_body_is_an_address_or_bad(body: bytes) -> None:
    """Nothing else comes of it."""
    with suppress(BadMessage):
        told_address(body)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.8.9.1",
        "::1",
        "0.0.0.0",  # noqa: S104 - refused
        "::",
        "169.254.169.254",
        "fe80::1",
        "224.0.0.1",
        "::ffff:7f00:1",
        "fd00:ec2::254",
        "fd00:ec2::23",
        "fd20:ce::254",
        "fd00:c1::a9fe:a9fe",
        "fd00:42::42",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b::6464:64c8",
        "2002:a9fe:a9fe::1",
        "::a9fe:a9fe",
        "fe80::a9fe:a9fe",
    ],
)
def test_what_is_never_tried(host: str) -> None:
    """Each machine has its own of these; a cloud's metadata is at one."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        why = reach.why_unreachable(DriverAddress(host, server.getsockname()[1], 1), NONCE)
        assert "means a different machine on every host" in why
        with pytest.raises(TimeoutError):
            server.accept()


def test_a_name_that_leads_there_is_refused_as_well() -> None:
    """What is connected to is the address that was looked at."""
    why = reach.why_unreachable(DriverAddress("localhost", 1, 1), NONCE)
    assert "means a different machine" in why


@pytest.mark.parametrize(
    "host", ["10.1.2.3", "100.64.0.1", "192.168.1.2", "8.8.8.8", "fd00::1", "fd12:3456::7", "2001:db8::1"]
)
def test_addresses_of_other_machines_are_tried(host: str) -> None:
    """Private ones, those of a carrier or a VPN, and public ones."""
    assert not reach.of_machine_itself(ipaddress.ip_address(host))


@given(st.ip_addresses(v=4), st.sampled_from(["::ffff:0:0", "64:ff9b::", "2002::"]))
def test_an_address_in_another_is_judged_by_itself(inner: ipaddress.IPv4Address, prefix: str) -> None:
    """A translator would take it out."""
    places = int(inner) << 80 if prefix == "2002::" else int(inner)
    outer = ipaddress.IPv6Address(int(ipaddress.IPv6Address(prefix)) + places)
    assert reach.of_machine_itself(outer) is reach.of_machine_itself(inner)


def why(port: int, seconds: float = 5.0, host: str = "127.0.0.1") -> str:
    """Why this machine is not reached at a port; it may be, here."""
    return reach.why_unreachable(DriverAddress(host, port, 1), NONCE, seconds, lambda _: False)


def test_who_is_silent_is_not_waited_for() -> None:
    """Bounded, whoever listens there: also one that sends a byte at a time."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        began = time.monotonic()
        assert "another program answers there" in why(server.getsockname()[1], 0.3)
        assert time.monotonic() - began < 3


def test_a_connection_that_is_refused() -> None:
    """With what may be the cause."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert "the connection was refused" in why(port)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (TimeoutError(), "possibly because of a firewall or NAT"),
        (OSError(101, "Network is unreachable"), "the cluster has no route to it"),
        (OSError(113, "No route to host"), "the cluster has no route to it"),
        (OSError(104, "Connection reset by peer"), "the connection broke (Connection reset by peer)"),
    ],
)
def test_what_the_network_says(error: OSError, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In words that say what to do."""

    def connect(*_: Any) -> None:
        raise error

    monkeypatch.setattr(reach.socket, "create_connection", connect)
    assert expected in why(1)


def test_a_name_that_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or that is asked for too long."""

    def unknown(*_: Any, **__: Any) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(reach.socket, "getaddrinfo", unknown)
    assert "name servers do not know that name" in why(1, host="laptop.example.com")


def test_each_address_of_a_name_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of them is enough."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        monkeypatch.setattr(
            reach.socket,
            "getaddrinfo",
            lambda *_, **__: [(0, 0, 0, "", (host, port)) for host in ("127.0.0.2", "127.0.0.1")],
        )
        lines = {"127.0.0.2": b"other", "127.0.0.1": NONCE.encode()}
        monkeypatch.setattr(reach, "_line", lambda host, *_: lines[host])
        assert why(port, host="laptop.example.com") == ""


def test_what_is_kept_of_an_address(tmp_path: Path) -> None:
    """The next driver's, and that of the one that runs, also after a restart."""
    first, second = DriverAddress("10.0.0.1", 1, 2), DriverAddress("10.0.0.2", 3, 4)
    made = DriverAddresses(tmp_path)
    assert (made.known, made.begins("a")) == (False, None)
    made.tell(first)
    assert made.begins("a") == first
    made.tell(second)
    assert made.begins("a") == first
    again = DriverAddresses(tmp_path)
    assert (again.known, again.begins("a"), again.begins("b"), again.begins("b")) == (
        True,
        first,
        second,
        second,
    )
    assert oct((tmp_path / driver_address.FILE).stat().st_mode & 0o777) == "0o640"


@pytest.mark.parametrize(
    "kept", ["", "[]", "{}", '{"applicationId": "a"}', '{"applicationId": "a", "next": 7}']
)
def test_what_was_kept_and_cannot_be_read(tmp_path: Path, kept: str) -> None:
    """ValueError, whatever is there."""
    (tmp_path / driver_address.FILE).write_text(kept)
    with pytest.raises(ValueError, match=r"."):
        DriverAddresses(tmp_path)


def test_addresses_are_compared_as_values() -> None:
    """One that is written in two ways is one."""
    assert told(host="fd00:0:0::1") == told(host="fd00::1")
    assert ipaddress.ip_address(told(host="fd00::1").host)
