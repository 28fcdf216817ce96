"""What is wrong with a document that the schema refuses: every problem, each reported once, with a next step.

Only this module imports `jsonschema`, and it gets only documents that `accepts` refused.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import TYPE_CHECKING, Any

import jsonschema

from sparkgen.errors import Path, Position, Problem, Severity
from sparkgen.schema import describe, fields, store
from sparkgen.schema.accepts import is_integer, is_number, python_pattern
from sparkgen.schema.fields import Field
from sparkgen.schema.identity import API_VERSION, identify
from sparkgen.schema.misplaced import Misplaced, misplaced
from sparkgen.schema.suggestions import MOST_SUGGESTED, Stray

if TYPE_CHECKING:
    from sparkgen.document.node import Document

RANKS = ("type", "enum", "const", "pattern", "minLength", "maxLength")
"""Of several errors about one value, only the first in this order is reported: the others follow from it."""


def _pattern(_validator: Any, pattern: str, value: Any, schema: Any) -> Iterator[jsonschema.ValidationError]:
    asked = "pattern" in store.without_grammar(schema)
    if asked and isinstance(value, str) and not re.search(python_pattern(pattern), value):
        yield jsonschema.ValidationError(f"{value!r} does not match {pattern!r}")


@functools.cache
def validator() -> Any:
    """The `jsonschema` validator for documents.

    It differs from the stock validator in three points, as Kubernetes and Helm do: 4.0 is no whole number,
    .inf and .nan are no numbers, and `$` does not match before a line break. It also ignores the pattern of a
    grammar, which a rule of its own checks.
    """
    types = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "integer": lambda _, value: is_integer(value),
            "number": lambda _, value: is_number(value),
        }
    )
    extend: Any = jsonschema.validators.extend
    return extend(jsonschema.Draft202012Validator, {"pattern": _pattern}, type_checker=types)(store.bundle())


@dataclass(frozen=True, slots=True)
class Case:
    """A document that is being checked, as a document of `kind`. `strays`: its unknown fields so far."""

    document: Document
    kind: str
    root: Field
    value: Mapping[str, Any]
    misplaced: Misplaced
    strays: list[Path] = dataclass_field(default_factory=list)

    def field(self, path: Path) -> Field:
        """The field at a path; without a schema if the schema does not have it."""
        return self.root.find(path) or Field(path, {})

    def problem(self, code: str, path: Path, position: Position, said: describe.Said) -> Problem:
        """The problem with these texts at a path and position."""
        return Problem(
            code, Severity.ERROR, position, path, said.message, said.found, said.allowed, said.next_step
        )


def problems(document: Document) -> list[Problem]:
    """Returns every problem that the schema finds in a document, in the order of the text."""
    identity = identify(document)
    found = [identity.problem] if identity.problem else []
    if identity.kind is not None:
        found += _examine(document, identity.kind)
    return sorted(found, key=lambda problem: problem.sort_key)


def _examine(document: Document, kind: str) -> list[Problem]:
    value = {**document.value, "apiVersion": API_VERSION}
    root = fields.document(kind)
    case = Case(document, kind, root, value, misplaced(kind, value))
    errors = _by_path(validator().iter_errors(value))
    found = [
        case.problem("SG010", path, document.node.locate_key(path), said)
        for path, said in case.misplaced.problems
    ]
    for path, at_path in errors.items():
        found += _at(case, path, at_path)
    return found


def _by_path(errors: Iterable[Any]) -> dict[Path, list[Any]]:
    """The errors by the path of the value that they are about; for an error about a key, with the key."""
    found: dict[Path, list[Any]] = {}
    for error in errors:
        path = tuple(error.absolute_path)
        if "propertyNames" in error.absolute_schema_path:
            path = (*path, error.instance)
        found.setdefault(path, []).append(error)
    return found


def _at(case: Case, path: Path, errors: list[Any]) -> Iterator[Problem]:
    """The problems with one value: either the value itself is wrong, or its members are."""
    wrong = sorted((error for error in errors if error.validator in RANKS), key=_rank)
    if wrong:
        yield _wrong_value(case, path, wrong[0])
        return
    if any(error.validator in ("additionalProperties", "required") for error in errors):
        yield from _wrong_members(case, path, errors)
        return
    said = describe.size(case.field(path), errors[0], case.document.node.find(path))
    yield case.problem("SG015", path, case.document.node.locate(path), said)


def _rank(error: Any) -> int:
    return RANKS.index(error.validator)


def _wrong_value(case: Case, path: Path, error: Any) -> Problem:
    node = case.document.node
    field = case.field(path)
    here = node.find(path)
    if "propertyNames" in error.absolute_schema_path:
        return case.problem("SG014", path, node.locate_key(path), describe.key(error))
    position = node.locate(path)
    if error.validator == "type":
        if error.instance is None or isinstance(error.instance, dict | list):
            position = node.locate_key(path)
        return case.problem("SG012", path, position, describe.wrong_type(field, here))
    if error.validator in ("enum", "const"):
        return case.problem("SG013", path, position, describe.not_allowed(field, error))
    if error.validator == "pattern":
        return case.problem("SG014", path, position, describe.pattern(field, error))
    return case.problem("SG015", path, position, describe.size(field, error, here))


def _wrong_members(case: Case, path: Path, errors: list[Any]) -> Iterator[Problem]:
    """The problems with unknown and missing members; a misspelt member is not reported as missing, too."""
    field, node = case.field(path), case.document.node
    value = next(error.instance for error in errors)
    known = {child.name for child in field.children()}
    closed = any(error.validator == "additionalProperties" for error in errors)
    unknown = [name for name in value if name not in known] if closed else []
    suggestions = {}
    for name in unknown:
        case.strays.append((*path, name))
        thorough = len(case.strays) <= MOST_SUGGESTED
        suggestions[name] = Stray(case.kind, case.root, field, name).suggestion(thorough=thorough)
    for name, suggestion in suggestions.items():
        if (*path, name) not in case.misplaced.told:
            said = describe.unknown(field, name, suggestion)
            yield case.problem(suggestion.code, (*path, name), node.locate_key((*path, name)), said)
    renamed = {suggestion.rename for suggestion in suggestions.values()}
    for child in _missing(field, errors, value):
        if child.name not in renamed and child.path not in case.misplaced.told:
            said = describe.missing(child)
            yield case.problem("SG011", child.path, node.locate_key(path), said)


def _missing(field: Field, errors: list[Any], value: Mapping[str, Any]) -> Iterator[Field]:
    """The required fields that are missing, each once, in the schema's order."""
    required = {name for error in errors if error.validator == "required" for name in error.validator_value}
    for child in field.children():
        if child.name in required and child.name not in value:
            yield child
