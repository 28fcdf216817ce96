"""What keeps a pod from being made or started, the driver's or an executor's: in words, with a next step.

The words of the server are those of Kubernetes' admission plugins and of its authorizer, as in
`sparkgen.runtime.kubernetes.answers`, whose sentences about executors are read here, too; those about
images, Secrets and ConfigMaps are the kubelet's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sparkgen.live.reason import Reason, detail

DRIVER, EXECUTOR = "driver", "executor"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A kind of refusal. `code` and `step` as in a Reason; `{who}` in them is driver or executor.

    `words`: the server's, by which it is known; what their group holds stands where `cause` has `{said}`.
    """

    code: str
    words: re.Pattern[str]
    cause: str
    step: str


_ACCOUNT = (
    "the service account is not there ({said})",
    "apply the ServiceAccount that is rendered, or create the one that spec.serviceAccount names",
)
REFUSALS = (
    Refusal(
        "quota",
        re.compile(r"exceeded quota: (.*)"),
        "the namespace's quota is used up ({said})",
        "wait until others end, raise the quota, or ask for less in spec.{who}",
    ),
    Refusal(
        "quota-limits",
        re.compile(r"failed quota: (.*)"),
        "the namespace's quota wants requests and limits that the {who}'s pod lacks ({said})",
        "set them in spec.{who}",
    ),
    Refusal(
        "webhook",
        re.compile(r"(admission webhook .*denied the request.*)"),
        "an admission webhook denies the {who}'s pod ({said})",
        "do what it asks for in spec.{who} (labels, securityContext), or have the policy changed",
    ),
    Refusal(
        "webhook-silent",
        re.compile(r"failed calling webhook (.*)"),
        "an admission webhook of the cluster does not answer ({said})",
        "tell those who run the cluster; it is tried again meanwhile",
    ),
    Refusal(
        "policy",
        re.compile(r"(ValidatingAdmissionPolicy .*)"),
        "an admission policy denies the {who}'s pod ({said})",
        "do what it asks for in spec.{who}, or have the policy changed",
    ),
    Refusal(
        "pod-security",
        re.compile(r"violates PodSecurity (.*)"),
        "the namespace's Pod Security level does not allow the {who}'s pod ({said})",
        "correct what it names in spec.{who}; sparkgen lint --profile pss-restricted finds it beforehand",
    ),
    Refusal(
        "limit-range",
        re.compile(r"is forbidden: (.* usage per .*)"),
        "the namespace's LimitRange does not allow the {who}'s size ({said})",
        "correct cores and memory in spec.{who}, or have the LimitRange changed",
    ),
    Refusal(
        "namespace",
        re.compile(r"(it is being terminated)"),
        "the namespace is being deleted",
        "use another namespace",
    ),
    Refusal("account", re.compile(r"error looking up service account (.*)"), *_ACCOUNT),
    Refusal("account", re.compile(r"is forbidden: (.*service account .*not found.*)"), *_ACCOUNT),
    Refusal(
        "priority",
        re.compile(r"(no PriorityClass.*)"),
        "the priority class is not there ({said})",
        "create it, or correct spec.{who}.priorityClassName",
    ),
    Refusal(
        "rights",
        re.compile(r"(User \S+ cannot .*)"),
        "the allocator lacks a right ({said})",
        "apply the Role and the RoleBinding that are rendered with it; if it has ended, run it again",
    ),
)
"""The first one that fits counts."""


def refusal(message: str, who: str) -> Reason | None:
    """What a refusal means for `who` (DRIVER or EXECUTOR); None for a message that is no such refusal."""
    text = " ".join(message.split())
    for kind in REFUSALS:
        if found := kind.words.search(text):
            cause = kind.cause.replace("{who}", who).replace("{said}", detail(found[1]))
            return Reason(kind.code, cause, kind.step.replace("{who}", who))
    return None


IMAGES = (
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "ErrImageNeverPull",
    "ImageInspectError",
    "SignatureValidationFailed",
)
"""Reasons of a container that waits for its image (kubelet's images/types.go)."""
BAD_CONTAINER = ("CreateContainerConfigError", "CreateContainerError", "RunContainerError")

_MISSING = (
    ("secret", "the Secret {} is not there", re.compile(r'secrets? "([^"]+)" not found')),
    ("secret", "the Secret {} has no key {}", re.compile(r"find key (\S+) in Secret (?:[^/\s]+/)?(\S+)")),
    ("config-map", "the ConfigMap {} is not there", re.compile(r'configmaps? "([^"]+)" not found')),
    (
        "config-map",
        "the ConfigMap {} has no key {}",
        re.compile(r"find key (\S+) in ConfigMap (?:[^/\s]+/)?(\S+)"),
    ),
    ("claim", "the claim {} is not there", re.compile(r'persistentvolumeclaim "([^"]+)" not found')),
)
"""What a pod names and does not find: the kubelet's and the scheduler's words."""


def missing(message: str, who: str) -> Reason | None:
    """A Secret, ConfigMap or claim that a pod names and that is not there; None for another message."""
    for code, cause, words in _MISSING:
        if found := words.search(message):
            named = cause.format(*reversed(found.groups()))
            return Reason(code, named, f"create it, or correct what spec.{who} or its volumes name")
    return None


def container_waits(reason: str, message: str, who: str, image: str = "") -> Reason | None:
    """What a waiting container waits for, where that does not pass by itself.

    `image`: that of the container, where it is known.
    """
    said = f" ({detail(message)})" if message else ""
    if reason in IMAGES:
        named = f"the image {image}" if image else f"an image of the {who}"
        step = "correct spec.image, or name the registry's Secret in spec.imagePullSecrets"
        return Reason("image", f"{named} cannot be had{said}", step)
    if found := missing(message, who):
        return found
    if reason in BAD_CONTAINER:
        return Reason("container", f"a container of the {who} cannot be made{said}", f"correct spec.{who}")
    return None


def no_node(message: str, who: str) -> Reason:
    """Why the scheduler finds no node, in its words."""
    if found := missing(message, who):
        return found
    return Reason(
        "no-node",
        f"no node can take the {who}'s pod ({detail(message) or 'the scheduler has not said why'})",
        f"ask for less in spec.{who}, correct nodeSelector, affinity and tolerations there, or add nodes",
    )
