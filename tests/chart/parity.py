"""The one place that says how the chart's objects differ from those of `sparkgen render`.

On the chart's side, templates/_helm.tpl makes the difference.

Everything else is equal: object by object, in the same order, hashes of runs included.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from demo import Variant
from sparkgen.__main__ import run
from sparkgen.document import Document, load
from sparkgen.errors import Severity, path_text
from sparkgen.model import describe
from sparkgen.names import canonical_json
from sparkgen.resources import render
from sparkgen.schema import check
from sparkgen.semantics.registry import RULES_OF_FILES, findings_of
from sparkgen.semantics.secret import redacted

Value = dict[str, Any]

FEW = ("python-pi", "scheduled", "streaming", "history-server", "shuffle-service", "base-and-overlays-prod")
"""One example of each kind of workload, and one with an overlay: what helm itself renders in each run."""

WITH_FILES = "code-in-git"
"""The example whose files Helm gets from `sparkgen push`."""

IMAGE_VOLUMES = frozenset({"laptop-code-image-volume"})
"""Examples with image volumes, which no schema of Kubernetes 1.30 has."""

KEPT = ("helm.sh/resource-policy", "keep")
"""Helm's annotation, which the objects of one run have: a later release must not delete a running driver.

Not for the target argocd: Argo CD would take it for "never delete this", and has an annotation of its own."""
HOOK = "helm.sh/hook"
"""An object with it is Helm's own business: the removal of runs at uninstall, and `helm test`."""

UNCOUNTABLE = frozenset({"SG101", "SG103", "SG105"})
"""Rules about sizes and factors. What the chart's schema takes of them all the same is larger than Spark can
count, or longer than a factor may be: helm stops there with a message of its own."""


def without_helms_own(objects: Iterable[Value], target: str = "kubectl") -> list[Value]:
    """The chart's objects less what Helm alone needs. KEPT must be where it belongs."""
    found = []
    for item in copy.deepcopy([*objects]):
        if HOOK in item["metadata"].get("annotations", {}):
            continue
        annotations = item["metadata"].get("annotations", {})
        kinds = ("ConfigMap", "Job", "PodGroup")
        of_a_run = "sparkgen.dev/run" in item["metadata"]["labels"] and item["kind"] in kinds
        kept = of_a_run and target != "argocd"
        assert (annotations.pop(KEPT[0], None) == KEPT[1]) is kept, item["metadata"]["name"]
        if not annotations:
            item["metadata"].pop("annotations", None)
        found.append(item)
    return found


def target_of(value: Mapping[str, Any]) -> str:
    """Who applies the objects of a valid document."""
    return str(value["metadata"].get("target", "kubectl"))


def values_files(variant: Variant, folder: Path) -> list[Path]:
    """The files that Helm needs for an example; what has to be written first is written into `folder`."""
    if variant.name != WITH_FILES:
        return variant.values
    lock = folder / "files.yaml"
    assert run(["push", "--quiet", str(variant.document), "--lock", str(lock)]) == 0
    return [*variant.values, lock]


def rendered(value: Mapping[str, Any]) -> list[Value]:
    """What `sparkgen render` makes of a valid value."""
    return [dict(item) for item in render(describe(value))]


def same(first: list[Value], second: list[Value]) -> bool:
    """Whether two lists of objects are equal, as JSON: 1 is no `true`, 1.0 is 1."""
    return canonical_json(first) == canonical_json(second)


def refusing(value: Mapping[str, Any]) -> set[str]:
    """The codes of the rules that refuse a value which the document's schema takes."""
    return {rule.code for rule, _ in findings_of(value) if rule.severity is Severity.ERROR}


def errors(value: Mapping[str, Any]) -> set[tuple[str, str, str, str]]:
    """What the chart's rules refuse in such a value: code, path, message, next step."""
    return {
        (rule.code, path_text(found.path), _said(found.message), redacted(found.next_step))
        for rule, found in (*findings_of(value), *findings_of(value, RULES_OF_FILES))
        if rule.chart
    }


def refused(problems: Iterable[Mapping[str, str]]) -> set[tuple[str, str, str, str]]:
    """What the chart refuses, in the same form."""
    return {(one["code"], one["path"], one["message"], one["next"]) for one in problems}


def _said(message: str) -> str:
    """A message as the chart has it: JSON in Helm's language escapes two characters more."""
    return redacted(message).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def documents(path: Path) -> tuple[Document, ...]:
    """The documents in a file, as sparkgen reads them."""
    return load([str(path)], [], [], [], lambda: b"").documents


def read(text: str) -> Document | None:
    """The one document in a text; None where sparkgen cannot read it, or its schema refuses it."""
    loaded = load(["-"], [], [], [], text.encode)
    if any(problem.severity is Severity.ERROR for problem in loaded.problems) or len(loaded.documents) != 1:
        return None
    return None if check(loaded.documents[0]) else loaded.documents[0]
