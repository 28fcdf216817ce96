"""The reference in docs/ is what the schema says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from docs.reference.document import reference
from sparkgen.schema import fields

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "document.md"


def test_reference_is_up_to_date(golden: Callable[[Path, str], None]) -> None:
    """The committed page is what the schema gives (`make golden` writes it)."""
    golden(PAGE, reference())


def test_reference_has_every_field() -> None:
    """Every field of both kinds has its place on the page."""
    page = reference()
    for kind in fields.KINDS:
        for field in fields.own_fields(fields.document(kind)):
            if field.path[:2] != ("spec", "template"):
                path = "".join("[]" if isinstance(part, int) else f".{part}" for part in field.path).lstrip(
                    "."
                )
                assert f"`{path}`" in page
