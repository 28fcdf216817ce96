"""Policy rules for valid documents: what an experienced reviewer would remark.

Rules are pure functions of a `Subject`: the document, and the pods that are rendered from it, including
executors. Their table is in registry.py, and pages/ has a page about each. A `Config` is a repository's
configuration of the rules. `fix_text` makes all fixes that need no decision.
"""

from __future__ import annotations

from sparkgen.lint.config import Config, Policy
from sparkgen.lint.fix import fix_text
from sparkgen.lint.registry import PROFILES, RULES, check, levels

__all__ = ["PROFILES", "RULES", "Config", "Policy", "check", "fix_text", "levels"]
