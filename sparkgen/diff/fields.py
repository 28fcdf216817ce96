"""The changes between two documents, as their fields, and only those that have an effect.

Whether a field has an effect is tried, not looked up: the document is rendered with only this change, and
with all changes but this one. So these do not count: defaults that are written out, `1024m` instead of `1g`,
and fields that other fields make meaningless.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sparkgen import model, resources
from sparkgen.diff.trees import ABSENT, Path, changed, put, split
from sparkgen.diff.values import FieldChange
from sparkgen.diff.words import label, value_text
from sparkgen.schema import fields as schema_fields

_MOST_TRIED = 64
"""The most changes of one application that are tried one by one; if there are more, all count."""
_Document = Mapping[str, Any]
_Effect = tuple[bool, bool]
"""Whether a change has an effect, and whether it changes the run's hash."""


def field_changes(old: _Document, new: _Document, namespace: str) -> Iterator[FieldChange]:
    """The fields that differ in effect, in the order of the new document."""
    alike = old.get("kind") == new.get("kind")
    found = changed(old if alike else _canonical(old), new if alike else _canonical(new))
    # A document of another kind has its fields in other places: they cannot be tried in the other document.
    trial = _Trial(old, new, namespace) if alike and len(found) <= _MOST_TRIED else None
    root = schema_fields.document(str(new.get("kind")) if alike else schema_fields.KINDS[0])
    for path, before, after in found:
        field = root.find(path)
        tunable = field is not None and field.tunable
        effect, in_run = trial.effect(path, before, after) if trial else (True, not tunable)
        if not effect:
            continue
        title = str(field.schema.get("title", "")) if field is not None else ""
        default = field.schema.get("default", ABSENT) if field is not None else ABSENT
        for at, one, other in split(path, before, after):
            texts = (_text(at, one, default), _text(at, other, default))
            yield FieldChange(".".join(at), label(_short(at)), *texts, in_run, title)


def _text(path: Path, value: Any, default: Any) -> str:
    if value is ABSENT and default is not ABSENT:
        return f"{value_text(path, default)} (default)"
    return value_text(path, value)


def _short(path: Path) -> Path:
    """A path without the prefix that all fields have."""
    for start in (("spec", "template"), ("spec",), ("metadata",)):
        if path[: len(start)] == start and len(path) > len(start):
            # `spec.driver.template` is a field; only a scheduled document has `spec.template` itself.
            return path[len(start) :]
    return path


def _canonical(document: _Document) -> _Document:
    """A document with an application's fields at the places where a SparkApplication has them."""
    spec = document.get("spec", {})
    if document.get("kind") == schema_fields.KINDS[0]:
        return document
    outer = {key: value for key, value in spec.items() if key != "template"}
    return {**document, "spec": {**outer, **spec.get("template", {})}}


class _Trial:
    """Renders documents that differ in one field."""

    def __init__(self, old: _Document, new: _Document, namespace: str) -> None:
        self._old, self._new, self._namespace = old, new, namespace
        self._rendered = {"old": self._render(old), "new": self._render(new)}

    def effect(self, path: Path, before: Any, after: Any) -> _Effect:
        """The effect of a change, alone or as the last of all changes."""
        alone = self._compare("old", put(self._old, path, after))
        last = self._compare("new", put(self._new, path, before))
        return alone[0] or last[0], alone[1] or last[1]

    def _compare(self, side: str, document: _Document) -> _Effect:
        base = self._rendered[side]
        tried = self._render(document)
        if tried is None or base is None:
            return True, True
        return tried != base, tried[0] != base[0]

    def _render(self, document: _Document) -> tuple[str, Any] | None:
        """The run's name and all objects; None if this part of the changes makes no valid document."""
        try:
            application = model.describe(document, self._namespace or None)
            return resources.run_of(application), resources.render(application)
        except (AttributeError, KeyError, TypeError, ValueError):
            return None
