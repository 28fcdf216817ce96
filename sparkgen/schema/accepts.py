"""Whether a document fits the schema: yes or no, fast.

Importing `jsonschema` takes longer than all the rest of a small render. Most documents are valid, and need
only this module; `explain_failure` imports `jsonschema` for the others. A property test checks that the two
agree.

A schema becomes a chain of closures, each compiled when a value first reaches it. An unknown keyword raises
NotImplementedError at that moment, so that no keyword is ignored without notice.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sparkgen.schema import store

Schema = Mapping[str, Any]
Test = Callable[[Any], bool]


def is_integer(value: Any) -> bool:
    """Whether a value is a whole number as written: `4`, not `4.0` and not `true`."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether a value is a number of JSON: neither `true` nor `.inf` nor `.nan`."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


TYPES: Mapping[str, Test] = {
    "array": lambda value: isinstance(value, list),
    "boolean": lambda value: isinstance(value, bool),
    "integer": is_integer,
    "null": lambda value: value is None,
    "number": is_number,
    "object": lambda value: isinstance(value, dict),
    "string": lambda value: isinstance(value, str),
}


def python_pattern(pattern: str) -> str:
    r"""The pattern for `re`: in JSON Schema `$` matches only at the end, in Python also before a last \n."""
    parts = re.compile(r"\\.|\[(?:\\.|[^]\\])*+\]|\$")  # an escape, a class, the end
    return parts.sub(lambda found: r"\Z" if found[0] == "$" else found[0], pattern)


def _type(names: str | list[str]) -> Test:
    if isinstance(names, str):
        return TYPES[names]
    tests = [TYPES[name] for name in names]
    return lambda value: any(test(value) for test in tests)


def _texts(allowed: Iterable[Any]) -> Test:
    """A test for one of these strings. Only strings are supported: in Python True equals 1, in JSON not."""
    texts = frozenset(allowed)
    if not all(isinstance(text, str) for text in texts):
        raise NotImplementedError(f"enum and const of texts only, not {sorted(map(str, texts))}")
    return lambda value: isinstance(value, str) and value in texts


def _pattern(pattern: str) -> Test:
    search = re.compile(python_pattern(pattern)).search
    return lambda value: not isinstance(value, str) or search(value) is not None


def _required(names: list[str]) -> Test:
    keys = frozenset(names)
    return lambda value: not isinstance(value, dict) or keys <= value.keys()


def _items(schema: Schema) -> Test:
    test = later(schema)
    return lambda value: not isinstance(value, list) or all(map(test, value))


def _property_names(schema: Schema) -> Test:
    test = later(schema)
    return lambda value: not isinstance(value, dict) or all(map(test, value))


def _all_of(schemas: list[Schema]) -> Test:
    return _every([later(schema) for schema in schemas])


def _sized(
    kind: type[list[Any] | dict[str, Any] | str], fits: Callable[[int, int], bool]
) -> Callable[[int], Test]:
    """A keyword that limits a length: `fits(length, limit)` for values of one type."""
    return lambda limit: lambda value: not isinstance(value, kind) or fits(len(value), limit)


def _ranged(fits: Callable[[float, float], bool]) -> Callable[[float], Test]:
    """A keyword that limits a number: `fits(value, limit)`."""
    return lambda limit: lambda value: not is_number(value) or fits(value, limit)


KEYWORDS: Mapping[str, Callable[[Any], Test]] = {
    "$ref": lambda reference: _reference(reference),
    "allOf": _all_of,
    "const": lambda text: _texts([text]),
    "enum": _texts,
    "exclusiveMinimum": _ranged(lambda value, limit: value > limit),
    "items": _items,
    "maxItems": _sized(list, lambda length, limit: length <= limit),
    "maxLength": _sized(str, lambda length, limit: length <= limit),
    "maxProperties": _sized(dict, lambda length, limit: length <= limit),
    "maximum": _ranged(lambda value, limit: value <= limit),
    "minItems": _sized(list, lambda length, limit: length >= limit),
    "minLength": _sized(str, lambda length, limit: length >= limit),
    "minProperties": _sized(dict, lambda length, limit: length >= limit),
    "minimum": _ranged(lambda value, limit: value >= limit),
    "pattern": _pattern,
    "propertyNames": _property_names,
    "required": _required,
    "type": _type,
}
"""Keyword -> a function from its value to a test. `compile_schema` handles the four below together:"""
TOGETHER = frozenset({"properties", "additionalProperties", "if", "then"})


def compile_schema(schema: Schema) -> Test:
    """The test for a schema. Raises NotImplementedError for an unknown keyword."""
    if unknown := schema.keys() - KEYWORDS.keys() - TOGETHER - store.ANNOTATIONS:
        raise NotImplementedError(
            f"sparkgen.schema.accepts does not support the keyword {', '.join(sorted(unknown))}"
        )
    schema = store.without_grammar(schema)
    tests = [KEYWORDS[keyword](value) for keyword, value in schema.items() if keyword in KEYWORDS]
    if "properties" in schema or "additionalProperties" in schema:
        tests.append(_members(schema.get("properties", {}), schema.get("additionalProperties", True)))
    if "if" in schema:
        condition, then = later(schema["if"]), later(schema.get("then", {}))
        tests.append(lambda value: not condition(value) or then(value))
    return _every(tests)


def _every(tests: list[Test]) -> Test:
    if len(tests) == 1:
        return tests[0]
    return lambda value: all(test(value) for test in tests)


def _members(properties: Mapping[str, Schema], additional: bool | Schema) -> Test:
    """A test of an object's members: known ones by their schemas, all others by `additional`."""
    known = {name: later(schema) for name, schema in properties.items()}
    other: Test = (lambda _: bool(additional)) if isinstance(additional, bool) else later(additional)

    def test(value: Any) -> bool:
        if not isinstance(value, dict):
            return True
        return all(known.get(name, other)(member) for name, member in value.items())

    return test


def later(schema: Schema) -> Test:
    """The test for a schema, compiled when it is first called."""
    compiled: list[Test] = []

    def test(value: Any) -> bool:
        if not compiled:
            compiled.append(compile_schema(schema))
        return compiled[0](value)

    return test


_references: dict[str, Test] = {}


def _reference(reference: str) -> Test:
    """The test for the schema that a `$ref` names, compiled once; its file is read only when needed."""
    name = reference.rpartition("#")[2]

    def test(value: Any) -> bool:
        if name not in _references:
            _references[name] = compile_schema(store.resolve(reference))
        return _references[name](value)

    return test


_document: Test | None = None


def accepts(value: Any) -> bool:
    """Whether a document's value fits the schema."""
    global _document  # noqa: PLW0603 - compiled once, at the first call: no work at import
    if _document is None:
        _document = compile_schema(store.application_schema())
    return _document(value)
