"""Prints what is in a cluster, objects or rows of runs, in the chosen format."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sparkgen.cli import output
from sparkgen.terminal import escaped_json
from sparkgen.yamltext import dump

if TYPE_CHECKING:
    from sparkgen.live.rows import RunStatus
    from sparkgen.live.table import Column


def show(
    rows: Sequence[RunStatus],
    columns: Sequence[Column],
    form: str,
    now: datetime,
    *,
    spaces: bool = False,
    header: bool = True,
) -> None:
    """Print rows as text, wide, json, yaml or name. `spaces`: with a column for the namespace."""
    from sparkgen.live.rows import names  # noqa: PLC0415 - `apply` and `kill` print no rows
    from sparkgen.live.table import table, value  # noqa: PLC0415

    if form in ("json", "yaml"):
        output.data(_machine({"runs": [value(row) for row in rows]}, form))
    elif form == "name":
        output.write(names(rows))
    elif rows:
        lines = table(rows, columns, now, wide=form == "wide", spaces=spaces)
        output.write("".join(f"{line}\n" for line in (lines if header else lines[1:])))


def full_name(item: Mapping[str, Any]) -> str:
    """Returns an object's name as kubectl prints it: `job.batch/pi-51bb888d`, `configmap/pi-tuning`."""
    group, slash, _ = str(item["apiVersion"]).partition("/")
    kind = str(item["kind"]).lower()
    return f"{kind}{f'.{group}' if slash else ''}/{item['metadata']['name']}"


def show_objects(items: Sequence[Mapping[str, Any]], form: str, result: str = "") -> None:
    """Print objects as text, name, json or yaml. `result`: what happened to them, for text."""
    if form in ("json", "yaml"):
        shown = [_without_managers(item) for item in items]
        one = shown[0] if len(shown) == 1 else {"apiVersion": "v1", "kind": "List", "items": shown}
        output.data(_machine(one, form))
        return
    after = f" {result}" if result and form == "text" else ""
    output.write("".join(f"{full_name(item)}{after}\n" for item in items))


def _without_managers(item: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {key: value for key, value in item["metadata"].items() if key != "managedFields"}
    return {**item, "metadata": metadata}


def nothing_in(where: str) -> str:
    """Returns what to print if there is no application."""
    return f"no sparkgen applications in {where}; to look elsewhere, add --namespace or --context"


def tell_unseen(unseen: Iterable[str], tell: Callable[[str], None] = output.say) -> None:
    """Print, once each, which kinds of objects the user may not list. `tell`: prints a sentence."""
    for text in dict.fromkeys(unseen):
        tell(f"{text}; objects of this kind are not shown")


def _machine(body: Mapping[str, Any], form: str) -> str:
    if form == "json":
        return f"{escaped_json(json.dumps(body, indent=2, ensure_ascii=False))}\n"
    return dump(body)
