"""Parts of a cluster's objects in the form that Kubernetes gives them; empty where a server sent others.

sparkgen/cluster/shapes.py checks the fields that every command reads, by their names alone. These are fields
whose names mean something else in other objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from sparkgen.grammar.error import GrammarError
from sparkgen.grammar.quantity import parse


def mapping(value: Any) -> Mapping[str, Any]:
    """A map."""
    return value if isinstance(value, dict) else {}


def maps(value: Any) -> list[Mapping[str, Any]]:
    """A list of maps."""
    return [one for one in items(value) if isinstance(one, dict)]


def items(value: Any) -> list[Any]:
    """A list of anything."""
    return value if isinstance(value, list) else []


def amount(value: Any) -> Decimal | None:
    """A quantity; None for what is none."""
    try:
        return parse(str(value))
    except GrammarError:
        return None
