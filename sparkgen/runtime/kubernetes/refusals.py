"""Kubernetes' refusals: the server's words, the code that they mean, and how a person is told. Pure.

Nearly all refusals have the status 403, so only words tell them apart. They are those of Kubernetes'
admission plugins (plugin/pkg/admission: resourcequota, limitranger, namespace/lifecycle, serviceaccount,
priority; pod-security-admission), of its authorizer (`ForbiddenMessage`) and of its webhook dispatcher. This
is the one place that reads them, in the cluster and in `sparkgen status` and the preflight of `sparkgen
apply`.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from sparkgen.codes import Code


class Mends(enum.Enum):
    """Whether time may fix a refusal."""

    IN_TIME = "in time"
    EARLY = "early"
    """What is missing may be applied within the first minute: a RoleBinding can come after the Job."""
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A kind of refusal.

    `name`: its code in `sparkgen status`; `words`: what the server's message has; `cause`: our words, in
    which `{it}` is what was refused; `step`: what a person does, in which `{who}` is driver or executor;
    `after`: what the message has before the part that is worth repeating, None where nothing is.
    """

    code: Code
    name: str
    words: str
    fixes: Mends
    cause: str
    step: str
    after: str | None = "is forbidden: "

    def detail(self, message: str) -> str:
        """What of the server's message says more than our words."""
        if self.after is None:
            return ""
        _, found, rest = message.partition(self.after)
        return rest if found else message


REFUSALS = (
    Refusal(
        Code.QUOTA_EXCEEDED,
        "quota",
        "exceeded quota",
        Mends.IN_TIME,
        "the namespace's quota is used up",
        "wait for other pods to end, raise the quota, or request less in spec.{who}",
        "exceeded quota: ",
    ),
    Refusal(
        Code.QUOTA_NEEDS_LIMITS,
        "quota-limits",
        "failed quota",
        Mends.NEVER,
        "the namespace's quota requires requests and limits that {it} does not have",
        "set them in spec.{who}",
        "failed quota: ",
    ),
    Refusal(
        Code.QUOTA_NOT_COUNTED,
        "quota-not-counted",
        "status unknown for quota",
        Mends.IN_TIME,
        "the namespace's quota is not calculated yet",
        "wait: the request is retried automatically",
        "status unknown for quota: ",
    ),
    Refusal(
        Code.WEBHOOK_DENIED,
        "webhook",
        "denied the request",
        Mends.IN_TIME,
        "an admission webhook denied {it}",
        "change spec.{who} as the webhook requires (labels, securityContext), or have the policy changed",
        "Error creating: ",  # of the Job's Event; the API server's own message begins with the webhook's name
    ),
    Refusal(
        Code.WEBHOOK_FAILED,
        "webhook-silent",
        "failed calling webhook",
        Mends.IN_TIME,
        "an admission webhook of the cluster does not answer",
        "tell the cluster's administrators; the request is retried until the webhook answers",
        "failed calling webhook ",
    ),
    Refusal(
        Code.POLICY_DENIED,
        "policy",
        "ValidatingAdmissionPolicy",
        Mends.NEVER,
        "an admission policy denied {it}",
        "change spec.{who} as the policy requires, or have the policy changed",
    ),
    Refusal(
        Code.POD_SECURITY_VIOLATED,
        "pod-security",
        "violates PodSecurity",
        Mends.NEVER,
        "the namespace's Pod Security level does not allow {it}",
        "fix in spec.{who} what the message names; to find it before you apply: sparkgen lint --profile "
        "pss-restricted",
        "violates PodSecurity ",
    ),
    Refusal(
        Code.LIMIT_RANGE_EXCEEDED,
        "limit-range",
        " usage per ",
        Mends.NEVER,
        "the namespace's LimitRange does not allow {it}",
        "change cores and memory in spec.{who}, or have the LimitRange changed",
    ),
    Refusal(
        Code.NAMESPACE_TERMINATING,
        "namespace",
        "it is being terminated",
        Mends.NEVER,
        "the namespace is being deleted",
        "use another namespace",
        None,
    ),
    Refusal(
        Code.SERVICE_ACCOUNT_NOT_FOUND,
        "account",
        "service account",
        Mends.EARLY,
        "the service account does not exist",
        "apply the rendered ServiceAccount, or create the one that spec.serviceAccount names",
        "error looking up service account ",
    ),
    Refusal(
        Code.PRIORITY_CLASS_NOT_FOUND,
        "priority",
        "no PriorityClass",
        Mends.EARLY,
        "the priority class does not exist",
        "create it, or correct spec.{who}.priorityClassName",
    ),
    Refusal(
        Code.FORBIDDEN,
        "rights",
        '" cannot ',
        Mends.EARLY,
        "the service account lacks a permission that the rendered Role and RoleBinding grant",
        "apply the rendered Role and RoleBinding; if the run has ended, run it again",
    ),
)
"""The first one whose words the message has counts."""

BY_CODE: Mapping[str, Refusal] = {refusal.code: refusal for refusal in REFUSALS}


def refusal_in(message: str) -> Refusal | None:
    """The kind of refusal that an API server's message tells of; None for one that is in no table."""
    return next((refusal for refusal in REFUSALS if refusal.words in message), None)
