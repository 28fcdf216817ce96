"""What every grammar raises for a text that it refuses."""

from __future__ import annotations


class GrammarError(ValueError):
    """A text outside a grammar.

    `reason` says in words what is wrong, as the end of a sentence that begins with the text;
    `suggestion` is the text that was probably meant, or "" where there is no safe guess.
    """

    def __init__(self, reason: str, suggestion: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.suggestion = suggestion
