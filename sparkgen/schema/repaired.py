"""What an invalid document was probably meant to be, so that the semantic rules can check it in the same run.

If you misspell one field and write a size in Kubernetes' way, you want both messages at once. But semantic
rules need a valid document. This module makes several from the invalid one: it corrects what is certain (a
misspelt name, a string without quotes), and puts a different value in each for what is not known. A problem
that all of them have does not depend on these values.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sparkgen.errors import Path, Problem
from sparkgen.schema import fields
from sparkgen.schema.accepts import accepts
from sparkgen.schema.identity import API_VERSION
from sparkgen.schema.suggestions import MOST_SUGGESTED, Stray

if TYPE_CHECKING:
    from sparkgen.document.node import Document, Node

UNKNOWN = ("SG010", "SG016")
WRONG_VALUE = ("SG013", "SG014", "SG015")


VARIANTS = 3
"""The number of valid documents to make, each with other values for what is not known."""
_MISSING = "SG011"
_BY_TYPE: Mapping[str, tuple[Any, ...]] = {
    "string": ("a", "b"),
    "integer": (1, 2, 3),
    "number": (1, 2, 3),
    "boolean": (True, False),
    "array": ([],),
    "object": ({},),
}


class _Unclear(Exception):
    """A problem cannot be repaired: its field or value does not exist, or no valid value is known."""


def repaired(document: Document, problems: Collection[Problem]) -> list[dict[str, Any]]:
    """Returns at most VARIANTS valid values close to the document's, which itself does not change.

    Of a document with more than MOST_SUGGESTED unknown fields, it returns none.
    """
    kind = document.value.get("kind")
    strays = sum(problem.code in UNKNOWN for problem in problems)
    if kind not in fields.KINDS or strays > MOST_SUGGESTED:
        return []
    # Deepest paths first, because repairing a parent may change its name.
    ordered = sorted(problems, key=lambda problem: -len(problem.path))
    found = [_variant(document, str(kind), ordered, number) for number in range(VARIANTS)]
    return [value for value in found if value is not None]


def _variant(
    document: Document, kind: str, problems: Iterable[Problem], number: int
) -> dict[str, Any] | None:
    value = copy.deepcopy(document.value)
    value["apiVersion"] = API_VERSION
    root = fields.document(kind)
    try:
        for problem in problems:
            _repair(value, kind, root, document, problem, number)
    except _Unclear:
        return None
    return value if accepts(value) else None


def _repair(
    value: Any, kind: str, root: fields.Field, document: Document, problem: Problem, number: int
) -> None:
    if not problem.path or problem.path == ("apiVersion",):
        return
    if problem.code == _MISSING:
        _fill(value, root, problem.path, number)
        return
    parent, key = _holder(value, problem.path)
    if problem.code in UNKNOWN:
        _rename(parent, key, Stray(kind, root, _field(root, problem.path[:-1]), str(key)))
        return
    field = _field(root, problem.path)
    node = document.node.find(problem.path)
    if problem.code == "SG012" and node is not None and _is_without_quotes(node, field):
        parent[key] = node.text
    elif problem.code in WRONG_VALUE and (same := _same_letters(field, parent[key])) is not None:
        parent[key] = same
    else:
        _replace(parent, key, field, number)


def _is_without_quotes(node: Node, field: fields.Field) -> bool:
    """Whether a value is a string that YAML reads as a number or a boolean, because it has no quotes."""
    is_text = isinstance(node.value, bool | int | float) and "string" in field.types
    return is_text and bool(re.search(str(field.schema.get("pattern", "")), node.text))


def _replace(parent: Any, key: Any, field: fields.Field, number: int) -> None:
    """Replace a wrong value by a valid one; in variant 0, delete an optional field instead."""
    choices = _choices(field)
    if isinstance(parent, dict) and not field.required and number == 0:
        del parent[key]
    elif choices:
        parent[key] = choices[number % len(choices)]
    else:
        raise _Unclear


def _fill(value: Any, root: fields.Field, path: Path, number: int) -> None:
    """Add a missing field with a valid value."""
    for part in path[:-1]:
        value = value.setdefault(part, {}) if isinstance(value, dict) else value[part]
    choices = _choices(_field(root, path))
    if not choices or not isinstance(value, dict):
        raise _Unclear
    value[path[-1]] = choices[number % len(choices)]


def _choices(field: fields.Field) -> list[Any]:
    """Valid values of a field: those of its enum and examples, or else some values of its types."""
    named = [*field.schema.get("enum", ()), *field.schema.get("examples", ())]
    plain = [] if named else [one for kind in field.types for one in _BY_TYPE.get(kind, ())]
    return copy.deepcopy([*named, *plain])


def _field(root: fields.Field, path: Path) -> fields.Field:
    field = root.find(path)
    if field is None:
        raise _Unclear
    return field


def _holder(value: Any, path: Path) -> tuple[Any, Any]:
    """The map or list with the value at a path, and its key or index. Raises _Unclear if it is missing."""
    try:
        for part in path[:-1]:
            value = value[part]
        value[path[-1]]
    except (KeyError, IndexError, TypeError) as error:
        raise _Unclear from error
    return value, path[-1]


def _rename(parent: dict[str, Any], key: str, stray: Stray) -> None:
    meant = stray.suggestion().rename
    item = parent.pop(key)
    if meant is not None:
        parent.setdefault(meant, item)


def _same_letters(field: fields.Field, written: Any) -> Any:
    """The allowed value that differs from the written one only in case, or None."""
    for allowed in field.schema.get("enum", ()):
        if isinstance(written, str) and str(allowed).lower() == written.lower():
            return allowed
    return None
