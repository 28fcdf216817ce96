"""What `status` and `history` share: prints rows from a cluster in the chosen format."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime

from sparkgen.cli import output
from sparkgen.live.rows import Row, names
from sparkgen.live.table import Column, table, value
from sparkgen.terminal import escaped_json
from sparkgen.yamltext import dump


def show(
    rows: Sequence[Row],
    columns: Sequence[Column],
    form: str,
    now: datetime,
    *,
    spaces: bool = False,
    header: bool = True,
) -> None:
    """Print rows as text, wide, json, yaml or name. `spaces`: with a column for the namespace."""
    if form in ("json", "yaml"):
        output.data(_machine({"runs": [value(row) for row in rows]}, form))
    elif form == "name":
        output.write(names(rows))
    elif rows:
        lines = table(rows, columns, now, wide=form == "wide", spaces=spaces)
        output.write("".join(f"{line}\n" for line in (lines if header else lines[1:])))


def nothing_in(where: str) -> str:
    """Returns what to print if there is no application."""
    return f"no sparkgen applications in {where}; to look elsewhere, add --namespace or --context"


def tell_unseen(unseen: Iterable[str]) -> None:
    """Print, once each, which kinds of objects the user may not list."""
    for text in dict.fromkeys(unseen):
        output.note(f"sparkgen: {text}; objects of this kind are not shown")


def _machine(body: dict[str, object], form: str) -> str:
    if form == "json":
        return f"{escaped_json(json.dumps(body, indent=2, ensure_ascii=False))}\n"
    return dump(body)
