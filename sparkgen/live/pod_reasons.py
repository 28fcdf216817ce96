"""Why a pod, the driver's or an executor's, is not created or not started: in words, with a next step.

Refusals of the API server are known by the table of `sparkgen.runtime.kubernetes.refusals`. The words about
images, Secrets and ConfigMaps are the kubelet's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sparkgen.codes import BAD_CONTAINER, IMAGES
from sparkgen.live.reason import Reason, detail
from sparkgen.runtime.kubernetes.refusals import Refusal, refusal_in

DRIVER, EXECUTOR, SESSION = "driver", "executor", "session"
_SECTIONS = {SESSION: DRIVER}
"""Whose pod -> the section of the document that configures it, if it has another name."""


def refusal(message: str, who: str) -> Reason | None:
    """Returns the reason for an API server's refusal of the pod of `who`; None for another message."""
    text = " ".join(message.split())
    kind = refusal_in(text)
    return refused(kind, text, who) if kind else None


def refused(kind: Refusal, message: str, who: str) -> Reason:
    """Returns the reason for a refusal of a known kind. `message`: the API server's."""
    said = detail(kind.detail(message))
    cause = kind.cause.replace("{it}", f"the {who}'s pod") + (f" ({said})" if said else "")
    return Reason(kind.name, cause, kind.step.replace("{who}", _SECTIONS.get(who, who)))


_MISSING = (
    ("secret", "the Secret {} does not exist", re.compile(r'secrets? "([^"]+)" not found')),
    ("secret", "the Secret {} has no key {}", re.compile(r"find key (\S+) in Secret (?:[^/\s]+/)?(\S+)")),
    ("config-map", "the ConfigMap {} does not exist", re.compile(r'configmaps? "([^"]+)" not found')),
    (
        "config-map",
        "the ConfigMap {} has no key {}",
        re.compile(r"find key (\S+) in ConfigMap (?:[^/\s]+/)?(\S+)"),
    ),
    ("claim", "the claim {} does not exist", re.compile(r'persistentvolumeclaim "([^"]+)" not found')),
)
"""The kubelet's and the scheduler's messages about objects that a pod names and that do not exist."""
_NO_CLASS = re.compile(r'storageclass(?:\.storage\.k8s\.io)? "([^"]+)" not found')
_UNBOUND = re.compile(
    r"unbound immediate PersistentVolumeClaims|didn't find available persistent volumes to bind|"
    r"had volume node affinity conflict"
)
"""The scheduler's messages about claims that are not bound, or are bound on another node."""


def missing(message: str, who: str) -> Reason | None:
    """Finds a Secret, ConfigMap or claim that a pod names and that does not exist; or None."""
    for code, cause, words in _MISSING:
        if match := words.search(message):
            named = cause.format(*reversed(match.groups()))
            return Reason(
                code, named, f"create it, or fix its name in spec.{_SECTIONS.get(who, who)} or spec.volumes"
            )
    return None


PUSH_AGAIN = "push it again: sparkgen push FILE, and apply the document with its lock"


def bad_artifact(cause: str, step: str = "") -> Reason:
    """Returns the reason that an artifact cannot be pulled, or differs from the lock: `fetch`'s message."""
    return Reason("artifact", detail(cause), detail(step) or PUSH_AGAIN)


def artifact_waits(reason: str, message: str, artifacts: Iterable[str]) -> Reason | None:
    """Finds an image volume that cannot be pulled; None if the message is about none of `artifacts`."""
    named = next((artifact for artifact in artifacts if artifact in message), None)
    if reason not in IMAGES or named is None:
        return None
    return Reason(
        "artifact",
        f"the artifact {named} cannot be pulled ({detail(message)})",
        f"{PUSH_AGAIN}; or set spec.delivery.pullSecret to the registry's Secret",
    )


def container_waits(reason: str, message: str, who: str, image: str = "") -> Reason | None:
    """Returns what a container waits for, if that does not pass by itself.

    `image`: the container's, if it is known.
    """
    said = f" ({detail(message)})" if message else ""
    if reason in IMAGES:
        named = f"the image {image}" if image else f"an image of the {who}"
        step = "fix spec.image, or add the registry's Secret to spec.imagePullSecrets"
        return Reason("image", f"{named} cannot be pulled{said}", step)
    if absence := missing(message, who):
        return absence
    if reason in BAD_CONTAINER:
        return Reason(
            "container",
            f"a container of the {who} cannot be created{said}",
            f"fix spec.{_SECTIONS.get(who, who)}",
        )
    return None


def no_node(message: str, who: str) -> Reason:
    """Returns why the scheduler finds no node, from its message."""
    if absence := missing(message, who):
        return absence
    if absent := _NO_CLASS.search(message):
        step = "create the claim again with a StorageClass that kubectl get storageclass lists"
        return Reason(
            "claim",
            f"a claim of the {who}'s pod names the StorageClass {absent[1]}, which does not exist",
            step,
        )
    if _UNBOUND.search(message):
        return Reason(
            "claim",
            f"no volume fits a claim of the {who}'s pod ({detail(message)})",
            "see why: kubectl get pvc,storageclass; give the claim a storageClassName that makes volumes",
        )
    return Reason(
        "no-node",
        f"no node fits the {who}'s pod ({detail(message) or 'the scheduler gives no reason'})",
        f"in spec.{_SECTIONS.get(who, who)}, request less or fix nodeSelector, affinity and tolerations; "
        "or add nodes",
    )
