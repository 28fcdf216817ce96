"""What the pages of benchmarks have in common: how a table is written, and how a page is kept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def table(rows: Sequence[Sequence[str]]) -> str:
    """A table of Markdown; the first row is its head."""
    head, *rest = rows
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ("---",) * len(head), *rest))


def keep(page: Path, text: str, data: Mapping[str, Any]) -> None:
    """Write a page, and beside it the raw data as JSON."""
    page.write_text(text)
    page.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n")
