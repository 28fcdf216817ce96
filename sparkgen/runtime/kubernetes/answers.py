"""The meaning of an API server's answers: from status and body to an `Answer`, a code and words. Pure."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparkgen.codes import MAX_TEXT, Code, Hindrance
from sparkgen.runtime.kubernetes.refusals import Mends, Refusal, refusal_in
from sparkgen.runtime.kubernetes.untrusted import shown


class Answer(enum.Enum):
    """The meaning of an API server's answer for the allocator."""

    DONE = "done"
    """Also "exists already" for a creation, if the object is ours, and "not found" for a deletion."""
    UNKNOWN = "lost"
    """A time-out or a broken connection: the request may have been carried out."""
    BUSY = "busy"
    """429 and 5xx: the server needs slower requests."""
    REFUSED = "refused"
    """Quota, an admission webhook, a permission that may still be granted: a later try may succeed."""
    PERMANENT = "hopeless"
    """Invalid, or forbidden permanently: a later try will not succeed."""


EARLY = 60.0
"""Seconds in which a permission, or another object, may still be applied: a RoleBinding can come after the
Job."""

MAX_WORDS = 4096
"""The most characters of a server's message that are read."""
LONGEST_WAIT = 600.0
"""The longest pause, in seconds, that a server may ask for: no API server asks for more."""

STATUSES: Mapping[int, tuple[Answer, Code, str]] = {
    401: (Answer.REFUSED, Code.UNAUTHORIZED, "the API server rejects the service account's token"),
    404: (Answer.PERMANENT, Code.NOT_FOUND, "the object or its namespace does not exist"),
    408: (Answer.UNKNOWN, Code.TIMEOUT, "the API server took too long"),
    409: (Answer.BUSY, Code.CONFLICT, "it conflicts with another change"),
    413: (Answer.PERMANENT, Code.REQUEST_ENTITY_TOO_LARGE, "it is too large for the API server"),
    422: (Answer.PERMANENT, Code.INVALID, "the API server rejects it as invalid"),
    429: (Answer.BUSY, Code.TOO_MANY_REQUESTS, "the API server limits the rate of requests"),
    504: (Answer.UNKNOWN, Code.TIMEOUT, "the API server took too long"),
}


@dataclass(frozen=True, slots=True)
class Reply:
    """The API server's answer: `body` is the decoded JSON, `retry_after` the header as received."""

    status: int
    body: Mapping[str, Any]
    retry_after: str = ""

    @property
    def message(self) -> str:
        """The message in the server's answer; "" if it has none."""
        found = self.body.get("message") if isinstance(self.body, dict) else None
        return " ".join(shown(found[:MAX_WORDS]).split()) if isinstance(found, str) else ""

    @property
    def reason(self) -> str:
        """Kubernetes' one-word reason (Status.reason): AlreadyExists, Conflict, Expired, ..."""
        found = self.body.get("reason") if isinstance(self.body, dict) else None
        return found if isinstance(found, str) else ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The meaning of an answer; `retry_after` in seconds, if the server named a pause.

    `hindrance`: why the request was not carried out; None if it was.
    """

    answer: Answer
    hindrance: Hindrance | None = None
    retry_after: float | None = None


class CallFailed(Exception):
    """There was no answer, or no usable one. `sent`: the request may have been carried out nevertheless.

    `retry_after`: the pause in seconds that the server asked for, if any.
    """

    def __init__(self, reason: str, *, sent: bool, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.sent = sent
        self.retry_after = retry_after


class AnswerTooLarge(CallFailed):
    """The answer is larger than the limit: a list may be requested in smaller pages."""


def verdict(reply: Reply, what: str, *, early: bool = False) -> Verdict:
    """The meaning of a reply for `what` ("create executor 5").

    `early`: within the first minute of refusals, when missing objects may still be applied.
    """
    if 200 <= reply.status < 300:
        return Verdict(Answer.DONE)
    answer, code, words = _meaning(reply, early)
    hindrance = Hindrance(code, f"cannot {what}: {words}", reply.message[:MAX_TEXT])
    return Verdict(answer, hindrance, retry_after(reply))


def not_answered(fault: CallFailed, what: str) -> Verdict:
    """The verdict if there was no answer: a request that was never sent has done nothing."""
    answer = Answer.UNKNOWN if fault.sent else Answer.BUSY
    return Verdict(answer, unanswered(fault, what), fault.retry_after)


def unanswered(fault: CallFailed, what: str) -> Hindrance:
    """The hindrance that there was no answer, with the reason."""
    return Hindrance(Code.NO_ANSWER, f"cannot {what}: {fault}")


def is_missing_right(reply: Reply) -> bool:
    """Whether a reply is one of the refusals that may pass within `EARLY` seconds."""
    if reply.status != 403:
        return False
    found = _refusal(reply)
    return found is None or found.fixes is Mends.EARLY


def exists_already(reply: Reply) -> bool:
    """Whether a creation failed because the name exists. Other conflicts (quota) have the same status."""
    return reply.status == 409 and reply.reason == "AlreadyExists"


def is_other_object(reply: Reply) -> bool:
    """Whether a deletion found another object than the one with the requested UID."""
    return reply.status == 409 and "UID in" in reply.message and "precondition" in reply.message


def retry_after(reply: Reply) -> float | None:
    """The pause in seconds that the server asked for; None if it asked for none."""
    details = reply.body.get("details") if isinstance(reply.body, dict) else None
    seconds = details.get("retryAfterSeconds") if isinstance(details, dict) else None
    for text in (reply.retry_after, str(seconds) if isinstance(seconds, int) else ""):
        if re.fullmatch(r"[0-9]{1,9}", text) and int(text):
            return min(float(text), LONGEST_WAIT)
    return None


def _meaning(reply: Reply, early: bool) -> tuple[Answer, Code, str]:
    found = _refusal(reply)
    if found is not None:
        return _in_time(found.fixes, early), found.code, found.cause.replace("{it}", "it")
    if reply.status == 403:
        return _in_time(Mends.EARLY, early), Code.DENIED, "it is forbidden"
    if reply.status in STATUSES:
        return STATUSES[reply.status]
    if reply.status >= 500:
        found = refusal_in(reply.message)
        if found is not None and found.code is Code.WEBHOOK_FAILED:  # called before anything is stored
            return Answer.REFUSED, found.code, found.cause
        late = "timed out" in reply.message or "timeout" in reply.message
        answer = Answer.UNKNOWN if late else Answer.BUSY
        return answer, Code.INTERNAL_ERROR, f"the API server has an internal error ({reply.status})"
    if 400 <= reply.status < 500:
        return Answer.PERMANENT, Code.BAD_REQUEST, f"the API server rejects it ({reply.status})"
    return Answer.BUSY, Code.INTERNAL_ERROR, f"the API server answered {reply.status}"


def _in_time(fixes: Mends, early: bool) -> Answer:
    passes = fixes is Mends.IN_TIME or (fixes is Mends.EARLY and early)
    return Answer.REFUSED if passes else Answer.PERMANENT


def _refusal(reply: Reply) -> Refusal | None:
    """The refusal in a reply. A webhook may choose any status of a client's error."""
    if not 400 <= reply.status < 500 or reply.status in (401, 404, 409, 429):
        return None
    found = refusal_in(reply.message)
    return found if found and (reply.status == 403 or found.fixes is not Mends.EARLY) else None
