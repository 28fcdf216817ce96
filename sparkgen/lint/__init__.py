"""Policy on top of validity: what an experienced reviewer would say about a document that is right.

Rules are pure functions over a `Subject`: the document, and the pods that are rendered from it, executors
included. The table of them is in registry.py, a page about each in pages/. What a place wants of them is a
`Config`. `fix_text` puts right what can be put right without a decision.
"""

from __future__ import annotations

from sparkgen.lint.config import Config, Policy
from sparkgen.lint.fix import fix_text
from sparkgen.lint.registry import PROFILES, RULES, check, levels

__all__ = ["PROFILES", "RULES", "Config", "Policy", "check", "fix_text", "levels"]
