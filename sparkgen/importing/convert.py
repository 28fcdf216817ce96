"""One application of an input -> one document. The steps are the same for every format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sparkgen.document import Node
from sparkgen.errors import Path, Position, Problem
from sparkgen.importing import apache, conf, kubeflow, kubeflow_connect, submit
from sparkgen.importing.complete import complete, schedule_defaults, spark_default_instances
from sparkgen.importing.draft import Choices, Draft
from sparkgen.importing.entry import FINDINGS, Entry, Outcome
from sparkgen.importing.imported import Imported
from sparkgen.importing.repair import Examine, note_emptied, repair
from sparkgen.importing.script import Script
from sparkgen.importing.shell import Word
from sparkgen.importing.table import OPERATOR_LABELS, Table, walk
from sparkgen.importing.writing import document_text
from sparkgen.model.connect import CONNECT_KIND

API_VERSION = "sparkgen.dev/v1alpha1"
_READ_AS = "read as its newest version"


def kubeflow_document(
    node: Node, path: Path, choices: Choices, examine: Examine, doubles: Sequence[Problem] = ()
) -> Imported:
    """A SparkApplication or ScheduledSparkApplication of sparkoperator.k8s.io.

    `path`: where it stands; `doubles`: keys that stand twice in the document around it.
    """
    scheduled = node.value.get("kind") == "ScheduledSparkApplication"
    draft = _draft(node, "ScheduledSparkApplication" if scheduled else "SparkApplication", choices)
    _tell_doubles(draft, path, doubles)
    _head(draft, node, path, kubeflow.GROUP, "v1beta2")
    _kind(draft, node, path)
    below = _Below(draft, path)
    if scheduled:
        spec = node.entries.get("spec")
        outer = {key: child for key, child in (spec.entries if spec else {}).items() if key != "template"}
        below.metadata(node, kubeflow.OUTER)
        for key, child in outer.items():
            below.walk(child, ("spec", key), kubeflow.OUTER)
        schedule_defaults(draft)
        template = node.find(("spec", "template"))
        if template is not None:
            below.walk(template, ("spec", "template"), kubeflow.TABLE, shift=1)
    else:
        below.metadata(node, kubeflow.TABLE)
        if "spec" in node.entries:
            below.walk(node.entries["spec"], ("spec",), kubeflow.TABLE)
    conf.place(draft, typed=False)
    return _finished(draft, str(node.value["kind"]), examine)


def connect_document(
    node: Node, path: Path, choices: Choices, examine: Examine, doubles: Sequence[Problem] = ()
) -> Imported:
    """A SparkConnect of sparkoperator.k8s.io; `path` and `doubles` as above."""
    draft = _draft(node, CONNECT_KIND, choices)
    _tell_doubles(draft, path, doubles)
    _head(draft, node, path, kubeflow.GROUP, "v1alpha1")
    below = _Below(draft, path)
    below.metadata(node, kubeflow_connect.TABLE)
    if "spec" in node.entries:
        below.walk(node.entries["spec"], ("spec",), kubeflow_connect.TABLE)
    conf.place(draft, typed=True)
    kubeflow_connect.fill_in(draft)
    spark_default_instances(draft)
    kubeflow_connect.size_server(draft, node, path)
    kubeflow_connect.tell_address(draft, node, path)
    return _finished(draft, str(node.value["kind"]), examine)


def apache_document(
    node: Node, path: Path, choices: Choices, examine: Examine, doubles: Sequence[Problem] = ()
) -> Imported:
    """A SparkApplication of spark.apache.org; `path` and `doubles` as above."""
    draft = _draft(node, "SparkApplication", choices)
    _tell_doubles(draft, path, doubles)
    _head(draft, node, path, apache.GROUP, "v1", "v1beta1", "v1alpha1")
    _kind(draft, node, path)
    below = _Below(draft, path)
    below.metadata(node, apache.TABLE)
    if "spec" in node.entries:
        below.walk(node.entries["spec"], ("spec",), apache.TABLE)
    conf.place(draft, typed=True)
    apache.retries(draft)
    apache.fill_in(draft)
    spark_default_instances(draft)
    return _finished(draft, str(node.value["kind"]), examine)


def submit_document(
    words: Sequence[Word],
    before: Sequence[Word],
    script: Script,
    file: str,
    choices: Choices,
    examine: Examine,
) -> Imported:
    """A spark-submit command; `words` start with spark-submit itself, `before` stands in front of it."""
    first = words[0]
    draft = Draft(False, Position(file, first.line, first.column), choices)
    draft.value.update({"apiVersion": API_VERSION, "kind": "SparkApplication", "metadata": {}, "spec": {}})
    for word in before:
        draft.tell(
            Outcome.LOST,
            (f"before spark-submit: {word.text.partition('=')[0]}",),
            Position(file, word.line, word.column),
            (),
            "it applies only to the submitting machine",
            "if the program reads it, set it in `env` of driver and executor",
        )
    submit.read(draft, words[1:], file, script.known)
    conf.place(draft, typed=True)
    submit.finish(draft)
    return _finished(draft, "spark-submit", examine)


def _draft(node: Node, kind: str, choices: Choices) -> Draft:
    scheduled = kind == "ScheduledSparkApplication"
    draft = Draft(scheduled, node.position, choices)
    draft.value.update({"apiVersion": API_VERSION, "kind": kind, "metadata": {}, "spec": {}})
    if scheduled:
        draft.value["spec"]["template"] = {}
    return draft


def _tell_doubles(draft: Draft, path: Path, doubles: Iterable[Problem]) -> None:
    """A key that stands twice: the value that does not count is lost."""
    for double in doubles:
        if double.path[: len(path)] == path:
            reason = f"{double.message}; the last one is used, as by kubectl"
            draft.tell(Outcome.LOST, double.path, double.position, (), reason, double.next_step)


def _head(draft: Draft, node: Node, path: Path, group: str, *versions: str) -> None:
    """`apiVersion`, and what no table is about."""
    version = node.entries["apiVersion"]
    known = version.text.partition("/")[2] in versions
    outcome = Outcome.NEEDLESS if known else Outcome.CHANGED
    reason = "replaced by sparkgen's" if known else f"{version.text} is {_READ_AS}"
    draft.tell(outcome, (*path, "apiVersion"), version.position, ("apiVersion",) if not known else (), reason)
    for key, child in node.entries.items():
        if key not in ("apiVersion", "kind", "metadata", "spec", "status"):
            reason = f"{group} has no such field"
            draft.tell(Outcome.LOST, (*path, key), child.position, (), reason, "delete it")
    if "status" in node.entries:
        where = node.entries["status"].position
        draft.tell(Outcome.NEEDLESS, (*path, "status"), where, (), "the operator sets it")


def _kind(draft: Draft, node: Node, path: Path) -> None:
    draft.tell(Outcome.CARRIED, (*path, "kind"), node.entries["kind"].position, ("kind",))


class _Below:
    """Walks parts of a document; what they tell stands below `path` (an item of a List)."""

    def __init__(self, draft: Draft, path: Path) -> None:
        self._draft, self._path = draft, path

    def metadata(self, node: Node, rows: Table) -> None:
        """Walk `metadata`."""
        if "metadata" in node.entries:
            self.walk(node.entries["metadata"], ("metadata",), rows)

    def walk(self, node: Node, place: Path, rows: Table, shift: int = 0) -> None:
        """Walk a part that stands at `place` of its document."""
        known = len(self._draft.entries)
        walk(self._draft, node, place, rows, shift)
        if not self._path:
            return
        entries = self._draft.entries
        entries[known:] = [
            Entry(e.outcome, (*self._path, *e.source), e.position, e.target, e.reason, e.step)
            for e in entries[known:]
        ]


def _finished(draft: Draft, kind: str, examine: Examine) -> Imported:
    complete(draft)
    if draft.choices.labels:
        _keep_labels(draft)
    problems = repair(draft, lambda: _text(draft, kind, ()), examine)
    note_emptied(draft)
    entries = tuple(sorted(draft.entries, key=lambda entry: (entry.position.line, entry.position.column)))
    text = _text(draft, kind, entries)
    metadata = draft.value["metadata"]
    name, namespace = str(metadata.get("name", "")), str(metadata.get("namespace", ""))
    return Imported(name, namespace, kind, draft.origin, text, entries, tuple(problems))


def _keep_labels(draft: Draft) -> None:
    """Labels that the operator puts on pods, for what selects by them: dashboards, policies, scripts."""
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
    """What stands above a document: where it comes from, and what has no place in it."""
    lines = [f"Imported from {kind} in {draft.origin.file}, line {draft.origin.line}."]
    lost = [entry for entry in entries if entry.outcome in FINDINGS and not entry.target]
    if lost:
        lines.append("Lost, or needs your attention:")
        lines += [f"  {entry.subject} (line {entry.position.line}): {entry.reason}" for entry in lost]
    return lines
