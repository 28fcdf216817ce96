"""Checks what a valid document means to Spark and to Kubernetes: one small rule for each kind of mistake.

Rules are pure functions over `DocumentFacts`. Their table is in registry.py, the page of each rule in pages/.
"""

from __future__ import annotations

from sparkgen.semantics.findings import Finding, Rule
from sparkgen.semantics.registry import RULES, check

__all__ = ["Finding", "Rule", "check", "page", "rules"]


def rules() -> tuple[Rule, ...]:
    """Returns all rules, in the order of their codes."""
    return RULES


def page(code: str) -> str:
    """Returns the page of a rule, as Markdown. Raises SparkgenError for a code that does not exist."""
    from sparkgen.semantics.pages import page as read  # noqa: PLC0415 - a render needs no pages

    return read(code)
