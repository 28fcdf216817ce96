"""What an API server's answers mean: status and body to an `Answer`, a code and words. Pure."""

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
    """What an API server's answer means for the allocator."""

    DONE = "done"
    """Also "exists already" for a creation, when it is ours, and "not found" for a deletion."""
    UNKNOWN = "lost"
    """A time-out or a broken connection: it may have been done."""
    BUSY = "busy"
    """429 and 5xx: the server wants to be asked more slowly."""
    REFUSED = "refused"
    """Quota, an admission webhook, a right that may yet come: time may fix it."""
    PERMANENT = "hopeless"
    """Invalid, or forbidden for good: no time will fix it."""


EARLY = 60.0
"""Seconds in which a right, or another object, may yet be applied: a RoleBinding can come after the Job."""

MAX_WORDS = 4096
"""Characters of a server's message that are read."""
LONGEST_WAIT = 600.0
"""Seconds that a server may ask to be left alone for: no API server asks for as long."""

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
    """What the API server answered: `body` is the decoded JSON, `retry_after` the header as it came."""

    status: int
    body: Mapping[str, Any]
    retry_after: str = ""

    @property
    def message(self) -> str:
        """The server's own words."""
        found = self.body.get("message") if isinstance(self.body, dict) else None
        return " ".join(shown(found[:MAX_WORDS]).split()) if isinstance(found, str) else ""

    @property
    def reason(self) -> str:
        """Kubernetes' one word for it (Status.reason): AlreadyExists, Conflict, Expired, ..."""
        found = self.body.get("reason") if isinstance(self.body, dict) else None
        return found if isinstance(found, str) else ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an answer means; `retry_after` in seconds, where the server named a time.

    `hindrance`: why it was not done; None where it was.
    """

    answer: Answer
    hindrance: Hindrance | None = None
    retry_after: float | None = None


class CallFailed(Exception):
    """No answer came, or none that counts. `sent`: the request may have been carried out all the same.

    `retry_after`: seconds that the server wants to be left alone, where it said so.
    """

    def __init__(self, reason: str, *, sent: bool, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.sent = sent
        self.retry_after = retry_after


class AnswerTooLarge(CallFailed):
    """An answer that is larger than anybody reads here: a list may be asked for in smaller pages."""


def verdict(reply: Reply, what: str, *, early: bool = False) -> Verdict:
    """What a reply means for `what` ("create executor 5").

    `early`: within the first minute of refusals, when what is missing may yet be applied.
    """
    if 200 <= reply.status < 300:
        return Verdict(Answer.DONE)
    answer, code, words = _meaning(reply, early)
    hindrance = Hindrance(code, f"cannot {what}: {words}", reply.message[:MAX_TEXT])
    return Verdict(answer, hindrance, retry_after(reply))


def not_answered(fault: CallFailed, what: str) -> Verdict:
    """What it means that no answer came: a request that was never sent has done nothing."""
    answer = Answer.UNKNOWN if fault.sent else Answer.BUSY
    return Verdict(answer, unanswered(fault, what), fault.retry_after)


def unanswered(fault: CallFailed, what: str) -> Hindrance:
    """That no answer came, and why."""
    return Hindrance(Code.NO_ANSWER, f"cannot {what}: {fault}")


def is_missing_right(reply: Reply) -> bool:
    """Whether this is one of the refusals that may pass within `EARLY` seconds."""
    if reply.status != 403:
        return False
    found = _refusal(reply)
    return found is None or found.fixes is Mends.EARLY


def exists_already(reply: Reply) -> bool:
    """Whether a creation met an object of that name. Other conflicts (quota) have the same status."""
    return reply.status == 409 and reply.reason == "AlreadyExists"


def is_other_object(reply: Reply) -> bool:
    """Whether a deletion met another object than the one with the UID that was asked for."""
    return reply.status == 409 and "UID in" in reply.message and "precondition" in reply.message


def retry_after(reply: Reply) -> float | None:
    """Seconds that the server wants to be left alone; None when it does not say."""
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
        if found is not None and found.code is Code.WEBHOOK_FAILED:  # asked before anything is stored
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
    """The refusal that a reply tells of; a webhook may choose any status of a client's error."""
    if not 400 <= reply.status < 500 or reply.status in (401, 404, 409, 429):
        return None
    found = refusal_in(reply.message)
    return found if found and (reply.status == 403 or found.fixes is not Mends.EARLY) else None
