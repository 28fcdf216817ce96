"""Which namespaces to list in a round: a limited number, in turn. Pure.

A folder's name contains its namespace, and whoever may mount the directory may invent names. The nodes must
not send the API server requests for thousands of them, and real namespaces must not wait behind them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sparkgen.runtime.janitor.values import DriversAnswer

MAX_NAMESPACES = 64
"""The most namespaces listed in a round. A node rarely has executors of that many."""


@dataclass(frozen=True, slots=True)
class NamespaceQuery:
    """When a namespace was last listed, and the answer."""

    at: float
    answer: DriversAnswer


def next_namespaces(
    namespaces: Iterable[str], asked: Mapping[str, NamespaceQuery], limit: int = MAX_NAMESPACES
) -> list[str]:
    """The namespaces to list now, at most `limit`: first those that have waited longest.

    Half of the places are for namespaces whose last list was complete: such a namespace is not invented.
    """
    in_turn = sorted(namespaces, key=lambda name: (asked[name].at if name in asked else float("-inf"), name))
    known = [name for name in in_turn if name in asked and asked[name].answer is DriversAnswer.WHOLE]
    others = [name for name in in_turn if name not in asked or asked[name].answer is not DriversAnswer.WHOLE]
    share = max(limit // 2, limit - len(others))
    chosen = known[:share]
    return chosen + others[: limit - len(chosen)]
