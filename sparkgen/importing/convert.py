"""Converts one application of an input to one document. The steps are the same for every format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sparkgen.contract import ENV_SPARK_CONF_DIR, SPARK_DEFAULTS_FILE
from sparkgen.document import Node
from sparkgen.errors import Path, Position, Severity
from sparkgen.importing import apache, conf, kubeflow, kubeflow_connect, submit
from sparkgen.importing.budget import BEYOND, BEYOND_STEP, Beyond
from sparkgen.importing.commands import Word
from sparkgen.importing.complete import complete, schedule_defaults, spark_default_instances
from sparkgen.importing.draft import Choices, Draft
from sparkgen.importing.emr import Job
from sparkgen.importing.entry import Entry, Outcome
from sparkgen.importing.imported import Imported, LeftAlone
from sparkgen.importing.naming import Names
from sparkgen.importing.properties import PropertiesFile
from sparkgen.importing.properties_files import Files
from sparkgen.importing.remarks import Remarks, tell_changed, tell_lost, tell_warnings
from sparkgen.importing.repair import Examine, note_emptied, repair
from sparkgen.importing.script import Script
from sparkgen.importing.selectors import tell_selectors
from sparkgen.importing.table import OPERATOR_LABELS, Table, walk
from sparkgen.importing.writing import about_findings, document_text
from sparkgen.model.connect import CONNECT_KIND
from sparkgen.schema.identity import API_VERSION

JOB, _SUBMIT = "job driver", "spark-submit"
_READ_AS = "read as its newest version"
_NOT_READ = (
    "it applies only to the submitting machine",
    "if the program reads it, set it in `env` of driver and executor",
)
_WRAPPERS = frozenset({"builtin", "command", "env", "exec", "nice", "nohup", "setsid", "time"})
"""Commands that only start another one."""
_STARTS = "it only says how the submitting machine starts spark-submit"
_FOLDER_READ = (
    f"import has read {SPARK_DEFAULTS_FILE} of this folder, and no other file of it",
    "if the folder has other files for Spark, write their texts in `sparkConfFiles`",
)


@dataclass(frozen=True, slots=True)
class Context:
    """The values that all applications of a call share. `files`: the files of properties that it can read."""

    choices: Choices
    examine: Examine
    names: Names
    files: Files


@dataclass(frozen=True, slots=True)
class Given:
    """An application in a YAML document: its node, the node's path, and the parser's remarks."""

    node: Node
    path: Path
    remarks: Remarks
    context: Context


def kubeflow_document(given: Given) -> Imported:
    """Convert a SparkApplication or ScheduledSparkApplication of sparkoperator.k8s.io."""
    node = given.node
    scheduled = node.value.get("kind") == "ScheduledSparkApplication"
    draft = _draft(given, "ScheduledSparkApplication" if scheduled else "SparkApplication")
    _head(draft, node, kubeflow.GROUP, "v1beta2")
    _kind(draft, node)
    if scheduled:
        spec = node.entries.get("spec")
        outer = {key: child for key, child in (spec.entries if spec else {}).items() if key != "template"}
        _metadata(draft, node, kubeflow.OUTER)
        for key, child in outer.items():
            walk(draft, child, ("spec", key), kubeflow.OUTER)
        schedule_defaults(draft)
        template = node.find(("spec", "template"))
        if template is not None:
            walk(draft, template, ("spec", "template"), kubeflow.TABLE, shift=1)
    else:
        _metadata(draft, node, kubeflow.TABLE)
        if "spec" in node.entries:
            walk(draft, node.entries["spec"], ("spec",), kubeflow.TABLE)
    kubeflow.leave_out_names(draft)
    conf.place(draft, typed=False)
    return _finished(draft, str(node.value["kind"]), given.context, given.remarks)


def connect_document(given: Given) -> Imported:
    """Convert a SparkConnect of sparkoperator.k8s.io."""
    node, draft = given.node, _draft(given, CONNECT_KIND)
    _head(draft, node, kubeflow.GROUP, "v1alpha1")
    _metadata(draft, node, kubeflow_connect.TABLE)
    if "spec" in node.entries:
        walk(draft, node.entries["spec"], ("spec",), kubeflow_connect.TABLE)
    conf.place(draft, typed=True)
    kubeflow_connect.fill_in(draft)
    spark_default_instances(draft)
    kubeflow_connect.size_server(draft, node)
    kubeflow_connect.tell_address(draft, node)
    return _finished(draft, str(node.value["kind"]), given.context, given.remarks)


def apache_document(given: Given) -> Imported:
    """Convert a SparkApplication of spark.apache.org."""
    node, draft = given.node, _draft(given, "SparkApplication")
    _head(draft, node, apache.GROUP, "v1", "v1beta1", "v1alpha1")
    _kind(draft, node)
    _metadata(draft, node, apache.TABLE)
    if "spec" in node.entries:
        walk(draft, node.entries["spec"], ("spec",), apache.TABLE)
    conf.place(draft, typed=True)
    apache.retries(draft)
    apache.fill_in(draft)
    spark_default_instances(draft)
    return _finished(draft, str(node.value["kind"]), given.context, given.remarks)


def submit_document(
    words: Sequence[Word],
    before: Sequence[Word],
    script: Script,
    file: str,
    context: Context,
) -> Imported | LeftAlone:
    """Convert a spark-submit command. `words`: from spark-submit on; `before`: the words before it."""
    place = Position(file, words[0].line, words[0].column)
    draft = _of_command(place, context)
    files = context.files
    for word in before:
        name, equals, folder = word.text.partition("=")
        if not equals and name in _WRAPPERS:
            draft.tell(Outcome.NEEDLESS, (name,), Position(file, word.line, word.column), (), _STARTS)
            continue
        defaults = files.find(f"{folder}/{SPARK_DEFAULTS_FILE}", file) if name == ENV_SPARK_CONF_DIR else None
        files = files if defaults is None else replace(files, defaults=defaults)
        reason, step = _NOT_READ if defaults is None else _FOLDER_READ
        position = Position(file, word.line, word.column)
        draft.tell(Outcome.LOST, (f"before spark-submit: {name}",), position, (), reason, step)
    try:
        submit.read(draft, words[1:], file, script.known, files)
    except Beyond:
        return not_converted(_SUBMIT, place)
    return _submitted(draft, _SUBMIT, context)


def job_document(job: Job, place: Position, context: Context) -> Imported | LeftAlone:
    """Convert a job of EMR on EKS, as the spark-submit command that EMR runs for it."""
    defaults = PropertiesFile(place.file, job.defaults)
    if job.name and not context.choices.name:
        context = replace(context, choices=replace(context.choices, name=context.names.make(job.name)))
    draft = _of_command(place, context)
    draft.entries += job.entries
    try:
        submit.read(draft, job.words, place.file, {}, replace(context.files, defaults=defaults))
    except Beyond:
        return not_converted(JOB, place)
    return _submitted(draft, JOB, context)


def not_converted(kind: str, place: Position) -> LeftAlone:
    """Returns the finding about a command that would copy more from other files than the call may copy."""
    return LeftAlone(kind, "", place, BEYOND, BEYOND_STEP, finding=True)


def _of_command(place: Position, context: Context) -> Draft:
    """Returns an empty draft for an application that a command submits."""
    draft = Draft(False, place, context.choices, names=context.names)
    draft.value.update({"apiVersion": API_VERSION, "kind": "SparkApplication", "metadata": {}, "spec": {}})
    return draft


def _submitted(draft: Draft, kind: str, context: Context) -> Imported:
    """Returns the application of a draft after its command was read."""
    conf.place(draft, typed=True)
    submit.finish(draft)
    return _finished(draft, kind, context)


def _draft(given: Given, kind: str) -> Draft:
    scheduled = kind == "ScheduledSparkApplication"
    context = given.context
    draft = Draft(scheduled, given.node.position, context.choices, below=given.path, names=context.names)
    draft.value.update({"apiVersion": API_VERSION, "kind": kind, "metadata": {}, "spec": {}})
    if scheduled:
        draft.value["spec"]["template"] = {}
    return draft


def _head(draft: Draft, node: Node, group: str, *versions: str) -> None:
    """Report `apiVersion`, and the top-level fields that no table covers."""
    version = node.entries["apiVersion"]
    known = version.text.partition("/")[2] in versions
    outcome = Outcome.NEEDLESS if known else Outcome.CHANGED
    reason = "replaced by sparkgen's" if known else f"{version.text} is {_READ_AS}"
    draft.tell(outcome, ("apiVersion",), version.position, ("apiVersion",) if not known else (), reason)
    for key, child in node.entries.items():
        if key not in ("apiVersion", "kind", "metadata", "spec", "status"):
            reason = f"{group} has no such field"
            draft.tell(Outcome.LOST, (key,), child.position, (), reason, "delete it")
    if "status" in node.entries:
        where = node.entries["status"].position
        draft.tell(Outcome.NEEDLESS, ("status",), where, (), "the operator sets it")


def _kind(draft: Draft, node: Node) -> None:
    draft.tell(Outcome.CARRIED, ("kind",), node.entries["kind"].position, ("kind",))


def _metadata(draft: Draft, node: Node, rows: Table) -> None:
    if "metadata" in node.entries:
        walk(draft, node.entries["metadata"], ("metadata",), rows)


def _finished(draft: Draft, kind: str, context: Context, remarks: Remarks | None = None) -> Imported:
    complete(draft)
    if draft.choices.labels:
        _keep_labels(draft)
    problems = repair(draft, lambda: _text(draft, kind, ()), context.examine)
    note_emptied(draft)
    if remarks is not None:
        tell_lost(draft, remarks)
        tell_changed(draft, remarks)
    tell_warnings(draft, problems)
    tell_selectors(draft)
    entries = tuple(sorted(draft.entries, key=lambda entry: (entry.position.line, entry.position.column)))
    text = _text(draft, kind, entries)
    metadata = draft.value["metadata"]
    name, namespace = str(metadata.get("name", "")), str(metadata.get("namespace", ""))
    errors = tuple(problem for problem in problems if problem.severity is Severity.ERROR)
    return Imported(name, namespace, kind, draft.origin, text, entries, errors)


def _keep_labels(draft: Draft) -> None:
    """Add the labels that the operator sets on pods: dashboards, policies and scripts may select by them."""
    name = str(draft.get("metadata", "name"))
    labels = kubeflow_connect.OPERATOR_LABELS if draft.value["kind"] == CONNECT_KIND else OPERATOR_LABELS
    for role in ("driver", "executor"):
        for key, value in labels.items():
            target = ("spec", role, "labels", key)
            if key not in (draft.get("spec", role, "labels") or {}):
                draft.put(target, value.replace("NAME", name))
        draft.comment(("spec", role, "labels"), "the operator's labels, kept for what selects by them")
    draft.entries.append(
        Entry(Outcome.ADDED, (), draft.origin, draft.place(("spec", "driver", "labels")), "--keep-labels")
    )


def _text(draft: Draft, kind: str, entries: Sequence[Entry]) -> str:
    value = {key: draft.value[key] for key in ("apiVersion", "kind", "metadata", "spec")}
    return document_text(value, draft.comments, _preface(draft, kind, entries))


def _preface(draft: Draft, kind: str, entries: Sequence[Entry]) -> list[str]:
    source = f"Imported from {kind} in {draft.origin.file}, line {draft.origin.line}."
    return [source, *about_findings(entries)]
