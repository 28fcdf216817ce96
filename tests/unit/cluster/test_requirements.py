"""What the machine must have, and the one message that says what it lacks."""

from __future__ import annotations

import pytest

from cluster.requirements import PACKAGES, explain, missing_packages


def test_missing_commands_are_told_as_packages() -> None:
    """Each package is named once, sorted; two commands of one package are one package."""
    packages = {**PACKAGES, "runc-too": "runc"}
    lacking = ("runc", "runc-too", "tini")
    assert missing_packages(lambda command: command not in lacking, True, packages) == ["runc", "tini"]


def test_the_network_plugins_are_looked_for_by_their_file() -> None:
    """The CNI plugins are on no PATH, so their absence is told apart from the commands'."""
    assert missing_packages(lambda command: True, False) == ["containernetworking-plugins"]
    assert missing_packages(lambda command: True, True) == []


def test_everything_is_missing_on_a_bare_machine() -> None:
    """All packages of the table, and the plugins."""
    expected = sorted({*PACKAGES.values(), "containernetworking-plugins"})
    assert missing_packages(lambda command: None, False) == expected


def test_the_message_names_the_first_obstacle_and_the_way_out() -> None:
    """Linux, then root, then packages; each with what to do."""
    assert "this is darwin" in str(explain("darwin", 0, ["tini"]))
    assert "sudo -E make" in str(explain("linux", 1000, ["tini"]))
    assert explain("linux", 0, ["runc", "tini"]) == (
        "Debian packages are missing: runc, tini. Install them: make cluster-requirements"
    )
    assert explain("linux", 0, []) is None


@pytest.mark.parametrize("name", ["", "..", "lib", "sparkgen-", "sparkgen-a/../../lib", "sparkgen-A"])
def test_a_name_by_which_down_could_remove_something_else_is_refused(name: str) -> None:
    """The cluster's folders are found, and removed, by its name."""
    assert "is not a valid name for a test cluster" in str(explain("linux", 0, [], name))


@pytest.mark.parametrize("family", ["ipv5", "IPv6", " "])
def test_a_family_that_is_none_is_refused(family: str) -> None:
    """With the names of those that there are."""
    said = explain("linux", 0, [], family=family)
    assert (
        said == f"SPARKGEN_FAMILY={family!r} is not a family of addresses. Choose one of: ipv4, ipv6, dual."
    )
