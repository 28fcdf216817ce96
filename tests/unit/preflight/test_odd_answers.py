"""What something else than an API server may answer is no internal error of the preflight."""

from __future__ import annotations

from typing import Any

import pytest

from sparkgen.cluster.shapes import conforming
from sparkgen.preflight import claims, nodes, quota
from sparkgen.preflight.checks_nodes import node_images
from sparkgen.preflight.needs import Pods

POD = {"containers": [{"name": "a", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}
NODE = {
    "metadata": {"name": "n"},
    "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]},
    "status": {"allocatable": {"cpu": "4"}, "images": [{"names": ["i"]}]},
}
QUOTA = {
    "metadata": {"name": "q"},
    "spec": {"hard": {"pods": "0"}, "scopes": ["NotTerminating"]},
    "status": {"hard": {"pods": "0"}, "used": {"pods": "0"}},
}
CLAIM = {"metadata": {"name": "c"}, "spec": {"storageClassName": "s"}, "status": {"phase": "Pending"}}
PLACES = [
    ("spec",), ("status",), ("spec", "taints"), ("spec", "taints", 0), ("spec", "taints", 0, "effect"),
    ("status", "allocatable"), ("status", "allocatable", "cpu"), ("status", "images"),
    ("status", "images", 0), ("status", "images", 0, "names"), ("status", "images", 0, "names", 0),
    ("spec", "hard"), ("spec", "hard", "pods"), ("spec", "scopes"), ("spec", "scopes", 0),
    ("status", "hard"), ("status", "hard", "pods"), ("status", "used"), ("status", "used", "pods"),
    ("spec", "storageClassName"), ("status", "phase"),
]  # fmt: skip
ODD = [None, 5, [], {}, "x", True, 1e308, [None], [[]], {"": None}]


def changed(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    """The value with another one at a path, if it has such a place."""
    if not path:
        return odd
    first, *rest = path
    if isinstance(value, dict) and first in value:
        return {**value, first: changed(value[first], tuple(rest), odd)}
    if isinstance(value, list) and isinstance(first, int):
        return [changed(one, tuple(rest), odd) for one in value]
    return value


@pytest.mark.parametrize("path", PLACES, ids=lambda path: ".".join(map(str, path)))
def test_any_value_in_any_place(path: tuple[Any, ...]) -> None:
    """The checks say what they can say."""
    for odd in ODD:
        node, limits, claim = (conforming(changed(one, path, odd)) for one in (NODE, QUOTA, CLAIM))
        assert isinstance(nodes.misfit(POD, [node]), str)
        assert isinstance(node_images([node]), frozenset)
        assert isinstance([*quota.shortages([limits], [Pods("driver", {"spec": POD}, 1)])], list)
        assert isinstance(claims.unbound(claim, [claim], [claim]), str)


def test_the_objects_of_this_test_are_right() -> None:
    """Each of them says something."""
    assert "taint" in nodes.misfit(POD, [NODE])
    assert node_images([NODE]) == {"i"}
    (short,) = quota.shortages([QUOTA], [Pods("driver", {"spec": POD}, 1)])
    assert short.resource == "pods"
    assert "does not exist" in claims.unbound(CLAIM, [], [])
