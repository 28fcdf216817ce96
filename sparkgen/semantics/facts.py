"""A valid document in the form that the rules need: with the application's spec, whatever the kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from sparkgen.contract import DRIVER_CONTAINER, ENV_CONNECT_TOKEN, EXECUTOR_CONTAINER
from sparkgen.errors import Path
from sparkgen.model.completion import as_application
from sparkgen.model.connect import TOKEN_PROPERTY
from sparkgen.model.properties import TYPED_PROPERTIES, effective_properties, is_true
from sparkgen.properties.older import under_new_names, written_name
from sparkgen.semantics.fields import APPLICATION_FIELDS

ROLES = ("driver", "executor")

SPARK_CONTAINER = {"driver": DRIVER_CONTAINER, "executor": EXECUTOR_CONTAINER}
"""Role -> the name of the container in which Spark runs."""

Kind = Literal["spark", "init", "sidecar"]


@dataclass(frozen=True, slots=True)
class Container:
    """A container that a document describes.

    The fields of `spec.driver` and `spec.executor` themselves count as one, of kind "spark" and `typed`.
    `spec` has Kubernetes' names of fields (env, volumeMounts, ports, securityContext).
    """

    role: str
    kind: Kind
    path: Path
    spec: Mapping[str, Any]
    typed: bool

    @property
    def name(self) -> str:
        """The container's name in the rendered pod."""
        return SPARK_CONTAINER[self.role] if self.kind == "spark" else str(self.spec.get("name", ""))

    def items(self, field: str) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """Yields the items of a list of the container's, each with its path."""
        for index, item in enumerate(self.spec.get(field) or ()):
            yield (*self.path, field, index), item


@dataclass(frozen=True, slots=True)
class DocumentFacts:
    """A frozen view of one schema-valid document.

    `spec` is the application's spec, and `root` its path: ("spec",), or ("spec", "template") if the
    application is scheduled. `conf` is its sparkConf under Spark's new names, and `written` is sparkConf as
    the document has it; `properties` are all Spark properties that it sets, by typed fields or sparkConf
    (typed fields win). Do not change any of them.
    """

    value: Mapping[str, Any]
    scheduled: bool
    root: Path
    spec: Mapping[str, Any]
    conf: Mapping[str, str]
    written: Mapping[str, str]
    properties: Mapping[str, str]
    containers: tuple[Container, ...]

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> DocumentFacts:
        """Returns the facts of a document's value."""
        scheduled = value["kind"] == "ScheduledSparkApplication"
        value = as_application(value)
        outer = value["spec"]
        spec = outer["template"] if scheduled else outer
        written = spec.get("sparkConf") or {}
        return cls(
            value=value,
            scheduled=scheduled,
            root=("spec", "template") if scheduled else ("spec",),
            spec=spec,
            conf=under_new_names(written),
            written=written,
            properties=effective_properties(spec),
            containers=tuple(_containers(spec, ("spec", "template") if scheduled else ("spec",))),
        )

    @property
    def name(self) -> str:
        """The application's name."""
        return str(self.value["metadata"]["name"])

    def path(self, *parts: str | int) -> Path:
        """Returns the document's path of a place below the application's spec; properties are as written."""
        return (*self.root, *_as_written(parts, self.written))

    def get(self, *parts: str) -> Any:
        """Returns the value at a place below the application's spec; None if there is none."""
        return _dig(self.spec, parts)

    def role(self, role: str) -> Mapping[str, Any]:
        """Returns the fields of the driver or of the executors; empty if there are none."""
        fields: Mapping[str, Any] = self.spec.get(role) or {}
        return fields

    def template(self, role: str) -> Mapping[str, Any]:
        """Returns the pod's spec in a role's template; empty if there is none."""
        inside: Mapping[str, Any] = _dig(self.spec, (role, "template", "spec")) or {}
        return inside

    def place(self, name: str) -> Path:
        """Returns the path at which a Spark property is set: the typed field, which wins, or sparkConf."""
        typed = typed_fields().get(name)
        if typed is not None and self.get(*typed) not in (None, []):
            return self.path(*typed)
        return self.path("sparkConf", name)

    def is_true(self, name: str, default: bool = False) -> bool:
        """Whether a boolean Spark property is on. Spark ignores its case, and blanks around it."""
        return is_true(self.properties, name, default)

    def dependencies(self, field: str) -> Iterator[tuple[Path, str]]:
        """Yields the items of a list of `deps`, each with its path."""
        for index, text in enumerate(self.get("deps", field) or ()):
            yield self.path("deps", field, index), text

    def conf_texts(self) -> Iterator[tuple[str, str]]:
        """Yields the files of Spark's configuration folder that the document has as texts: name and text."""
        for name, given in (self.get("sparkConfFiles") or {}).items():
            if isinstance(given, str):
                yield name, given

    def variables(self, role: str, name: str) -> Iterator[Path]:
        """Yields the paths of the names of a role's variables of this name, in Spark's container."""
        for container in self.containers:
            if container.role == role and container.kind == "spark":
                yield from (
                    (*path, "name") for path, item in container.items("env") if item.get("name") == name
                )

    def connect_tokens(self) -> Iterator[Path]:
        """Yields the paths at which the document sets the clients' token: field, property or variable."""
        if self.get("connect", "token") is not None:
            yield self.path("connect", "token")
        if self.conf.get(TOKEN_PROPERTY):
            yield self.path("sparkConf", TOKEN_PROPERTY)
        yield from self.variables("driver", ENV_CONNECT_TOKEN)

    def named_volumes(self, role: str) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """Yields a role's possible volumes with their paths: the application's, and its template's."""
        for index, volume in enumerate(self.spec.get("volumes") or ()):
            yield self.path("volumes", index), volume
        for index, volume in enumerate(self.template(role).get("volumes") or ()):
            yield self.path(role, "template", "spec", "volumes", index), volume


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """A frozen view of one schema-valid document that describes a server, not an application."""

    value: Mapping[str, Any]
    spec: Mapping[str, Any]
    conf: Mapping[str, str]
    written: Mapping[str, str]

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> ServerFacts:
        """Returns the facts of a document's value."""
        spec = value["spec"]
        written = spec.get("sparkConf") or {}
        return cls(value=value, spec=spec, conf=under_new_names(written), written=written)

    def path(self, *parts: str | int) -> Path:
        """Returns the path in the document of a place below the spec; properties are as written."""
        return ("spec", *_as_written(parts, self.written))


