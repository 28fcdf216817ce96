"""The reference of all fields as Markdown, generated from the schema: docs/reference/document.md."""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen.errors import path_text
from sparkgen.schema import fields
from sparkgen.schema.fields import Field
from sparkgen.schema.wording import block, flow

INTRODUCTION = """\
# Fields of a document

<!-- Generated from schemas/spark-application.schema.json. Do not edit: change the schema, then run
`make golden`. -->

On this page you look up every field of a document, with its type, default and meaning.
In a terminal, `sparkgen explain spec.executor.memory` shows the same for one field.

One document describes one application, Connect server, notebook, shuffle service, history server or
staging server.

An editor with a YAML language server checks a document while you write it.
First print the schema with `sparkgen schema > spark-application.schema.json`.
Then start the document with this line:

```yaml
# yaml-language-server: $schema=spark-application.schema.json
```

Types that start with a capital letter, such as `Volume` and `[]EnvVar`, are Kubernetes' own:
`sparkgen explain` shows their fields.
"""

SHARED = ("spec", "driver"), ("spec", "executor")
"""Two fields with nearly the same fields, which the page describes once."""

OF_BOTH = (
    "Driver and executors have these fields in common; "
    "`spec.executor.instances` and `spec.executor.pools` are only for executors."
)
"""The first sentence of the section about both."""


SPEC = ("spec",)


def reference() -> str:
    """The whole page, ending with a newline."""
    application, scheduled = (fields.document(kind) for kind in fields.APPLICATION_KINDS)
    blocks = [INTRODUCTION, "## The document\n", *_fields(application)]
    blocks += _sections(application)
    schedule = scheduled.find(SPEC)
    if schedule is not None:
        about = f"{schedule.schema['description']}\n"
        blocks += ["## `spec` of a ScheduledSparkApplication\n", about, *_fields(schedule)]
    for kind in fields.COMPLETED_KINDS:
        blocks += _completed(kind, application)
    for kind in fields.SERVER_KINDS:
        served = fields.document(kind).find(SPEC)
        if served is not None:
            blocks += [f"## `spec` of a {kind}\n", f"{served.schema['description']}\n"]
            blocks += [*_fields(served), *_sections(served, f" of a {kind}")]
    return "\n".join(blocks)


def _completed(kind: str, application: Field) -> Iterator[str]:
    """The fields that only a Connect server or a notebook has, and the names of those of an application."""
    server = fields.document(kind).find(SPEC)
    if server is None:
        return
    yield f"## `spec` of a {kind}\n"
    yield f"{server.schema['description']}\n"
    own = list(fields.own_of(kind))
    common = [child.name for child in server.children() if child.name not in {field.name for field in own}]
    names = ", ".join(f"`{name}`" for name in common)
    yield f"These fields are the same as in a SparkApplication: {names}.\n"
    for field in own:
        yield from _field(field, f"`{_written(field)}`")
    new = [field for field in own if application.find(field.path) is None]
    for field in new:
        yield f"## {_paths(field)} of a {kind}\n"
        yield f"{field.schema['description']}\n"
        yield from _fields(field)
        yield from _sections(field, f" of a {kind}")


def _holds_fields(field: Field) -> bool:
    """Whether a field has fields of sparkgen's own below it."""
    inner = field.item()
    return field.kubernetes is None and inner.kubernetes is None and any(inner.children())


def _sections(parent: Field, whose: str = "") -> Iterator[str]:
    """A section for each field below that has fields of its own, outer fields first.

    `whose` follows each heading (" of a ...").
    """
    holders = [child for child in parent.item().children() if _holds_fields(child)]
    for field in holders:
        if field.path == SHARED[1]:
            continue
        both = field.path == SHARED[0]
        yield f"## {_paths(field)}{whose}\n"
        about = field.schema.get("description") or field.item().schema["description"]
        yield f"{OF_BOTH if both else about}\n"
        yield from _fields(field.item(), path_text(SHARED[1]) if both else "")
        if both:
            yield from _own_of_executor(parent)
        yield from _sections(field, whose)


def _paths(field: Field) -> str:
    """The path of a field for a heading; both paths if driver and executor have the field."""
    path = _written(field)
    if field.path == SPEC:
        return "`spec` of a SparkApplication"
    if field.path[:2] != SHARED[0]:
        return f"`{path}`"
    return f"`{path}`, `{path.replace(path_text(SHARED[0]), path_text(SHARED[1]), 1)}`"


def _written(field: Field) -> str:
    """The field's path with `[]` for the items of a list."""
    return "".join("[]" if isinstance(part, int) else f".{part}" for part in field.path).lstrip(".")


def _own_of_executor(spec: Field) -> Iterator[str]:
    """The fields that only executors have."""
    driver, executor = (spec.find((path[-1],)) for path in SHARED)
    if driver is None or executor is None:
        return
    shared = {child.name for child in driver.children()}
    own = [child for child in executor.children() if child.name not in shared]
    for child in own:
        yield from _field(child, f"`{_written(child)}`")
    for child in filter(_holds_fields, own):
        yield f"## `{_written(child)}`\n"
        yield f"{child.schema['description']}\n"
        yield from _fields(child.item())


def _fields(parent: Field, also: str = "") -> Iterator[str]:
    for child in parent.children():
        shared = also or (child.path[:2] == SHARED[0] and child.path != SHARED[0])
        yield from _field(child, _paths(child) if shared else f"`{_written(child)}`")


def _field(field: Field, heading: str) -> Iterator[str]:
    """One field: heading, a line of facts, description, example."""
    yield f"### {heading}\n"
    yield " · ".join(_facts(field)) + "\n"
    about = field.schema.get("description") or field.item().schema.get("description", "")
    yield f"{about}\n"
    if field.examples:
        yield f"```yaml\n{block({field.name: field.examples[0]})}```\n"


def _facts(field: Field) -> Iterator[str]:
    """Title, type, whether it is required, default, allowed values, whether it is tunable."""
    yield f"**{field.schema.get('title', field.name)}**"
    yield f"`{field.type_label}`"
    if field.required:
        yield "required"
    if "default" in field.schema:
        yield f"default `{flow(field.schema['default'])}`"
    if "enum" in field.schema:
        yield "one of " + ", ".join(f"`{text}`" for text in field.schema["enum"])
    if field.tunable:
        yield "can be changed without a new run"
