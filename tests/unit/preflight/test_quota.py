"""What a pod takes of a quota: by Kubernetes' own rule."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sparkgen.preflight.quota import pod_amounts, shown


def container(cpu: str, *, stays: bool = False, **limits: str) -> dict[str, Any]:
    """A container that requests CPU; `stays`: a native sidecar."""
    made: dict[str, Any] = {"resources": {"requests": {"cpu": cpu}, "limits": limits}}
    return {**made, "restartPolicy": "Always"} if stays else made


def test_sidecars_count_beside_what_comes_after_them() -> None:
    """An init container before a sidecar counts alone, one after it beside it; the largest moment counts."""
    spec = {
        "initContainers": [container("3"), container("1", stays=True), container("2500m")],
        "containers": [container("2")],
    }
    assert pod_amounts(spec)["requests.cpu"] == Decimal("3.5")


def test_what_is_limited_is_requested() -> None:
    """As the API server fills it in; a pod is a pod."""
    amounts = pod_amounts({"containers": [container("1", memory="1Gi")], "overhead": {"memory": "1Mi"}})
    assert amounts["requests.memory"] == amounts["limits.memory"] == Decimal(2**30 + 2**20)
    assert amounts["pods"] == 1
    assert "limits.cpu" not in amounts


def test_amounts_for_people() -> None:
    """Memory in binary units, CPU as Kubernetes writes it."""
    assert shown("requests.memory", Decimal(3 * 2**29)) == "1.5Gi"
    assert shown("requests.cpu", Decimal("1.1")) == "1100m"
    assert shown("pods", Decimal(3)) == "3"
