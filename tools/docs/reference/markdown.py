"""Tables and sentences of the generated pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_SMALL = ("sparkgen", "spark-submit", "`")
"""Words that stay in lower case at the start of a sentence."""


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table as Markdown, ending with a newline."""
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    escaped = ([cell.replace("|", "\\|") for cell in row] for row in rows)
    lines += [f"| {' | '.join(row)} |" for row in escaped]
    return "\n".join(lines) + "\n"


def sentences(*phrases: str) -> str:
    """Returns phrases of reports as sentences, without those that are empty."""
    return " ".join(f"{_capital(phrase)}." for phrase in phrases if phrase)


def _capital(text: str) -> str:
    return text if text.startswith(_SMALL) else text[:1].upper() + text[1:]
