"""Names, labels, annotations and tolerations, by the rules of the Kubernetes API."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sparkgen import contract, names
from sparkgen.errors import Path
from sparkgen.model import SERVER_KINDS
from sparkgen.semantics.facts import ROLES, DocumentFacts, ServerFacts
from sparkgen.semantics.findings import ERROR, WARNING, Finding, about_key, rule, server_rule
from sparkgen.semantics.wording import shortened

_OWN_LABELS = (
    contract.LABEL_ROLE,
    contract.LABEL_APP_ID,
    contract.LABEL_EXECUTOR_ID,
    contract.LABEL_MANAGED_BY,
    contract.LABEL_NAME,
    contract.LABEL_COMPONENT,
)
"""Labels that sparkgen sets on pods and objects, whatever the document says."""


@dataclass(frozen=True, slots=True)
class Reserved:
    """Why no document sets a label or annotation, and the next step.

    `options`: the values in lower case, in a list with commas, without which the name is harmless; none if it
    never is.
    """

    reason: str
    step: str = "delete it"
    options: frozenset[str] = frozenset()


_OTHER_PREFIX = "delete it, or choose another prefix, such as example.com/"
_EXECUTED = Reserved("kustomize and kpt execute the program that it names")

RESERVED: Mapping[str, Reserved] = {
    contract.OWN_PREFIX: Reserved(
        f"sparkgen sets and reads what begins with `{contract.OWN_PREFIX}` itself", _OTHER_PREFIX
    ),
    "helm.sh/": Reserved(
        "Helm reads, and only the chart sets, what begins with `helm.sh/` itself", _OTHER_PREFIX
    ),
    "meta.helm.sh/": Reserved("Helm sets and reads what begins with `meta.helm.sh/` itself", _OTHER_PREFIX),
    "argocd.argoproj.io/hook": Reserved(
        "before Argo CD creates a hook, at every sync, it deletes the object of that name, also of others"
    ),
    "argocd.argoproj.io/hook-delete-policy": Reserved(
        "says when Argo CD deletes a hook, and what a document renders must not be one"
    ),
    "argocd.argoproj.io/sync-options": Reserved(
        "with `Force=true` or `Replace=true`, Argo CD deletes or replaces the object of that name, also of "
        "others",
        "remove these two; other options may stay",
        frozenset({"force=true", "replace=true"}),
    ),
    "kustomize.toolkit.fluxcd.io/force": Reserved(
        "if Flux cannot change an object, it deletes the object of that name, also of others",
        options=frozenset({"enabled"}),
    ),
    "kubectl.kubernetes.io/last-applied-configuration": Reserved(
        "kubectl sets it itself, and deletes fields that it lists and that a manifest lacks"
    ),
    "applyset.kubernetes.io/": Reserved(
        "kubectl sets what begins with `applyset.kubernetes.io/` itself, and `kubectl apply --prune` deletes "
        "objects by it",
        _OTHER_PREFIX,
    ),
    "internal.config.kubernetes.io/": Reserved(
        "kustomize and kpt set what begins with `internal.config.kubernetes.io/` themselves, and by it "
        "change names in objects of others",
        _OTHER_PREFIX,
    ),
    "config.kubernetes.io/apply-time-mutation": Reserved(
        "kpt copies fields of any object in the cluster by it, after the review"
    ),
    "config.kubernetes.io/function": _EXECUTED,
    "config.k8s.io/function": _EXECUTED,
    "config.kubernetes.io/local-config": Reserved("kustomize and kpt leave out an object that has it"),
    "config.kubernetes.io/path": Reserved("kpt writes the object over the file that it names"),
}
"""Name of a label or annotation, or prefix that ends in `/` -> why no document sets it.

