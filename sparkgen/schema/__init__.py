"""The form of a document: its fields, their types, and the messages about wrong fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkgen.schema.accepts import accepts
from sparkgen.schema.store import bundle

if TYPE_CHECKING:
    from sparkgen.document.node import Document
    from sparkgen.errors import Problem

__all__ = ["accepts", "bundle", "check"]


def check(document: Document) -> list[Problem]:
    """Returns every problem that the schema finds in a document, in the text's order; [] if it is valid."""
    if accepts(document.value):
        return []
    # Imports jsonschema, which costs more than a whole render: only invalid documents pay for it.
    from sparkgen.schema.explain_failure import problems  # noqa: PLC0415

    return problems(document)
