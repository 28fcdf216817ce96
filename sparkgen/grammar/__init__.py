"""The small languages inside a document's strings: sizes, quantities, durations, schedules, time zones.

Each module holds one grammar, taken from the program that reads the string in the end (Spark or
Kubernetes), and turns a text into an exact value. A text outside the grammar raises `GrammarError`, and
nothing else is ever raised for a `str`. Standard library only; nothing here knows about documents.
"""

from __future__ import annotations

from sparkgen.grammar.error import GrammarError

__all__ = ["GrammarError"]
