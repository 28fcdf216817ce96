"""Checks what a valid document means to Spark and to Kubernetes: one small rule for each kind of mistake.

Rules are pure functions over `DocumentFacts`. Their table is in registry.py, the page of each rule in pages/.
"""

from __future__ import annotations

from sparkgen.semantics.registry import RULES, check

__all__ = ["RULES", "check"]
