"""charts/spark-app/README.md: how the chart is used, and its values, from the schema of the document.

And the table of the chart's rules, which docs/helm.md has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from sparkgen.cli.rule import rules
from sparkgen.schema import fields
from sparkgen.schema.fields import Field
from sparkgen.semantics.registry import RULES, RULES_OF_FILES

OPENING = Path(__file__).with_suffix(".md")
"""What stands before the table."""
LONGEST = 130
"""Characters of a description in the table; of a field whose first sentence needs more, its first clause."""

FEWEST = 2
"""Spaces of a description that says something: "Default", "`fetch`" and "Kueue" alone do not."""

SHARED = ("spec", "driver")


def readme() -> str:
    """The whole file."""
    application, scheduled = (fields.document(kind) for kind in fields.APPLICATION_KINDS)
    rows = [_row(field) for field in _shown(application)]
    rows += [_row(field, " Only for a ScheduledSparkApplication.") for field in _of_schedules(scheduled)]
    for kind in fields.COMPLETED_KINDS:
        rows += [_row(field, f" For a {kind}.") for field in _of_completed(kind, application)]
    for kind in fields.SERVER_KINDS:
        rows += [_row(field, f" For a {kind}.") for field in _of_servers(fields.document(kind))]
    return OPENING.read_text("utf-8") + "\n".join(rows) + "\n"


def with_rules(page: str) -> str:
    """A page with the chart's rules as the registry has them, in the table that begins with "| rule |"."""
    before, start, after = page.partition("| rule | what it finds | why the chart has it |\n|---|---|---|\n")
    if not start:
        raise LookupError("the page has no table of the chart's rules")
    rest = after[after.index("\n\n") :]
    pages = rules()
    reasons = {rule.code: rule.chart for rule in (*RULES, *RULES_OF_FILES) if rule.chart}
    rows = [f"| {code} | {_sentence(pages[code].title)} | {why} |" for code, why in sorted(reasons.items())]
    return before + start + "\n".join(rows) + rest


def _sentence(title: str) -> str:
    return f"{title[0].upper()}{title[1:]}."


def _shown(parent: Field) -> Iterator[Field]:
    """Fields of ours, but for the executor's that the driver has, too."""
    driver = {child.name for child in _found(parent, SHARED).children()}
    for field in fields.own_fields(parent):
        repeated = field.path[:2] == ("spec", "executor") and driver.intersection(field.path[2:3])
        if not repeated and 0 not in field.path:
            yield field


def _found(parent: Field, path: tuple[str, ...]) -> Field:
    field = parent.find(path)
    if field is None:
        raise LookupError(path)
    return field


def _of_completed(kind: str, application: Field) -> Iterator[Field]:
    """What only a Connect server or a notebook has."""
    for field in fields.own_of(kind):
        if application.find(field.path) is None:
            yield field
            yield from (inner for inner in fields.own_fields(field) if 0 not in inner.path)


def _of_schedules(scheduled: Field) -> Iterator[Field]:
    yield from _found(scheduled, ("spec",)).children()


def _of_servers(server: Field) -> Iterator[Field]:
    return (field for field in fields.own_fields(_found(server, ("spec",))) if 0 not in field.path)


def _row(field: Field, more: str = "") -> str:
    """A line of the table, with the first sentence or clause of the description, or the title."""
    path = ".".join(str(part) for part in field.path)
    if field.path[:2] == SHARED and len(field.path) > 2:
        more = " Also in `spec.executor`." + more
    about = field.schema.get("description") or field.item().schema.get("description", "")
    fitting = (text for text in _openings(about) if text.count(" ") >= FEWEST and len(text) <= LONGEST)
    first = next(fitting, str(field.schema.get("title", about))).replace("|", "\\|")
    default = f"`{json.dumps(field.schema['default'])}`" if "default" in field.schema else ""
    return f"| `{path}`{' *' if field.required else ''} | {field.type_label} | {default} | {first}.{more} |"


def _openings(about: str) -> Iterator[str]:
    """The first sentence of a description, then its first clause; none that ends within code."""
    for ends in ("[.]", "[.:;]"):
        opening = re.split(rf"(?<=[A-Za-z`)\"\]0-9]){ends} ", about, maxsplit=1)[0].rstrip(".")
        if opening.count("`") % 2 == 0:
            yield opening
