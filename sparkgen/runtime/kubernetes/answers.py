"""What an API server's answers mean: status and body to an `Answer` and words. Pure.

The words of refusals are those of Kubernetes' admission plugins (plugin/pkg/admission: resourcequota,
limitranger, namespace/lifecycle, serviceaccount, priority; pod-security-admission), of its authorizer
(`ForbiddenMessage`) and of its webhook dispatcher. Their status is 403 for nearly all, so only words tell.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
    """Quota, an admission webhook, a right that may yet come: time may mend it."""
    PERMANENT = "hopeless"
    """Invalid, or forbidden for good: no time will mend it."""


EARLY = 60.0
"""Seconds in which a right, or another object, may yet be applied: a RoleBinding can come after the Job."""

MAX_MESSAGE = 500
MAX_WORDS = 4096
"""Characters of a server's message that are read."""
LONGEST_WAIT = 600.0
"""Seconds that a server may ask to be left alone for: no API server asks for as long."""

MAY_COME = "may come"
"""In the table below: refused within `EARLY` seconds of the first such answer, and for good after them."""

REFUSALS: tuple[tuple[str, Answer | str, str], ...] = (
    ("exceeded quota", Answer.REFUSED, "the namespace's quota is used up"),
    ("failed quota", Answer.PERMANENT, "the namespace's quota wants requests and limits that the pod lacks"),
    ("status unknown for quota", Answer.REFUSED, "the namespace's quota has not been counted yet"),
    ("denied the request", Answer.REFUSED, "an admission webhook denied it"),
    ("ValidatingAdmissionPolicy", Answer.PERMANENT, "an admission policy denies it"),
    (
        "violates PodSecurity",
        Answer.PERMANENT,
        "the namespace's Pod Security level does not allow such a pod",
    ),
    (" usage per ", Answer.PERMANENT, "the namespace's LimitRange does not allow its size"),
    ("it is being terminated", Answer.PERMANENT, "the namespace is being deleted"),
    ("service account", MAY_COME, "its service account is not there"),
    ("no PriorityClass", MAY_COME, "its priority class is not there"),
    ("cannot ", MAY_COME, "the service account lacks the right (are Role and RoleBinding applied?)"),
)
"""Words in the message of a refusal (the first line that fits), what they mean, and how we say it."""

STATUSES: Mapping[int, tuple[Answer, str]] = {
    401: (Answer.REFUSED, "the API server does not take the service account's token"),
    404: (Answer.PERMANENT, "the API server has no such place"),
    408: (Answer.UNKNOWN, "the API server took too long"),
    409: (Answer.BUSY, "something else changed at the same time"),
    413: (Answer.PERMANENT, "it is too large for the API server"),
    422: (Answer.PERMANENT, "the API server says that it is not valid"),
    429: (Answer.BUSY, "the API server asks for fewer calls"),
    504: (Answer.UNKNOWN, "the API server took too long"),
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
    """What an answer means; `retry_after` in seconds, where the server named a time."""

    answer: Answer
    message: str = ""
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
    answer, words = _meaning(reply, early)
    return Verdict(answer, sentence(what, words, reply.message), retry_after(reply))


def not_answered(fault: CallFailed, what: str) -> Verdict:
    """What it means that no answer came: a request that was never sent has done nothing."""
    return Verdict(
        Answer.UNKNOWN if fault.sent else Answer.BUSY, sentence(what, str(fault)), fault.retry_after
    )


def sentence(what: str, words: str, detail: str = "") -> str:
    """A message of bounded length: what could not be done, why, and the server's words."""
    text = f"cannot {what}: {words}{': ' + detail if detail else ''}"
    return text if len(text) <= MAX_MESSAGE else f"{text[: MAX_MESSAGE - 1]}…"


def is_missing_right(reply: Reply) -> bool:
    """Whether this is one of the refusals that may pass within `EARLY` seconds."""
    return reply.status == 403 and _refusal(reply)[0] is MAY_COME


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


def _meaning(reply: Reply, early: bool) -> tuple[Answer, str]:
    answer, words = _refusal(reply)
    if answer is MAY_COME:
        return Answer.REFUSED if early else Answer.PERMANENT, words
    if isinstance(answer, Answer):
        return answer, words
    if reply.status in STATUSES:
        return STATUSES[reply.status]
    if reply.status >= 500:
        late = "timed out" in reply.message or "timeout" in reply.message
        return Answer.UNKNOWN if late else Answer.BUSY, f"the API server has a fault ({reply.status})"
    if 400 <= reply.status < 500:
        return Answer.PERMANENT, f"the API server refuses it ({reply.status})"
    return Answer.BUSY, f"the API server answered {reply.status}"


def _refusal(reply: Reply) -> tuple[Answer | str | None, str]:
    """The line of `REFUSALS` for a reply; a webhook may choose any status of a client's error."""
    if not 400 <= reply.status < 500 or reply.status in (401, 404, 409, 429):
        return None, ""
    for text, answer, words in REFUSALS:
        if text in reply.message and (reply.status == 403 or answer is not MAY_COME):
            return answer, words
    return (MAY_COME, "it is forbidden") if reply.status == 403 else (None, "")
