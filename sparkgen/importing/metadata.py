"""`metadata` of the two operators' resources: name, labels and annotations, and what a server added."""

from __future__ import annotations

from sparkgen import contract
from sparkgen.importing.entry import Outcome
from sparkgen.importing.naming import application_name
from sparkgen.importing.table import Row, Take, copy
from sparkgen.schema.fields import APPLICATION_KINDS

_SERVER = "the API server sets it"
_DEPLOYED = "whatever deploys the manifests sets it"
_NAME = ("metadata", "name")
_QUEUES = {contract.LABEL_QUEUE: "queue", contract.LABEL_QUEUE_PRIORITY: "priorityClassName"}
"""Labels that Kueue reads on an application -> the field of `batchSchedulerOptions`."""


def name(given: Take) -> None:
    """The application's name, shortened and cleaned where a document allows less than Kubernetes."""
    draft, text = given.draft, given.node.text
    if draft.choices.name:
        draft.put(_NAME, draft.choices.name)
        given.tell(Outcome.CARRIED, _NAME, "named by --name" if draft.choices.name != text else "")
        return
    fitting = application_name(text)
    if fitting == text:
        given.put(_NAME, text)
        return
    draft.put(_NAME, fitting)
    given.tell(
        Outcome.CHANGED,
        _NAME,
        f"was {text!r}: names have at most 45 lower-case letters, digits and dashes here",
        "look for what names the application: dashboards, alerts, Services",
    )


def generated_name(given: Take) -> None:
    """`generateName`: a run gets a name of its own anyway, made of the application's."""
    given.draft.put(_NAME, application_name(given.node.text))
    given.tell(
        Outcome.CHANGED,
        _NAME,
        "was generateName: here the application has one name, and each run adds a hash to it",
        "submit one document per application; change `run.id` to run it again",
    )


def label(given: Take) -> None:
    """A label of the resource: it comes to the pods too, unless a controller would take them for its own."""
    key, text = given.keys[0], given.node.value
    own = {contract.LABEL_NAME: given.draft.get("metadata", "name"), contract.LABEL_MANAGED_BY: "sparkgen"}
    if key in own or key in (contract.LABEL_COMPONENT, contract.LABEL_ROLE, contract.LABEL_APP_ID):
        if text == own.get(key):
            given.needless("sparkgen sets it itself")
        else:
            given.lost("sparkgen sets this label itself, to another value", "select by another label")
    elif key in _QUEUES and given.draft.value["kind"] in APPLICATION_KINDS:
        given.draft.put(("spec", "batchScheduler"), "kueue")
        given.put(
            ("spec", "batchSchedulerOptions", _QUEUES[key]),
            text,
            Outcome.CHANGED,
            "Kueue admits the driver, and then each executor by itself, not the application as a whole",
        )
    elif key.startswith("kueue.x-k8s.io/"):
        given.put(given.target, text, Outcome.CHANGED, "Kueue sees the object that runs the driver only")
    elif not contract.belongs_on_executor(key):
        given.needless(_DEPLOYED)
    else:
        copy(given)


def annotation(given: Take) -> None:
    """An annotation of the resource: here it stands on every object that is rendered."""
    key = given.keys[0]
    if key == "kubectl.kubernetes.io/last-applied-configuration":
        given.needless("kubectl sets it")
    elif key.startswith("meta.helm.sh/"):
        given.needless(_DEPLOYED)
    elif key.startswith(("argocd.argoproj.io/", "helm.sh/")):
        given.put(
            given.target,
            given.node.value,
            Outcome.CHANGED,
            "stands on every rendered object here, not on one resource",
        )
    else:
        copy(given)


ROWS = (
    Row("metadata.name", "metadata.name", how=name, words="shortened to 45 characters where it is longer"),
    Row(
        "metadata.generateName",
        "metadata.name",
        how=generated_name,
        words="the name; each run adds a hash to it",
    ),
    Row("metadata.namespace", "metadata.namespace"),
    Row(
        "metadata.labels.*",
        "metadata.labels.*",
        how=label,
        words="copied; those that a deploying tool sets are left out",
    ),
    Row(
        "metadata.annotations.*",
        "metadata.annotations.*",
        how=annotation,
        words="copied; those that a deploying tool sets are left out",
    ),
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
        reason="no rendered object has a finalizer",
        step="add it to the rendered files, if something waits for it",
    ),
    Row(
        "metadata.ownerReferences",
        reason="the rendered objects have no owner",
        step="let the owner render and apply the manifests",
    ),
    Row("status", needless=True, reason="the operator sets it"),
)