Here are those by which a tool deletes, replaces or changes objects of others, executes something, or applies
something else than was reviewed. What only protects a document's own objects is not, such as `Prune=false`.
Flux and kustomize read labels like annotations. Sources: Argo CD, gitops-engine/pkg/sync/sync_task.go and
common/types.go; Flux, ssa/utils AnyInMetadata; kubectl, pkg/cmd/apply; kustomize, api/internal/utils and
kyaml/fn; cli-utils, pkg/object/mutation.
"""
_MAPS = frozenset({"labels", "annotations", "serviceLabels", "serviceAnnotations"})
"""Names of all fields, also in pod templates, that set labels or annotations. Selectors have other names."""

_CLAIMED = "is not rendered: a controller would take over the executor's pod, and delete it or hold it back"

_NOT_QUEUED = "is not rendered: Kueue reads it on executors that wait in a queue"
_LONGEST_VALUE = 63
_LONGEST_PREFIX = 253
_VALUE_WORDS = (
    f"at most {_LONGEST_VALUE} letters, digits, `-`, `_` and `.`, with a letter or digit at both ends"
)


@rule("SG104", ERROR)
def names_too_long(facts: DocumentFacts) -> Iterator[Finding]:
    """Names too long once their suffix is added (sparkgen.names), or for the label that they become."""
    name = facts.name
    if len(name) > names.MAX_APPLICATION_NAME:
        yield Finding(
            ("metadata", "name"),
            f"has {len(name)} characters, and names built from it would be too long for Kubernetes",
            shortened(name),
            f"at most {names.MAX_APPLICATION_NAME} characters",
            f"shorten it by {len(name) - names.MAX_APPLICATION_NAME}, for example to "
            f"`{name[: names.MAX_APPLICATION_NAME].rstrip('-')}`",
        )
    app_id = facts.conf.get("spark.app.id")
    if app_id is not None and not _is_value(app_id):
        yield Finding(
            facts.path("sparkConf", "spark.app.id"),
            "becomes a pod label, and Kubernetes refuses this value",
            shortened(app_id),
            f"at most {_LONGEST_VALUE} letters, digits, `-`, `_` and `.`",
            "shorten it, or delete it: each run gets its own ID",
        )


@rule("SG171", ERROR)
def label_syntax(facts: DocumentFacts) -> Iterator[Finding]:
    """Labels, annotations and node selectors that the API server refuses (metav1/validation)."""
    for path, labels in _label_maps(facts):
        for key, value in labels.items():
            yield from _key(path, key)
            if isinstance(value, str) and not _is_value(value):
                yield Finding(
                    (*path, key),
                    "Kubernetes refuses this label value",
                    shortened(value),
                    _VALUE_WORDS,
                    "shorten or change it; use an annotation for a longer string",
                )
    for path, given in _annotation_maps(facts):
        for key in given:
            yield from _key(path, key)


def _label_maps(facts: DocumentFacts) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    yield ("metadata", "labels"), facts.value["metadata"].get("labels") or {}
    for section in ("sparkUIOptions", "connect", "notebook"):
        yield facts.path(section, "serviceLabels"), facts.get(section, "serviceLabels") or {}
    for role in ROLES:
        for field in ("labels", "nodeSelector"):
            yield facts.path(role, field), facts.role(role).get(field) or {}
        yield (
            facts.path(role, "template", "metadata", "labels"),
            facts.get(role, "template", "metadata", "labels") or {},
        )
        yield (
            facts.path(role, "template", "spec", "nodeSelector"),
            facts.template(role).get("nodeSelector") or {},
        )


def _annotation_maps(facts: DocumentFacts) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    yield ("metadata", "annotations"), facts.value["metadata"].get("annotations") or {}
    for path in (
        ("sparkUIOptions", "serviceAnnotations"),
        ("connect", "serviceAnnotations"),
        ("notebook", "serviceAnnotations"),
        ("serviceAccount", "annotations"),
    ):
        yield facts.path(*path), facts.get(*path) or {}
    for role in ROLES:
        yield facts.path(role, "annotations"), facts.role(role).get("annotations") or {}
        inside = facts.get(role, "template", "metadata", "annotations") or {}
        yield facts.path(role, "template", "metadata", "annotations"), inside


def _key(path: Path, key: str) -> Iterator[Finding]:
    prefix, slash, name = key.rpartition("/")
    part = r"[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?"
    if len(name) > _LONGEST_VALUE or not re.fullmatch(part, name):
        message = f"`{shortened(name)}` is not a valid name for a label or annotation"
        yield about_key((*path, key), message, "rename it", _VALUE_WORDS)
    domain = r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*"
    if slash and (len(prefix) > _LONGEST_PREFIX or not re.fullmatch(domain, prefix.lower())):
        message = f"`{shortened(prefix)}` is not a domain: the part before the `/` must be one"
        yield about_key((*path, key), message, "rename it", "a domain, such as example.com")


def _is_value(text: str) -> bool:
    return len(text) <= _LONGEST_VALUE and bool(
        re.fullmatch(r"([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?", text)
    )


@rule("SG172", WARNING)
def owned_labels(facts: DocumentFacts) -> Iterator[Finding]:
    """Labels that sparkgen sets; labels and annotations by which a controller would claim an executor."""
    maps: list[tuple[Path, Mapping[str, Any]]] = [
        (("metadata", "labels"), facts.value["metadata"].get("labels") or {})
    ]
    for role in ROLES:
        maps.append((facts.path(role, "labels"), facts.role(role).get("labels") or {}))
        inside = facts.get(role, "template", "metadata", "labels") or {}
        maps.append((facts.path(role, "template", "metadata", "labels"), inside))
    for path, labels in maps:
        for key, value in labels.items():
            if key in _OWN_LABELS and value != _own_value(facts, path, key):
                message = "sparkgen sets this label itself"
                yield about_key((*path, key), message, "delete it, or rename it")
            elif "executor" in path and not contract.belongs_on_executor(key):
                yield about_key((*path, key), _CLAIMED, "delete it")
    queued = facts.get("batchScheduler") == "kueue"
    for path, given in _annotation_maps(facts):
        for key in given:
            if "executor" in path and not contract.belongs_on_executor(key):
                yield about_key((*path, key), _CLAIMED, "delete it")
            elif "executor" in path and key in contract.QUEUE_TOPOLOGY and not queued:
                yield about_key((*path, key), _NOT_QUEUED, "add `batchScheduler: kueue`, or delete it")


def _own_value(facts: DocumentFacts, path: Path, key: str) -> str | None:
    """Returns the value that sparkgen gives a label; None if it is unknown."""
    if key == contract.LABEL_NAME:
        return facts.name
    if key == contract.LABEL_MANAGED_BY:
        return "sparkgen"
    if key in (contract.LABEL_ROLE, contract.LABEL_COMPONENT):
        return next((role for role in ROLES if role in path), None)
    return None


@rule("SG323", ERROR)
def reserved_names(facts: DocumentFacts) -> Iterator[Finding]:
    """Labels and annotations of an application that only sparkgen or a tool that applies objects sets."""
    yield from _reserved(facts.value, ())


@server_rule("SG323", ERROR, kinds=SERVER_KINDS)
def reserved_server_names(facts: ServerFacts) -> Iterator[Finding]:
    """The same, of a server."""
    yield from _reserved(facts.value, ())


def _reserved(value: Any, path: Path) -> Iterator[Finding]:
    if isinstance(value, list):
        value = dict(enumerate(value))
    for key, inside in value.items() if isinstance(value, Mapping) else ():
        if path and path[-1] in _MAPS and (why := reserved(str(key), inside)):
            found = shortened(str(inside if why.options else key))
            yield Finding((*path, key), why.reason, found, next_step=why.step, on_key=True)
        yield from _reserved(inside, (*path, key))


def reserved(key: str, text: Any) -> Reserved | None:
    """Returns why no document sets this label or annotation; None if it may."""
    prefix, slash, _ = key.partition("/")
    found = RESERVED.get(key) or RESERVED.get(prefix + slash)
    if found and found.options:
        return found if found.options & {one.strip() for one in str(text).lower().split(",")} else None
    return found


@rule("SG173", ERROR)
def tolerations(facts: DocumentFacts) -> Iterator[Finding]:
    """Tolerations that the API server refuses (core/validation ValidateTolerations)."""
    for role in ROLES:
        items = [(facts.path(role, "tolerations", index), item) for index, item in _listed(facts.role(role))]
        template = facts.path(role, "template", "spec", "tolerations")
        items += [((*template, index), item) for index, item in _listed(facts.template(role))]
        for path, item in items:
            yield from _toleration(path, item)


def _listed(value: Mapping[str, Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    yield from enumerate(value.get("tolerations") or ())


def _toleration(path: Path, item: Mapping[str, Any]) -> Iterator[Finding]:
    if item.get("operator") == "Exists" and item.get("value"):
        message = "a toleration with `operator: Exists` has no value"
        step = "delete `value`, or write `operator: Equal`"
        yield about_key((*path, "value"), message, step)
    if not item.get("key") and item.get("operator", "Equal") != "Exists":
        message = "a toleration without `key` needs `operator: Exists`"
        step = "add `key`, or `operator: Exists` to tolerate every taint"
        yield Finding(path, message, str(item.get("operator", "")), next_step=step)
    if item.get("tolerationSeconds") is not None and item.get("effect") != "NoExecute":
        yield about_key(
            (*path, "tolerationSeconds"),
            "has an effect only with `effect: NoExecute`",
            "delete it, or write `effect: NoExecute`",
        )
