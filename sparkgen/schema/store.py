"""Finds the two schema files, and reads each once.

`schemas/spark-application.schema.json` is hand-written; `schemas/kubernetes.schema.json` is generated and
larger, so it is read only when the first reference leads to it. No name is in the `$defs` of both, so a
reference can be resolved without knowing the file that it is in.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sparkgen.errors import SparkgenError
from sparkgen.jsonvalue import decode

Schema = dict[str, Any]

APPLICATION_FILE = "spark-application.schema.json"
KUBERNETES_FILE = "kubernetes.schema.json"

ANNOTATIONS = frozenset(
    {
        "$comment",
        "$defs",
        "$schema",
        "default",
        "description",
        "examples",
        "patternErrorMessage",  # an editor shows it instead of the pattern
        "title",
        "x-sparkgen-grammar",  # which of sparkgen's grammars a text is in; the semantic rules read it
        "x-sparkgen-tunable",  # true: can be changed without a new run
    }
)
"""Keywords that describe a field, and do not check its value."""


def folder() -> Path:
    """The folder of the schema files: in the installed package, or beside it in a checkout."""
    package = Path(__file__).parent.parent
    installed = package / "_schemas"
    return installed if installed.is_dir() else package.parent / "schemas"


def read(name: str) -> Schema:
    """The schema in the file of this name. Raises SparkgenError if the file cannot be read."""
    path = folder() / name
    try:
        schema: Schema = decode(path.read_text(encoding="utf-8"))
    except OSError as error:
        message = f"sparkgen is not installed completely: cannot read {path} ({error.strerror})"
        raise SparkgenError(message) from error
    return schema


@functools.cache
def application_schema() -> Schema:
    """The schema of a document, as it is in the file."""
    return read(APPLICATION_FILE)


@functools.cache
def kubernetes_schema() -> Schema:
    """The Kubernetes types that the document's schema refers to, as they are in the file."""
    return read(KUBERNETES_FILE)


@functools.cache
def resolve(reference: str) -> Schema:
    """The schema that a `$ref` names, from either of the two files."""
    pointer = reference.partition("#")[2].lstrip("/").split("/")
    kubernetes = reference.startswith(KUBERNETES_FILE) or pointer[1] not in application_schema()["$defs"]
    schema: Schema = kubernetes_schema() if kubernetes else application_schema()
    for part in pointer:
        schema = schema[part]
    return schema


def kubernetes_type(reference: str) -> str | None:
    """The name of the Kubernetes type that a `$ref` names (`Volume`), or None for one of sparkgen's types."""
    name = reference.rpartition("/")[2]
    ours = not reference.startswith(KUBERNETES_FILE) and name in application_schema()["$defs"]
    return None if ours or "/properties/" in reference else name


def without_grammar(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema without the pattern of a grammar (`x-sparkgen-grammar`).

    The pattern is for editors and for Helm. sparkgen has a rule for each grammar, which reports more than a
    pattern can: what is wrong with a string, and what was meant.
    """
    if "x-sparkgen-grammar" not in schema:
        return schema
    return {keyword: value for keyword, value in schema.items() if keyword != "pattern"}


def _local(schema: Any) -> Any:
    """The schema with references to the Kubernetes file changed to references within its own file."""
    if isinstance(schema, dict):
        return {
            key: one.removeprefix(KUBERNETES_FILE) if key == "$ref" and isinstance(one, str) else _local(one)
            for key, one in schema.items()
        }
    if isinstance(schema, list):
        return [_local(one) for one in schema]
    return schema


def bundle() -> Schema:
    """One schema that needs no other file, as `sparkgen schema` prints it. The caller may change it."""
    schema: Schema = _local(application_schema())
    schema["$defs"] |= _local(kubernetes_schema()["$defs"])
    return schema
