"""Refusals of Kubernetes: the server's words, their code, and the message for a person. Pure.

Nearly all refusals have the status 403, so only their words tell them apart. The words are those of
Kubernetes' admission plugins (plugin/pkg/admission: resourcequota, limitranger, namespace/lifecycle,
serviceaccount, priority; pod-security-admission), of its authorizer (`ForbiddenMessage`) and of its webhook
dispatcher. No other module reads them: the runtime, `sparkgen status` and the preflight of `sparkgen apply`
all use this one.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from sparkgen.codes import Code


class Mends(enum.Enum):
    """Whether a refusal may pass with time."""

    IN_TIME = "in time"
    EARLY = "early"
    """The missing object may be applied within the first minute: a RoleBinding can come after the Job."""
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A kind of refusal.

    `name`: its code in `sparkgen status`; `words`: a part of the server's message that identifies it;
    `cause`: our words, in which `{it}` is the refused object; `step`: the next step for a person, in which
    `{who}` is driver or executor; `after`: the text in the message before the part that we repeat, None if we
    repeat nothing.
    """

    code: Code
    name: str
    words: str
    fixes: Mends
    cause: str
    step: str
    after: str | None = "is forbidden: "

    def detail(self, message: str) -> str:
        """The part of the server's message that adds something to our words; "" if there is none."""
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
"""In order: the first one whose words are in the message counts."""

BY_CODE: Mapping[str, Refusal] = {refusal.code: refusal for refusal in REFUSALS}


def refusal_in(message: str) -> Refusal | None:
    """The kind of refusal in an API server's message; None if it is not in the table."""
    return next((refusal for refusal in REFUSALS if refusal.words in message), None)
