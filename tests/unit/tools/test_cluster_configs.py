"""The arguments of the test cluster's programs, as far as they depend on the version of Kubernetes."""

from __future__ import annotations

import pytest

from cluster import configs, control
from cluster.plan import LAYOUT


def gates(arguments: list[str]) -> list[str]:
    """The arguments that turn something on."""
    return [one for one in arguments if one.startswith(("--feature-gates", "--runtime-config"))]


def test_gangs_are_on_where_they_are_known() -> None:
    """An older program ends at once when it is told of a gate that it does not know."""
    assert gates(configs.api_server(LAYOUT)) == [
        "--feature-gates=GenericWorkload=true",
        "--runtime-config=scheduling.k8s.io/v1alpha2=true",
    ]
    assert gates(configs.scheduler(LAYOUT)) == ["--feature-gates=GenericWorkload=true,GangScheduling=true"]
    assert not gates(configs.api_server(LAYOUT, gangs=False) + configs.scheduler(LAYOUT, gangs=False))


@pytest.mark.parametrize(("version", "known"), [("", True), ("1.36.3", True), ("1.34.9", False)])
def test_the_version_decides(version: str, known: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The pinned one knows them, and an older one that is asked for does not."""
    monkeypatch.setenv("SPARKGEN_KUBERNETES", version)
    assert control._knows_gangs() is known
