"""The committed list of Spark's properties is that of the jars: a new Spark fails here first."""

from __future__ import annotations

from spark import properties
from sparkgen.properties.known import DATA


def test_the_list_is_that_of_the_tested_versions() -> None:
    """When this fails, run tools/spark/properties.py, and judge the new names (sparkgen/properties)."""
    assert DATA.read_text("utf-8") == properties.text_of(properties.properties())
