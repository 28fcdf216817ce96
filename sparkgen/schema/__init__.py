"""The form of a document: which fields there are, of which types, and what to say when one is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkgen.schema.accepts import accepts
from sparkgen.schema.store import bundle

if TYPE_CHECKING:
    from sparkgen.document.node import Document
    from sparkgen.errors import Problem

__all__ = ["accepts", "bundle", "check"]


def check(document: Document) -> list[Problem]:
    """Every problem that the schema has with a document, in the order of the text; [] if it is valid."""
    if accepts(document.value):
        return []
    # Imports jsonschema, which costs more than a whole render: only invalid documents pay for it.
    from sparkgen.schema.explain_failure import problems  # noqa: PLC0415

    return problems(document)
