"""The exception that every grammar raises for a string that it refuses."""

from __future__ import annotations


class GrammarError(ValueError):
    """A string does not match a grammar.

    `reason`: what is wrong, as the end of a sentence that begins with the string; `suggestion`: the string
    that was probably meant, or "" if this is not certain enough.
    """

    def __init__(self, reason: str, suggestion: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.suggestion = suggestion
