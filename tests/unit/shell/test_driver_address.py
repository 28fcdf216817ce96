"""Where executors reach this machine, and that what listens there is this command."""

from __future__ import annotations

import socket

import pytest

from sparkgen.errors import SparkgenError
from sparkgen.shell import driver_address


def test_an_api_server_of_this_machine_does_not_name_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with kind, or at the end of a tunnel: it is the address of the way out."""
    ways = {"127.0.0.1": "127.0.0.1", driver_address.ELSEWHERE[socket.AF_INET]: "10.1.2.3"}
    monkeypatch.setattr(driver_address, "_way_to", lambda _, place: ways[place[0]])
    assert driver_address.own_address("https://127.0.0.1:6443") == "10.1.2.3"


def test_the_way_to_the_api_server_names_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a machine has several."""
    monkeypatch.setattr(driver_address, "_way_to", lambda _, place: f"of the way to {place[0]}:{place[1]}")
    assert driver_address.own_address("https://10.96.0.1") == "of the way to 10.96.0.1:443"


def test_no_way_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the option that names an address."""

    def none(*_: object) -> str:
        raise OSError(101, "Network is unreachable")

    monkeypatch.setattr(driver_address, "_way_to", none)
    with pytest.raises(SparkgenError, match=r"Network is unreachable.*--driver-host"):
        driver_address.own_address("https://10.96.0.1")
    with pytest.raises(SparkgenError, match=r"--driver-host nobody\.invalid: cannot resolve it"):
        driver_address.resolved("nobody.invalid")


def test_who_connects_is_told_the_nonce_again_and_again() -> None:
    """Until the ports are the driver's."""
    with driver_address.taken_ports("127.0.0.1", 0, 0) as [driver, data]:
        ports = [one.getsockname()[1] for one in (driver, data)]
        with driver_address.shown_nonce(driver, "f00"):
            tell_twice(ports[0])
    assert len(set(ports)) == 2
    with driver_address.taken_ports("127.0.0.1", *ports):
        assert driver_address.reaches("127.0.0.1", ports[0])
    assert not driver_address.reaches("127.0.0.1", ports[0])


def tell_twice(port: int) -> None:
    """Whoever asks, and however often."""
    for _ in range(2):
        with socket.create_connection(("127.0.0.1", port), 5) as near, near.makefile() as lines:
            assert lines.readline() == "f00\n"
