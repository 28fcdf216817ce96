"""Whether a document is a sparkgen document at all: its apiVersion and its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparkgen.errors import Problem, Severity
from sparkgen.schema.fields import KINDS
from sparkgen.schema.suggestions import nearest
from sparkgen.schema.wording import either, scalar, shortened

if TYPE_CHECKING:
    from sparkgen.document.node import Document

API_VERSION = "sparkgen.dev/v1alpha1"
KUBEFLOW_GROUP = "sparkoperator.k8s.io/"
APACHE_GROUP = "spark.apache.org/"


@dataclass(frozen=True, slots=True)
class Identity:
    """The kind to check a document as (None: do not check it further), and the problem with its identity."""

    kind: str | None
    problem: Problem | None = None


def identify(document: Document) -> Identity:
    """The identity of a document. With a known kind, it is checked further even if the apiVersion is wrong.

    An exception is the apiVersion of Apache's operator, whose fields have other names.
    """
    version, kind = document.value.get("apiVersion"), document.value.get("kind")
    if version == API_VERSION and kind in KINDS:
        return Identity(str(kind))
    if version is None and kind is None:
        return Identity(None, _neither(document))
    if kind not in KINDS:
        return Identity(None, _unknown_kind(document, version, kind))
    return _unknown_version(document, version, str(kind))


def _problem(document: Document, key: str, message: str, next_step: str) -> Problem:
    path = (key,) if key in document.value else ()
    value = document.value.get(key)
    return Problem(
        code="SG007",
        severity=Severity.ERROR,
        position=document.node.locate(path),
        path=(key,),
        message=message,
        found=shortened(str(value)) if isinstance(value, str) else "",
        allowed=API_VERSION if key == "apiVersion" else either(KINDS),
        next_step=next_step,
    )


def _neither(document: Document) -> Problem:
    return _problem(
        document,
        "apiVersion",
        "this is not a sparkgen document: it has neither `apiVersion` nor `kind`",
        f"start it with `apiVersion: {API_VERSION}` and `kind: SparkApplication`, or leave this file out",
    )


def _unknown_kind(document: Document, version: Any, kind: Any) -> Problem:
    if kind is None:
        spec = document.value.get("spec")
        likely = KINDS[1] if isinstance(spec, dict) and "schedule" in spec else KINDS[0]
        return _problem(document, "kind", "`kind` is missing", f"add `kind: {likely}`")
    name = shortened(str(kind))
    if (guess := nearest(name, KINDS)) is not None:
        return _problem(document, "kind", f"there is no kind `{name}`", f"write `kind: {guess}`")
    if version == API_VERSION:
        return _problem(document, "kind", f"there is no kind `{name}`", f"write `kind: {KINDS[0]}`")
    of = "" if version is None else f" of {shortened(str(version))}"
    return _problem(
        document,
        "kind",
        f"this is a {name}{of}, not a sparkgen document",
        "don't pass it to sparkgen, which reads only its own documents; commit it beside the rendered files",
    )


def _unknown_version(document: Document, version: Any, kind: str) -> Identity:
    write = f"`apiVersion: {API_VERSION}`"
    text = shortened(str(version))
    if version is None:
        return Identity(kind, _problem(document, "apiVersion", "`apiVersion` is missing", f"add {write}"))
    if text.startswith(KUBEFLOW_GROUP):
        message = f"this is the spark-operator's {kind}, not sparkgen's"
        step = f"convert it with `sparkgen import`, or write {write}: most fields have the same names"
        return Identity(kind, _problem(document, "apiVersion", message, step))
    if text.startswith(APACHE_GROUP):
        message = f"this is a {kind} of Apache's spark-kubernetes-operator, not sparkgen's"
        step = "its fields have other names here: convert it with `sparkgen import`"
        return Identity(None, _problem(document, "apiVersion", message, step))
    message = f"there is no {kind} with the apiVersion {scalar(text)}"
    return Identity(kind, _problem(document, "apiVersion", message, f"write {write}"))
