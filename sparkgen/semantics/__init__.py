"""What a valid document means to Spark and to Kubernetes: one small rule for each thing that goes wrong.

Rules are pure functions over `DocumentFacts`; their table is in registry.py, a page about each in pages/.
"""

from __future__ import annotations

from sparkgen.semantics.findings import Finding, Rule
from sparkgen.semantics.registry import RULES, check

__all__ = ["Finding", "Rule", "check", "page", "rules"]


def rules() -> tuple[Rule, ...]:
    """All rules, in the order of their codes."""
    return RULES


def page(code: str) -> str:
    """The page of a rule, as Markdown; SparkgenError for a code that does not exist."""
    from sparkgen.semantics.pages import page as read  # noqa: PLC0415 - a render needs no pages

    return read(code)
