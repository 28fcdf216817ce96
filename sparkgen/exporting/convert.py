"""Converts a document to an application of another tool. The steps are the same for every format."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sparkgen.document import Document, Node
from sparkgen.document.locks import spec_path
from sparkgen.errors import Path, SparkgenError, path_text
from sparkgen.exporting import apache, kubeflow, native, rows, submit
from sparkgen.importing import Choices, Imported, Outcome
from sparkgen.importing.draft import Draft
from sparkgen.importing.table import Table, walk
from sparkgen.importing.writing import about_findings, document_text
from sparkgen.schema.fields import APPLICATION_KINDS
from sparkgen.semantics.local_entries import spec_of

EXPORTED_KINDS = APPLICATION_KINDS
_PASSED_ON = frozenset(
    {
        *("arguments", "env", "javaOptions", "sparkConf", "hadoopConf", "sparkConfFiles", "logging"),
        *("monitoring", "eventLog", "dynamicAllocation", "allocation"),
        *("template", "initContainers", "sidecars", "lifecycle", "volumes", "volumeMounts"),
    }
)
"""Fields whose texts spark-submit passes on unchanged, or that rows.is_safe looks at."""
_ONE_RUN = "the format describes one run, without a schedule"
_SCHEDULE_STEP = "start it by a schedule of your own, such as a CronJob or a workflow"


class Tool(str, enum.Enum):
    """The tools for whose formats there is an export."""

    SPARK_SUBMIT = "spark-submit"
    KUBEFLOW = "kubeflow"
    APACHE = "apache"


@dataclass(frozen=True, slots=True)
class Exported:
    """An application in another format: its `files` (text by name, the main one first), and the `report`."""

    files: dict[str, str]
    report: Imported


def export(document: Document, tool: Tool) -> Exported:
    """Convert a valid document. Raises SparkgenError for a kind that is not in EXPORTED_KINDS."""
    kind = str(document.value["kind"])
    if kind not in EXPORTED_KINDS:
        kinds = " and ".join(EXPORTED_KINDS)
        raise SparkgenError(
            f"{document.node.position}: a {kind} cannot be exported; export documents of kind {kinds}"
        )
    _refuse_what_submits_read(document)
    return _EXPORTS[tool](document, kind)


def _refuse_what_submits_read(document: Document) -> None:
    """Raises SparkgenError for texts that mean something else to spark-submit, where it is started."""
    main = spec_of(document.value)["mainApplicationFile"]
    if str(main).startswith("-"):
        position = document.node.locate((*spec_path(document.value), "mainApplicationFile"))
        raise SparkgenError(
            f"{position}: spark-submit would read the main file {main!r} as an option; name it with its path"
        )
    for path, node in _texts(document.node, ()):
        if rows.REFERENCE.search(node.text) and _is_read_where_submitted(path, spec_path(document.value)):
            raise SparkgenError(
                f"{node.position}: {path_text(path)}: spark-submit would replace `{node.text}` by a value of "
                "the submitting machine; write the value itself"
            )


def _is_read_where_submitted(path: Path, spec: Path) -> bool:
    """Whether spark-submit reads the text, rather than passing it to the driver or into a pod.

    `spec`: the path of the application's spec: the names of its fields count, and those of its roles'.
    """
    below = path[len(spec) :] if path[: len(spec)] == spec else path
    return not _PASSED_ON.intersection(str(part) for part in below[:2])


def _texts(node: Node, path: Path) -> Iterator[tuple[Path, Node]]:
    """Yields the scalars of a document, each with its path."""
    if isinstance(node.value, str):
        yield path, node
    for key, child in node.entries.items():
        yield from _texts(child, (*path, key))
    for index, child in enumerate(node.items):
        yield from _texts(child, (*path, index))


def _to_kubeflow(document: Document, kind: str) -> Exported:
    draft = _draft(document, scheduled=kind == "ScheduledSparkApplication")
    draft.value.update({"apiVersion": kubeflow.API_VERSION, "kind": kind})
    _walk(draft, document.node, kubeflow.TABLE, kubeflow.OUTER)
    kubeflow.complete(draft)
    return _finished(draft, kind, lambda head: _yaml(draft, head))


def _to_apache(document: Document, kind: str) -> Exported:
    draft = _draft(document)
    draft.value.update({"apiVersion": apache.API_VERSION, "kind": "SparkApplication"})
    draft.value["type"] = spec_of(document.value)["type"]
    _walk(draft, document.node, apache.TABLE)
    apache.complete(draft)
    return _finished(draft, kind, lambda head: _yaml(draft, head))


def _to_submit(document: Document, kind: str) -> Exported:
    draft = _draft(document)
    _walk(draft, document.node, submit.TABLE)
    native.complete(draft)
    return _finished(draft, kind, lambda head: submit.files(draft, head))


_EXPORTS: dict[Tool, Callable[[Document, str], Exported]] = {
    Tool.SPARK_SUBMIT: _to_submit,
    Tool.KUBEFLOW: _to_kubeflow,
    Tool.APACHE: _to_apache,
}


def _draft(document: Document, *, scheduled: bool = False) -> Draft:
    draft = Draft(scheduled, document.node.position, Choices())
    empty: dict[str, Any] = {"metadata": {}, "spec": {"template": {}} if scheduled else {}, native.PODS: {}}
    draft.value.update(empty)
    return draft


def _walk(draft: Draft, node: Node, rows: Table, outer: Table | None = None) -> None:
    """Convert a document's metadata and its spec. `outer`: the rows of a schedule; None if it is lost."""
    for field in ("apiVersion", "kind"):
        draft.tell(Outcome.NEEDLESS, (field,), node.entries[field].position, (), "replaced by the tool's")
    if "metadata" in node.entries:
        walk(draft, node.entries["metadata"], ("metadata",), rows)
    spec = node.entries["spec"]
    if node.value["kind"] != "ScheduledSparkApplication":
        walk(draft, spec, ("spec",), rows)
        return
    for key, child in spec.entries.items():
        if key == "template":
            walk(draft, child, ("spec", key), rows, shift=1)
        elif outer is not None:
            walk(draft, child, ("spec", key), outer)
        else:
            draft.tell(Outcome.LOST, ("spec", key), child.position, (), _ONE_RUN, _SCHEDULE_STEP)


def _finished(draft: Draft, kind: str, write: Callable[[Sequence[str]], dict[str, str]]) -> Exported:
    entries = tuple(sorted(draft.entries, key=lambda entry: (entry.position.line, entry.position.column)))
    source = f"Exported by sparkgen from {draft.origin.file}, line {draft.origin.line}."
    files = write([source, *about_findings(entries)])
    metadata = draft.value["metadata"]
    name, namespace = str(metadata["name"]), str(metadata.get("namespace", ""))
    text = next(iter(files.values()))
    return Exported(files, Imported(name, namespace, kind, draft.origin, text, entries))


def _yaml(draft: Draft, head: Sequence[str]) -> dict[str, str]:
    value = {key: draft.value[key] for key in ("apiVersion", "kind", "metadata", "spec")}
    return {f"{value['metadata']['name']}.yaml": document_text(value, draft.comments, head)}
