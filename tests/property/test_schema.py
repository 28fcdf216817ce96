"""Laws of the schema: the fast answer is the thorough answer, and every problem has a place in the file."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sparkgen.document.node import Document
from sparkgen.document.parse import parse
from sparkgen.schema import accepts, check
from sparkgen.schema.explain_failure import validator
from tests import scale
from tests.property.strategies import ANYTHING, Broken, broken, documents, mutated


def _text(value: Any) -> str:
    """A value as YAML in which nothing can be read as something else: JSON, with YAML's escapes."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    return re.sub(r"[^ -~\n]", lambda char: f"\\U{ord(char[0]):08X}", text)


def _document(value: Any) -> Document:
    root = parse(_text(value).encode(), "app.yaml").documents[0].root
    assert root is not None
    return Document(root, root.value, "app.yaml", 0)


def _has_a_place(document: Document, lines: int) -> None:
    for problem in check(document):
        assert problem.position.file == "app.yaml"
        assert 1 <= problem.position.line <= lines
        assert problem.message
        assert problem.next_step or problem.allowed


@given(documents())
def test_generated_documents_are_valid(value: dict[str, Any]) -> None:
    """Documents generated from the schema fit it."""
    assert check(_document(value)) == []


@given(documents().flatmap(mutated) | documents())
@settings(max_examples=scale.count("tests/property/test_schema.py", 300, 50))
def test_fast_and_thorough_agree(value: dict[str, Any]) -> None:
    """`accepts` answers as jsonschema does, for valid documents and for mutated ones."""
    assert accepts(value) == validator().is_valid(value)


@given(ANYTHING)
def test_fast_and_thorough_agree_on_anything(value: Any) -> None:
    """`accepts` answers as jsonschema does, for values that are no documents."""
    assert accepts(value) == validator().is_valid(value)


@given(documents().flatmap(broken))
@settings(max_examples=scale.count("tests/property/test_schema.py", 300, 50))
def test_one_defect_is_one_problem(case: Broken) -> None:
    """A document that is broken at one place has exactly one problem, which is there."""
    document = _document(case.value)
    found = check(document)
    assert [(problem.code, problem.path) for problem in found] == [(case.code, case.path)]
    _has_a_place(document, 10_000)


@given(documents().flatmap(mutated), st.booleans())
def test_problems_have_places(value: dict[str, Any], with_identity: bool) -> None:
    """Whatever is wrong, each problem has a place inside the file, a message and a way on."""
    if not with_identity:
        value = {key: one for key, one in value.items() if key != "kind"}
    document = _document(value)
    assert bool(check(document)) != accepts(document.value)
    _has_a_place(document, _text(value).count("\n") + 1)
