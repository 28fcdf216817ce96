"""The grammars of a document's strings: sizes, quantities, durations, schedules, time zones and others.

Each module has one grammar, taken from the program that finally reads the string (Spark or Kubernetes), and
parses a string to an exact value. A string outside the grammar raises `GrammarError`; no other exception is
raised for a `str`. The modules use only the standard library, and do not depend on documents.
"""

from __future__ import annotations

from sparkgen.grammar.error import GrammarError

__all__ = ["GrammarError"]
