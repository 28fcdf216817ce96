"""Rows for `metadata` of the operators' resources: name, labels, annotations, and what a server added."""

from __future__ import annotations

from sparkgen import contract
from sparkgen.importing.entry import Outcome
from sparkgen.importing.naming import application_name
from sparkgen.importing.table import Row, Take, copy
from sparkgen.names import DEFAULT_ACCOUNT, MAX_APPLICATION_NAME, RESERVED_SUFFIXES
from sparkgen.schema.fields import APPLICATION_KINDS
from sparkgen.semantics.rules_metadata import reserved
from sparkgen.semantics.wording import listed

_SERVER = "the API server sets this field"
_DEPLOYED = "the tool that deploys the manifests sets it"
_NAME = ("metadata", "name")
_RENAMED = "change what uses the old name: dashboards, alerts, Services"
_QUEUES = {contract.LABEL_QUEUE: "queue", contract.LABEL_QUEUE_PRIORITY: "priorityClassName"}
"""Labels that Kueue reads on an application -> their fields of `batchSchedulerOptions`."""


def name(given: Take) -> None:
    """Copy the application's name; shorten or clean it if a document permits less than Kubernetes."""
    draft, text = given.draft, given.node.text
    if draft.choices.name:
        draft.put(_NAME, draft.choices.name)
        given.tell(Outcome.CARRIED, _NAME, "set by --name" if draft.choices.name != text else "")
        return
    if application_name(text) != text:
        draft.put(_NAME, draft.names.make(text))
        given.tell(Outcome.CHANGED, _NAME, f"was {text!r}: {_name_rule(text)}", _RENAMED)
        return
    draft.put(_NAME, text)
    twin = draft.names.twin(str(draft.get("metadata", "namespace") or ""), text, given.node.position)
    if twin is None:
        given.tell(Outcome.CARRIED, _NAME)
        return
    reason = f"the application at {twin} has this name, too: in one namespace, one replaces the other"
    given.tell(Outcome.CHANGED, _NAME, reason, "rename one of them, or use different namespaces")


def _name_rule(text: str) -> str:
    if text.endswith(RESERVED_SUFFIXES) and len(text) <= MAX_APPLICATION_NAME:
        return (
            f"a name must not end with {listed(RESERVED_SUFFIXES, 'or')}, like objects that sparkgen renders"
        )
    if text == DEFAULT_ACCOUNT:
        return "every namespace has an account of this name"
    return f"a name has at most {MAX_APPLICATION_NAME} lower-case letters, digits and dashes"


def generated_name(given: Take) -> None:
    """Make a fixed name of `generateName`: each run gets its own name, made of the application's."""
    given.draft.put(_NAME, given.draft.names.make(given.node.text))
    given.tell(
        Outcome.CHANGED,
        _NAME,
        "was generateName: the application has a fixed name, and each run adds a hash",
        "write one document per application; to run it again, change `run.id`",
    )


def label(given: Take) -> None:
    """Copy a label, which pods get too, unless sparkgen, Kueue or a deploying tool uses its key."""
    key, text = given.keys[0], given.node.value
    own = {contract.LABEL_NAME: given.draft.get("metadata", "name"), contract.LABEL_MANAGED_BY: "sparkgen"}
    if key in own or key in (contract.LABEL_COMPONENT, contract.LABEL_ROLE, contract.LABEL_APP_ID):
        if text == own.get(key):
            given.needless("sparkgen sets it")
        else:
            given.lost("sparkgen sets this label to another value", "use another label")
    elif key in _QUEUES and given.draft.value["kind"] in APPLICATION_KINDS:
        given.draft.put(("spec", "batchScheduler"), "kueue")
        given.put(
            ("spec", "batchSchedulerOptions", _QUEUES[key]),
            text,
            Outcome.CHANGED,
            "Kueue admits the driver and then each executor, not the application as a whole",
        )
    elif key.startswith("kueue.x-k8s.io/"):
        given.put(given.target, text, Outcome.CHANGED, "Kueue sees only the object that runs the driver")
    elif not contract.belongs_on_executor(key):
        given.needless(_DEPLOYED)
    else:
        copy(given)


def annotation(given: Take) -> None:
    """Copy an annotation of the resource; here, every rendered object gets it."""
    key = given.keys[0]
    if key == "kubectl.kubernetes.io/last-applied-configuration":
        given.needless("kubectl sets it")
    elif key.startswith(("meta.helm.sh/", "helm.sh/")):
        given.needless(_DEPLOYED)
    elif why := reserved(key, given.node.value):
        given.lost(why.reason, why.step)
    elif key.startswith("argocd.argoproj.io/"):
        given.put(
            given.target,
            given.node.value,
            Outcome.CHANGED,
            "on every rendered object, not on one resource",
        )
    else:
        copy(given)


ROWS = (
    Row("metadata.name", "metadata.name", how=name),
    Row("metadata.generateName", "metadata.name", how=generated_name),
    Row("metadata.namespace", "metadata.namespace"),
    Row("metadata.labels.*", "metadata.labels.*", how=label),
    Row("metadata.annotations.*", "metadata.annotations.*", how=annotation),
    *(
        Row(f"metadata.{field}", needless=True, reason=_SERVER)
        for field in (
            "creationTimestamp",
            "deletionGracePeriodSeconds",
            "deletionTimestamp",
            "generation",
            "managedFields",
            "resourceVersion",
            "selfLink",
            "uid",
        )
    ),
    Row(
        "metadata.finalizers",
        reason="rendered objects have no finalizers",
        step="if you need the finalizer, add it to the rendered files",
    ),
    Row(
        "metadata.ownerReferences",
        reason="rendered objects have no owner",
        step="let the owner render and apply the manifests",
    ),
    Row("status", needless=True, reason="the operator sets this field"),
)
