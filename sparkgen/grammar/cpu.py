"""CPU as Kubernetes reads it: "2", "0.5", "500m".

Source: k8s.io/apimachinery/pkg/api/resource, and the API server's rules for the resource "cpu"
(core/validation, ValidateResourceQuantityValue: not negative; the kubelet counts in thousandths).
"""

from __future__ import annotations

from decimal import Decimal

from sparkgen.grammar import quantity
from sparkgen.grammar.error import GrammarError

ALLOWED = 'a number of cores as Kubernetes writes it: whole ("2"), a fraction ("0.5") or thousandths ("500m")'


def to_cores(text: str) -> Decimal:
    """The exact number of cores. Raises GrammarError."""
    cores = quantity.parse(text)
    if cores < 0:
        raise GrammarError("is negative")
    return cores
