"""Quantities of Kubernetes: as many of their forms as the resources of an executor have. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

_MEBI = 2**20
_UNITS: Mapping[str, Decimal] = {
    "m": Decimal("0.001"),
    "": Decimal(1),
    **{unit: Decimal(1000**power) for power, unit in enumerate(("k", "M", "G", "T", "P", "E"), 1)},
    **{unit: Decimal(1024**power) for power, unit in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)},
}
"""Suffix of a quantity -> how many bytes it stands for."""


def more_memory(amount: Any, added: int) -> str | None:
    """A memory quantity with this many MiB more; None if it has another form."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([kKMGTPEm]?i?)", str(amount))
    if match is None or match[2] not in _UNITS:
        return None
    size = Decimal(match[1]) * _UNITS[match[2]] + added * _MEBI
    return f"{int(size) // _MEBI}Mi" if size % _MEBI == 0 else f"{int(size)}"


def cores(quantity: Any) -> Decimal | None:
    """A CPU quantity ("2", "1500m", 2) in cores; None if there is none, or if it has another form."""
    text = str(quantity)
    try:
        return Decimal(text[:-1]) / 1000 if text.endswith("m") else Decimal(text)
    except InvalidOperation:
        return None
