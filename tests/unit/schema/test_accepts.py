"""The fast answer: it knows every keyword of the schema, and none other."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from sparkgen.schema import store
from sparkgen.schema.accepts import KEYWORDS, TOGETHER, compile_schema, python_pattern

DEFINITIONS = {**store.application_schema()["$defs"], **store.kubernetes_schema()["$defs"]}


def schemas(schema: Any) -> list[dict[str, Any]]:
    """A schema and all that stand in it, by the keywords that hold schemas."""
    found = [schema]
    for keyword in ("items", "additionalProperties", "propertyNames", "if", "then"):
        if isinstance(schema.get(keyword), dict):
            found += schemas(schema[keyword])
    for one in (*schema.get("properties", {}).values(), *schema.get("allOf", ())):
        found += schemas(one)
    return found


@pytest.mark.parametrize("name", DEFINITIONS)
def test_knows_every_keyword_of_the_schema(name: str) -> None:
    """Every schema in both files can be compiled."""
    for schema in schemas(DEFINITIONS[name]):
        assert callable(compile_schema(schema))


@pytest.mark.parametrize("keyword", ["oneOf", "not", "format", "patternProperties", "minimun"])
def test_refuses_a_keyword_that_it_does_not_know(keyword: str) -> None:
    """A keyword without a meaning here raises instead of being passed over."""
    with pytest.raises(NotImplementedError, match=keyword):
        compile_schema({keyword: {}})


def test_refuses_an_enum_that_is_not_of_texts() -> None:
    """Python holds True for equal to 1: an enum of anything but texts raises."""
    with pytest.raises(NotImplementedError, match="texts only"):
        compile_schema({"enum": [1, True]})


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "integer"}, [4, 0, -1], [4.0, True, "4", None]),
        ({"type": "number"}, [4, 0.5], [True, float("nan"), float("inf"), "1"]),
        ({"type": ["string", "null"]}, ["", None], [0, [], {}]),
        ({"type": "object"}, [{}], [[], None]),
        ({"type": "array"}, [[]], [{}, ""]),
        ({"type": "boolean"}, [True, False], [0, 1, "true"]),
        ({"pattern": "^[a-z]+$"}, ["a", 7], ["A", "a\n", ""]),
        ({"enum": ["a", "b"]}, ["a"], ["c", 1, None, ["a"]]),
        ({"const": "a"}, ["a"], ["b", 1]),
        ({"minLength": 1, "maxLength": 2}, ["a", "ab", 7], ["", "abc"]),
        ({"minimum": 0, "maximum": 1}, [0, 1, 0.5, "x", True], [-1, 2]),
        ({"exclusiveMinimum": 0}, [0.1], [0, -1]),
        ({"minItems": 1, "maxItems": 2}, [[1], {}], [[], [1, 2, 3]]),
        ({"minProperties": 1, "maxProperties": 1}, [{"a": 1}, []], [{}, {"a": 1, "b": 2}]),
        ({"required": ["a"]}, [{"a": None}, []], [{}]),
        ({"items": {"type": "string"}}, [["a"], [], {}], [[1]]),
        ({"propertyNames": {"maxLength": 1}}, [{"a": 1}, {}, 7], [{"ab": 1}]),
        ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, [1, 2], [0, 3]),
        ({"properties": {"a": {"type": "string"}}}, [{"a": "x", "b": 1}, []], [{"a": 1}]),
        ({"properties": {"a": {}}, "additionalProperties": False}, [{"a": 1}, {}], [{"b": 1}]),
        ({"additionalProperties": {"type": "string"}}, [{"a": "x"}, []], [{"a": 1}]),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, [{}, {"a": 1, "b": 1}], [{"a": 1}]),
        ({"$ref": "#/$defs/logLevel"}, ["INFO"], ["info", 1]),
        ({}, [None, 1, {}], []),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, dict) else "",
)
def test_keywords(schema: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    """Each keyword accepts and refuses what JSON Schema says, with Kubernetes' whole numbers."""
    test = compile_schema(schema)
    assert [value for value in good if not test(value)] == []
    assert [value for value in bad if test(value)] == []


def test_every_keyword_has_a_case() -> None:
    """The table above leaves out no keyword."""
    (mark,) = (mark for mark in test_keywords.pytestmark if mark.name == "parametrize")  # type: ignore[attr-defined]
    tested = {keyword for schema, _, _ in mark.args[1] for keyword in schema}
    assert tested == KEYWORDS.keys() | TOGETHER


@pytest.mark.parametrize(
    ("pattern", "python"), [("^a$", r"^a\Z"), (r"^\$$", r"^\$\Z"), ("^a", "^a"), ("^(a|b$)$", r"^(a|b\Z)\Z")]
)
def test_dollar_is_the_end_of_the_text(pattern: str, python: str) -> None:
    """A `$` does not match before a line break at the end, as it would in Python."""
    assert python_pattern(pattern) == python


def test_valid_documents_need_no_jsonschema() -> None:
    """Checking a valid document imports neither jsonschema nor anything else that is slow."""
    code = """
import sys
from sparkgen import schema
from sparkgen.schema import store
assert schema.accepts(store.application_schema()["examples"][0])
slow = {"jsonschema", "yaml", "typer", "jinja2", "difflib", "importlib.resources"}
print(sorted(slow & sys.modules.keys()))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("^a$", r"^a\Z"), ("^[a$]+$", r"^[a$]+\Z"), (r"^\$$", r"^\$\Z"), (r"[\]$]$|b$", r"[\]$]\Z|b\Z")],
)
def test_the_end_of_a_text_is_no_dollar_in_a_class(pattern: str, expected: str) -> None:
    """In a class, and behind a backslash, `$` is the character itself."""
    assert python_pattern(pattern) == expected
