"""The names that one driver pod gives to what it makes."""

from __future__ import annotations

import hashlib

import pytest

from sparkgen.runtime.addresses import plain_address, url_host
from sparkgen.runtime.allocator.values.attempt import new_attempt
from tests.unit.runtime.allocator.recorded_pods import ATTEMPT, DRIVER_UID


def test_names_are_a_function_of_run_attempt_and_id() -> None:
    """Asking twice for an executor asks for one name, which contains the attempt of the driver's pod."""
    short = hashlib.sha256(DRIVER_UID.encode()).hexdigest()[:5]
    assert ATTEMPT.executor_name(12) == f"pi-1a2b3c4d-{short}-exec-12"
    assert ATTEMPT.application_id == ATTEMPT.secret_name == f"pi-1a2b3c4d-{short}"


def test_an_executors_id_is_read_from_its_name() -> None:
    """The id in a name is the one that the name was made from."""
    ids = [1, 10, 4321, 2**31 - 1]
    assert [ATTEMPT.executor_id(ATTEMPT.executor_name(id_)) for id_ in ids] == ids


@pytest.mark.parametrize(
    "name",
    [
        "pi-1a2b3c4d-00000-exec-1",
        "{}-exec-",
        "{}-exec-01",
        "{}-exec-1x",
        "{}-exec-0",
        "{}-exec--1",
        "{}-exec-\u0661",
        "{}-exec-2147483648",
        "{}-exec-9999999999",
    ],
)
def test_other_names_have_no_id(name: str) -> None:
    """Pods of another attempt, and names that no id makes, are not executors of this attempt."""
    assert ATTEMPT.executor_id(name.format(ATTEMPT.application_id)) is None


def test_addresses_in_urls() -> None:
    """An IPv6 address has brackets in a URL, an IPv4 address and a name have not."""
    six = new_attempt("pi", "pi-1a2b3c4d", "analytics", "driver", DRIVER_UID, "fd00::5")
    assert six.driver_url == "spark://CoarseGrainedScheduler@[fd00::5]:7078"
    assert six.start_url(3) == "http://[fd00::5]:7091/v1/executors/3/start"
    assert [url_host(host) for host in ("10.0.0.1", "api", "[::1]")] == ["10.0.0.1", "api", "[::1]"]


def test_addresses_without_brackets() -> None:
    """One form for all that Spark, Java and the kubelet write; what is no address stays as it is."""
    assert {plain_address(host) for host in ("fd00::5", "[fd00::5]", "FD00:0:0:0:0:0:0:5")} == {"fd00::5"}
    others = ("10.0.0.1", "node-1", "[node]", "fd00::5::6", "")
    assert [plain_address(host) for host in others] == list(others)
