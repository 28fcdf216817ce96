"""Which namespaces are asked about in a round: a bounded number, in turn. Pure.

A folder's name says which namespace it belongs to, and whoever may mount the directory may make up names: the
API server must not be asked about thousands of them by each node, nor real ones wait behind them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sparkgen.runtime.janitor.values import DriversAnswer

MAX_NAMESPACES = 64
"""Asked about in a round. A node rarely has executors of so many."""


@dataclass(frozen=True, slots=True)
class NamespaceQuery:
    """When a namespace was asked about for the last time, and what came of it."""

    at: float
    answer: DriversAnswer


def next_namespaces(
    namespaces: Iterable[str], asked: Mapping[str, NamespaceQuery], limit: int = MAX_NAMESPACES
) -> list[str]:
    """Those to ask about now, at most `limit`: those that waited longest first.

    Half of the places are for those that gave a whole list the last time: nobody can make up such a name.
    """
    in_turn = sorted(namespaces, key=lambda name: (asked[name].at if name in asked else float("-inf"), name))
    known = [name for name in in_turn if name in asked and asked[name].answer is DriversAnswer.WHOLE]
    others = [name for name in in_turn if name not in asked or asked[name].answer is not DriversAnswer.WHOLE]
    share = max(limit // 2, limit - len(others))
    chosen = known[:share]
    return chosen + others[: limit - len(chosen)]
