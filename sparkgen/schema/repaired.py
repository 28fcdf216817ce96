"""What a refused document was probably meant to be, so that its meaning can be looked at in the same run.

A person who misspelt one field and wrote a size in Kubernetes' way wants to hear of both at once. Rules about
meaning need a valid document; this module makes one from what is certain (a misspelt name, a text without
quotes, an optional value that is wrong) and gives up where it would have to invent something.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from sparkgen.errors import Path, Problem
from sparkgen.schema import fields
from sparkgen.schema.accepts import accepts
from sparkgen.schema.identity import API_VERSION
from sparkgen.schema.suggestions import Stray

if TYPE_CHECKING:
    from sparkgen.document.node import Document

UNKNOWN = ("SG010", "SG016")
WRONG_VALUE = ("SG013", "SG014", "SG015")


class _Unclear(Exception):
    """Nothing certain can be said about what was meant."""


def repaired(document: Document, problems: Iterable[Problem]) -> dict[str, Any] | None:
    """A valid value close to the document's, or None. The document itself is not changed."""
    kind = document.value.get("kind")
    if kind not in fields.KINDS:
        return None
    value = copy.deepcopy(document.value)
    value["apiVersion"] = API_VERSION
    root = fields.document(str(kind))
    try:
        # Deepest first: a repaired parent may have another name.
        for problem in sorted(problems, key=lambda problem: -len(problem.path)):
            _repair(value, str(kind), root, document, problem)
    except _Unclear:
        return None
    return value if accepts(value) else None


def _repair(value: Any, kind: str, root: fields.Field, document: Document, problem: Problem) -> None:
    if not problem.path or problem.path == ("apiVersion",):
        return
    parent, key = _holder(value, problem.path)
    if problem.code in UNKNOWN:
        _rename(parent, key, Stray(kind, root, _field(root, problem.path[:-1]), str(key)))
    elif problem.code == "SG012":
        _retype(parent, key, _field(root, problem.path), document, problem.path)
    elif problem.code in WRONG_VALUE and isinstance(parent, dict):
        parent[key] = _same_letters(_field(root, problem.path), parent[key])
        if parent[key] is None:
            del parent[key]
    else:
        raise _Unclear


def _field(root: fields.Field, path: Path) -> fields.Field:
    field = root.find(path)
    if field is None:
        raise _Unclear
    return field


def _holder(value: Any, path: Path) -> tuple[Any, Any]:
    """The map or list that holds the value at a path, and its key there."""
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


def _retype(parent: Any, key: Any, field: fields.Field, document: Document, path: Path) -> None:
    node = document.node.find(path)
    if node is not None and isinstance(node.value, bool | int | float) and "string" in field.types:
        parent[key] = node.text
    elif parent[key] is None and isinstance(parent, dict):
        del parent[key]
    else:
        raise _Unclear


def _same_letters(field: fields.Field, written: Any) -> Any:
    """The allowed value that differs only in case, or None."""
    for allowed in field.schema.get("enum", ()):
        if isinstance(written, str) and str(allowed).lower() == written.lower():
            return allowed
    return None