@cache
def typed_fields() -> Mapping[str, tuple[str, ...]]:
    """Returns Spark property -> path below the application's spec of the typed field that sets it."""
    return {name: path for path, name in TYPED_PROPERTIES.items()}


def _as_written(parts: Path, written: Mapping[str, str]) -> Path:
    """Returns a path below a spec, with a property's new name replaced by the name that the document has."""
    match parts:
        case ("sparkConf", str(name), *rest):
            return ("sparkConf", written_name(written, name), *rest)
    return parts


def _dig(value: Any, parts: tuple[str, ...]) -> Any:
    for part in parts:
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _containers(spec: Mapping[str, Any], root: Path) -> Iterator[Container]:
    for role in ROLES:
        fields = spec.get(role)
        if not fields:
            continue
        path = (*root, role)
        yield Container(role, "spark", path, fields, typed=True)
        yield from _listed(role, "init", (*path, "initContainers"), fields.get("initContainers"), typed=True)
        yield from _listed(role, "sidecar", (*path, "sidecars"), fields.get("sidecars"), typed=True)
        inside = _dig(fields, ("template", "spec")) or {}
        path = (*path, "template", "spec")
        yield from _listed(role, "init", (*path, "initContainers"), inside.get("initContainers"), typed=False)
        yield from _template_containers(role, (*path, "containers"), inside.get("containers") or [])


def _listed(role: str, kind: Kind, path: Path, items: Any, *, typed: bool) -> Iterator[Container]:
    for index, item in enumerate(items or ()):
        yield Container(role, kind, (*path, index), item, typed)


def _template_containers(role: str, path: Path, items: list[Mapping[str, Any]]) -> Iterator[Container]:
    """Yields a template's containers. Spark's has its name, or else is the first (selectSparkContainer)."""
    named = [index for index, item in enumerate(items) if item.get("name") == SPARK_CONTAINER[role]]
    main = named[0] if named else 0
    for index, item in enumerate(items):
        yield Container(role, "spark" if index == main else "sidecar", (*path, index), item, typed=False)


def texts(facts: DocumentFacts, grammar: str, properties: tuple[str, ...] = ()) -> Iterator[tuple[Path, str]]:
    """Yields the texts of the typed fields with a grammar, and of some properties, each with its path."""
    for field in APPLICATION_FIELDS[grammar]:
        text = facts.get(*field)
        if isinstance(text, str):
            yield facts.path(*field), text
    for name in properties:
        if name in facts.conf:
            yield facts.path("sparkConf", name), facts.conf[name]
