"""The schema as a tree of fields, for messages, `explain` and the reference.

A `Field` is one place in a document with its whole schema: references are followed, and keywords beside a
reference (a title, an example) take precedence over those of the schema that it leads to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sparkgen.errors import Path
from sparkgen.schema import store

APPLICATION_KINDS = ("SparkApplication", "ScheduledSparkApplication")
SERVICE_KIND = "SparkShuffleService"
HISTORY_KIND = "SparkHistoryServer"
STAGING_KIND = "SparkStagingServer"
SERVER_KINDS = (SERVICE_KIND, HISTORY_KIND, STAGING_KIND)
CONNECT_KIND = "SparkConnectServer"
NOTEBOOK_KIND = "SparkNotebook"
COMPLETED_KINDS = (CONNECT_KIND, NOTEBOOK_KIND)
"""The kinds of applications whose program sparkgen supplies."""
KINDS = (*APPLICATION_KINDS, *COMPLETED_KINDS, *SERVER_KINDS)
SPECS = {
    "SparkApplication": "applicationSpec",
    "ScheduledSparkApplication": "scheduledSpec",
    CONNECT_KIND: "connectServerSpec",
    NOTEBOOK_KIND: "notebookSpec",
    SERVICE_KIND: "shuffleServiceSpec",
    HISTORY_KIND: "historyServerSpec",
    STAGING_KIND: "stagingServerSpec",
}
"""Kind -> the definition of its `spec`."""


def merged(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with its reference followed; keywords beside the reference take precedence."""
    if "$ref" not in schema:
        return dict(schema)
    beside = {keyword: value for keyword, value in schema.items() if keyword != "$ref"}
    return merged(store.resolve(schema["$ref"])) | beside


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its path in the document, its schema, and its Kubernetes type if it has one."""

    path: Path
    schema: Mapping[str, Any]
    kubernetes: str | None = None
    required: bool = False

    @property
    def name(self) -> str:
        """The field's own name (an item has its list's); "" for the document."""
        return next((part for part in reversed(self.path) if isinstance(part, str)), "")

    @property
    def types(self) -> tuple[str, ...]:
        """The JSON types it may have."""
        types = self.schema.get("type", ())
        return (types,) if isinstance(types, str) else tuple(types)

    @property
    def type_label(self) -> str:
        """The type as `kubectl explain` writes it: `integer`, `[]EnvVar`, `map[string]string`."""
        if self.kubernetes is not None:
            return self.kubernetes
        if "items" in self.schema:
            return f"[]{self.item().type_label}"
        if self.is_map:
            return f"map[string]{self.item().type_label}"
        return " or ".join(self.types)

    @property
    def is_map(self) -> bool:
        """Whether users choose the keys of its members, as in `labels`."""
        return "properties" not in self.schema and isinstance(self.schema.get("additionalProperties"), dict)

    @property
    def grammar(self) -> str:
        """The name of the sparkgen grammar of its string, or ``""``."""
        return str(self.schema.get("x-sparkgen-grammar", ""))

    @property
    def tunable(self) -> bool:
        """Whether it can be changed without a new run."""
        return bool(self.schema.get("x-sparkgen-tunable", False))

    @property
    def examples(self) -> tuple[Any, ...]:
        """Its examples, best first."""
        return tuple(self.schema.get("examples", ()))

    def children(self) -> Iterator[Field]:
        """Its named fields, in the schema's order."""
        required = self.schema.get("required", ())
        for name, schema in self.schema.get("properties", {}).items():
            yield _field((*self.path, name), schema, name in required)

    def child(self, part: str | int) -> Field | None:
        """The field below: a name, an index of a list, or a key of a map."""
        if isinstance(part, int):
            return _field((*self.path, part), self.schema["items"]) if "items" in self.schema else None
        schema = self.schema.get("properties", {}).get(part)
        if schema is not None:
            return _field((*self.path, part), schema, part in self.schema.get("required", ()))
        other = self.schema.get("additionalProperties")
        return _field((*self.path, part), other) if isinstance(other, dict) else None

    def item(self) -> Field:
        """A list's item, a map's value, or the field itself."""
        if "items" in self.schema:
            return _field((*self.path, 0), self.schema["items"])
        other = self.schema.get("additionalProperties")
        return _field((*self.path, "*"), other) if isinstance(other, dict) else self

    def find(self, path: Path) -> Field | None:
        """The field at a path below this one, or None."""
        field: Field | None = self
        for part in path:
            field = field.child(part) if field is not None else None
        return field


def _field(path: Path, schema: Mapping[str, Any], required: bool = False) -> Field:
    return Field(path, merged(schema), _kubernetes_type(schema), required)


def _kubernetes_type(schema: Mapping[str, Any]) -> str | None:
    """The Kubernetes type that a schema's references lead to, or None."""
    while "$ref" in schema:
        if (name := store.kubernetes_type(schema["$ref"])) is not None:
            return name
        schema = store.resolve(schema["$ref"])
    return None


def document(kind: str) -> Field:
    """The whole document of a kind, as a field with an empty path."""
    schema = dict(store.application_schema())
    spec = merged({"$ref": f"#/$defs/{SPECS[kind]}"})
    schema["properties"] = {**schema["properties"], "spec": spec}
    return Field((), schema)


def own_of(kind: str) -> Iterator[Field]:
    """The fields of one of COMPLETED_KINDS that an application does not have, or describes differently."""
    application = document(APPLICATION_KINDS[0]).find(("spec",))
    server = document(kind).find(("spec",))
    if application is None or server is None:
        raise LookupError("spec")
    for field in server.children():
        same = application.child(field.name)
        if same is None or same.schema.get("description") != field.schema.get("description"):
            yield field


def own_fields(field: Field) -> Iterator[Field]:
    """The fields below a field, including those of list items, without the fields of Kubernetes types."""
    for child in field.children():
        yield child
        inner = child.item()
        if child.kubernetes is None and inner.kubernetes is None:
            yield from own_fields(inner)
