"""The page about fields says what the tables do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from docs.reference import importing, properties
from sparkgen.importing import apache, kubeflow
from sparkgen.importing.table import Row, expanded
from sparkgen.properties.table import judgements
from sparkgen.schema.store import application_schema

DOCS = Path(__file__).parents[3] / "docs"


def test_the_page_is_generated(golden: Callable[[Path, str], None]) -> None:
    """docs/reference/import.md says what the importer's tables say."""
    golden(DOCS / "reference" / "import.md", importing.page())


def test_the_page_of_properties_is_generated(golden: Callable[[Path, str], None]) -> None:
    """docs/reference/spark-properties.md says what the table of properties says."""
    golden(DOCS / "reference" / "spark-properties.md", properties.page())


@pytest.mark.parametrize("name", ["kubeflow", "apache"])
def test_every_row_says_where_a_value_goes_or_why_not(name: str) -> None:
    """A row has a target, a reason, or a function that finds one; and a loss has a next step."""
    rows: tuple[Row, ...] = {"kubeflow": kubeflow.ROWS + kubeflow.OUTER_ROWS, "apache": apache.ROWS}[name]
    for row in expanded(rows):
        assert row.target or row.reason or row.how, row.source
        lost = not row.target and not row.needless and row.how is None
        assert not lost or row.step, row.source


def test_every_target_is_a_field() -> None:
    """No table sends a value to a field that documents do not have."""
    targets = {row.target for row in expanded((*kubeflow.ROWS, *apache.ROWS)) if row.target}
    targets |= {f"spec.{target}" for row in judgements().values() for target in row.fields}
    known = {".".join(field) for field in field_paths()}
    missing = {target for target in targets if target.removesuffix(".*") not in known}
    of_kubernetes = (".template.spec.", ".securityContext.")  # their fields are in Kubernetes' own schema
    assert {target for target in missing if not any(part in target for part in of_kubernetes)} == set()


def field_paths() -> set[tuple[str, ...]]:
    """The paths of all fields of an application, from the schema."""
    definitions = application_schema()["$defs"]
    found = {("metadata", name) for name in definitions["metadata"]["properties"]}
    for name, section in definitions["applicationSpec"]["properties"].items():
        found.add(("spec", name))
        reference = str(section.get("$ref", "")).rpartition("/")[2]
        for below, field in definitions.get(reference, {}).get("properties", {}).items():
            found.add(("spec", name, below))
            if field.get("$ref") == "#/$defs/keyReference":
                found |= {("spec", name, below, part) for part in ("name", "key")}
    return found
