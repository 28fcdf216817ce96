"""What an API server's answers mean, in its own words as recorded from Kubernetes 1.36 and its sources."""

from __future__ import annotations

import pytest

from sparkgen.codes import MAX_TEXT, Code, Hindrance
from sparkgen.runtime.kubernetes.answers import (
    Answer,
    CallFailed,
    Reply,
    exists_already,
    is_missing_right,
    is_other_object,
    not_answered,
    retry_after,
    verdict,
)

POD = 'pods "pi-1a2b3c4d-7bab1-exec-5" is forbidden: '
RBAC = (
    'pods is forbidden: User "system:serviceaccount:analytics:pi" cannot create resource "pods" in API group '
    '"" in the namespace "analytics"'
)


def reply(status: int, message: str = "", reason: str = "", header: str = "") -> Reply:
    """An answer as the API server writes it."""
    body = {"kind": "Status", "status": "Failure", "message": message, "reason": reason, "code": status}
    return Reply(status, body, header)


@pytest.mark.parametrize(
    ("status", "message", "answer", "code"),
    [
        (
            403,
            f"{POD}exceeded quota: pods, requested: pods=1, used: pods=3, limited: pods=3",
            "refused",
            "QuotaExceeded",
        ),
        (
            403,
            f"{POD}failed quota: q: must specify limits.cpu for: logger",
            "hopeless",
            "QuotaNeedsLimits",
        ),
        (403, f"{POD}status unknown for quota: q, resources: pods", "refused", "QuotaNotCounted"),
        (
            403,
            'admission webhook "v.kyverno.svc" denied the request: no latest tag',
            "refused",
            "WebhookDenied",
        ),
        (
            400,
            'admission webhook "v.kyverno.svc" denied the request: no latest tag',
            "refused",
            "WebhookDenied",
        ),
        (
            422,
            f"{POD}ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
            "hopeless",
            "PolicyDenied",
        ),
        (
            403,
            f'{POD}violates PodSecurity "restricted:latest": privileged',
            "hopeless",
            "PodSecurityViolated",
        ),
        (
            403,
            f"{POD}maximum memory usage per Container is 1Gi, but limit is 2Gi",
            "hopeless",
            "LimitRangeExceeded",
        ),
        (
            403,
            f"{POD}unable to create new content because it is being terminated",
            "hopeless",
            "NamespaceTerminating",
        ),
        (422, 'Pod "x" is invalid: spec.containers[0].image: Required value', "hopeless", "Invalid"),
        (404, 'namespaces "analytics" not found', "hopeless", "NotFound"),
        (401, "Unauthorized", "refused", "Unauthorized"),
        (
            409,
            "Operation cannot be fulfilled on resourcequotas: the object has been modified",
            "busy",
            "Conflict",
        ),
        (429, "too many requests", "busy", "TooManyRequests"),
        (
            500,
            'Internal error occurred: failed calling webhook "x": connection refused',
            "refused",
            "WebhookFailed",
        ),
        (500, "etcdserver: request timed out", "lost", "InternalError"),
        (503, "", "busy", "InternalError"),
        (504, "Timeout: request did not complete", "lost", "Timeout"),
        (413, "", "hopeless", "RequestEntityTooLarge"),
        (415, "", "hopeless", "BadRequest"),
        (302, "", "busy", "InternalError"),
    ],
)
def test_every_refusal_has_a_meaning_and_a_code(status: int, message: str, answer: str, code: str) -> None:
    """What time may fix is told from what it will not; our words have the server's beside them."""
    said = verdict(reply(status, message), "create executor 5")
    assert said.answer is Answer(answer)
    assert said.hindrance is not None
    assert said.hindrance.code == Code(code)
    assert said.hindrance.message.startswith("cannot create executor 5: ")
    assert said.hindrance.detail == message


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (RBAC, Code.FORBIDDEN),
        (
            f'{POD}error looking up service account analytics/pi: serviceaccount "pi" not found',
            Code.SERVICE_ACCOUNT_NOT_FOUND,
        ),
        (f"{POD}no PriorityClass with name high was found", Code.PRIORITY_CLASS_NOT_FOUND),
        (f"{POD}whatever", Code.DENIED),
    ],
)
def test_what_is_forbidden_may_be_allowed_within_a_minute(message: str, code: Code) -> None:
    """A RoleBinding or an account may be applied after the driver: early it is refused, later for good."""
    denied = reply(403, message, "Forbidden")
    assert is_missing_right(denied)
    assert verdict(denied, "create executor 5", early=True).answer is Answer.REFUSED
    late = verdict(denied, "create executor 5")
    assert late.answer is Answer.PERMANENT
    assert late.hindrance is not None
    assert late.hindrance.code == code


def test_a_quota_is_no_missing_right() -> None:
    """A quota may have room again at any time, early or late: it does not count as a missing right."""
    full = reply(403, f"{POD}exceeded quota: pods", "Forbidden")
    assert not is_missing_right(full)
    assert not is_missing_right(reply(401, RBAC))


def test_success_is_done() -> None:
    """Any 2xx is done, and needs no words."""
    for status in (200, 201, 202):
        assert verdict(Reply(status, {"kind": "Pod"}), "create executor 5").answer is Answer.DONE


def test_conflicts_are_told_apart() -> None:
    """One status for three things: the name is taken, the quota was counted meanwhile, the UID is another."""
    exists = reply(409, 'object is being deleted: pods "x" already exists', "AlreadyExists")
    quota = reply(409, "Operation cannot be fulfilled on resourcequotas", "Conflict")
    other = reply(
        409,
        'Operation cannot be fulfilled on Pod "x": the UID in the precondition (a) does not match the UID in '
        "record (b). The object might have been deleted and then recreated",
        "Conflict",
    )
    older = reply(409, "Precondition failed: UID in precondition: a, UID in object meta: b", "Conflict")
    assert is_other_object(older)
    assert [exists_already(r) for r in (exists, quota, other)] == [True, False, False]
    assert [is_other_object(r) for r in (exists, quota, other)] == [False, False, True]


def test_how_long_the_server_wants_to_be_left_alone() -> None:
    """The header counts, then the body; dates, zeros and words say nothing."""
    in_body = Reply(429, {"details": {"retryAfterSeconds": 7}})
    assert retry_after(in_body) == 7
    assert retry_after(Reply(429, in_body.body, "3")) == 3
    assert [retry_after(reply(429, header=text)) for text in ("", "0", "soon", "Wed, 21 Oct 2026")] == [
        None
    ] * 4
    assert verdict(reply(429, header="12"), "create executor 5").retry_after == 12


def test_no_answer_is_lost_only_if_something_was_sent() -> None:
    """A request that never left has done nothing, and one that did may have."""
    assert not_answered(CallFailed("refused", sent=False), "create executor 5").answer is Answer.BUSY
    lost = not_answered(CallFailed("the API server did not answer in time", sent=True), "create executor 5")
    assert lost.answer is Answer.UNKNOWN
    text = "cannot create executor 5: the API server did not answer in time"
    assert lost.hindrance == Hindrance(Code.NO_ANSWER, text)


def test_a_message_has_bounds() -> None:
    """A webhook may answer with a page of text; an Event and a log line take a sentence."""
    assert len(str(verdict(reply(403, "x" * 10_000), "create executor 5").hindrance)) == MAX_TEXT
