"""What programs read of what went wrong: one word of this table, in Kubernetes' style, beside the sentence.

The runtime writes them into the allocator's log, `/status`, Events, termination messages and what the driver
is told; `sparkgen status` reads them. A sentence may be reworded at any time, a code stays. Where
Kubernetes has a word of its own (Status.reason, a container's waiting reason, a condition's reason), it is
that word. docs/design/codes.md has the reasons.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class Code(enum.StrEnum):
    """What went wrong, or hinders, in one word that stays the same."""

    # What the API server says: those that Kubernetes has in Status.reason first.
    UNAUTHORIZED = "Unauthorized"
    FORBIDDEN = "Forbidden"
    """The account lacks a permission."""
    NOT_FOUND = "NotFound"
    ALREADY_EXISTS = "AlreadyExists"
    CONFLICT = "Conflict"
    GONE = "Gone"
    INVALID = "Invalid"
    BAD_REQUEST = "BadRequest"
    REQUEST_ENTITY_TOO_LARGE = "RequestEntityTooLarge"
    TOO_MANY_REQUESTS = "TooManyRequests"
    TIMEOUT = "Timeout"
    INTERNAL_ERROR = "InternalError"
    """A fault of the API server's, or of sparkgen's own."""
    NO_ANSWER = "NoAnswer"
    DENIED = "Denied"
    """Admission said no, in words that no other code is for."""
    QUOTA_EXCEEDED = "QuotaExceeded"
    QUOTA_NEEDS_LIMITS = "QuotaNeedsLimits"
    QUOTA_NOT_COUNTED = "QuotaNotCounted"
    WEBHOOK_DENIED = "WebhookDenied"
    WEBHOOK_FAILED = "WebhookFailed"
    POLICY_DENIED = "PolicyDenied"
    POD_SECURITY_VIOLATED = "PodSecurityViolated"
    LIMIT_RANGE_EXCEEDED = "LimitRangeExceeded"
    NAMESPACE_TERMINATING = "NamespaceTerminating"
    SERVICE_ACCOUNT_NOT_FOUND = "ServiceAccountNotFound"
    PRIORITY_CLASS_NOT_FOUND = "PriorityClassNotFound"

    # What a pending pod waits for: the scheduler's and the kubelet's own words.
    UNSCHEDULABLE = "Unschedulable"
    SCHEDULING_GATED = "SchedulingGated"
    POD_INITIALIZING = "PodInitializing"
    CONTAINER_CREATING = "ContainerCreating"
    ERR_IMAGE_PULL = "ErrImagePull"
    IMAGE_PULL_BACK_OFF = "ImagePullBackOff"
    INVALID_IMAGE_NAME = "InvalidImageName"
    ERR_IMAGE_NEVER_PULL = "ErrImageNeverPull"
    IMAGE_INSPECT_ERROR = "ImageInspectError"
    SIGNATURE_VALIDATION_FAILED = "SignatureValidationFailed"
    CREATE_CONTAINER_CONFIG_ERROR = "CreateContainerConfigError"
    CREATE_CONTAINER_ERROR = "CreateContainerError"
    RUN_CONTAINER_ERROR = "RunContainerError"
    CRASH_LOOP_BACK_OFF = "CrashLoopBackOff"
    CONTAINER_WAITING = "ContainerWaiting"
    """For a reason that this table does not have."""
    PENDING_TIMEOUT = "PendingTimeout"

    # How an executor ended.
    OUT_OF_MEMORY = "OutOfMemory"
    HEAP_FULL = "HeapFull"
    MEMORY_RAISED = "MemoryRaised"
    """Some ended for lack of memory, so the next ones get more."""
    EXITED = "Exited"
    KILLED = "Killed"
    EVICTED = "Evicted"
    PREEMPTED = "Preempted"
    NODE_LOST = "NodeLost"
    DELETED = "Deleted"
    FAILED_TO_START = "FailedToStart"
    ENDED_UNSEEN = "EndedUnseen"

    # What the allocator itself waits for: its gates and bounds, by their field.
    MAX_PENDING_PODS = "MaxPendingPods"
    MAX_UNSCHEDULABLE_PODS = "MaxUnschedulablePods"
    WAIT_FOR_REGISTRATION = "WaitForRegistration"
    MAXIMUM_REACHED = "MaximumReached"
    HELD = "Held"
    """`spec.allocation.hold` is on."""
    HOST_PORTS_TAKEN = "HostPortsTaken"
    NODE_AVOIDED = "NodeAvoided"
    POOL_PAUSED = "PoolPaused"
    """A pool of nodes gave executors no node, or lost nodes often."""
    API_SERVER_SLOW = "ApiServerSlow"
    MAX_EXECUTOR_FAILURES = "MaxExecutorFailures"

    # What the driver cannot do, while executors are there.
    TOKENS_NOT_RENEWED = "TokensNotRenewed"
    """Delegation tokens, as HDFS has them: tasks fail when the current ones expire."""

    # Sessions of drivers outside of the allocator's pod (docs/design/client-mode.md).
    SESSION_ENDED = "SessionEnded"
    """The session is over: its drivers have to stop."""
    DRIVER_UNREACHABLE = "DriverUnreachable"
    """The session's pod does not reach the driver, so executors would not either."""

    # Why a container of ours does not do its work.
    RUN_EXPIRED = "RunExpired"
    BAD_ARTIFACT = "BadArtifact"
    """What was pushed cannot be had, or is not what the lock says: a second try would end the same way."""
    REGISTRY_AWAY = "RegistryAway"
    """The registry of the artifacts did not answer for minutes."""
    REFUSED = "Refused"


PASSING = frozenset(
    {
        Code.POD_INITIALIZING,
        Code.CONTAINER_CREATING,
        Code.API_SERVER_SLOW,
        Code.MAX_PENDING_PODS,
        Code.MAXIMUM_REACHED,
        Code.NODE_AVOIDED,
        Code.POOL_PAUSED,
        Code.MEMORY_RAISED,
    }
)
"""Of what hinders: what passes by itself, or is as the document wants it."""

IMAGES = frozenset(
    {
        Code.ERR_IMAGE_PULL,
        Code.IMAGE_PULL_BACK_OFF,
        Code.INVALID_IMAGE_NAME,
        Code.ERR_IMAGE_NEVER_PULL,
        Code.IMAGE_INSPECT_ERROR,
        Code.SIGNATURE_VALIDATION_FAILED,
    }
)
"""Reasons of a container that waits for its image (kubelet's images/types.go)."""
BAD_CONTAINER = frozenset(
    {Code.CREATE_CONTAINER_CONFIG_ERROR, Code.CREATE_CONTAINER_ERROR, Code.RUN_CONTAINER_ERROR}
)
"""Reasons of a container that cannot be made, or cannot begin."""
WAITING = (
    IMAGES
    | BAD_CONTAINER
    | {
        Code.UNSCHEDULABLE,
        Code.SCHEDULING_GATED,
        Code.POD_INITIALIZING,
        Code.CONTAINER_CREATING,
        Code.CRASH_LOOP_BACK_OFF,
    }
)
"""Kubernetes' reasons for a pending pod that are codes as they are; no other word of a pod is one."""

MAX_TEXT = 500
"""Characters of a hindrance's text."""


@dataclass(frozen=True, slots=True)
class Hindrance:
    """Why something does not go on.

    `code`: of `Code`, or of a release that has more of them; `message`: our sentence; `detail`: the words of
    whoever hinders (an API server, a scheduler, a kubelet), "" where there are none.
    """

    code: str
    message: str
    detail: str = ""

    def __str__(self) -> str:
        """Both as one text of bounded length."""
        text = f"{self.message}: {self.detail}" if self.detail else self.message
        return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"

    @property
    def facts(self) -> dict[str, str]:
        """The fields of its JSON form."""
        body = {"code": str(self.code), "message": self.message}
        return {**body, "detail": self.detail} if self.detail else body


def hindrance_of(body: object) -> Hindrance | None:
    """The hindrance in `Hindrance.facts`, read from JSON; None for anything else."""
    if not isinstance(body, Mapping):
        return None
    found: list[Any] = [body.get("code"), body.get("message"), body.get("detail", "")]
    return Hindrance(*found) if all(isinstance(each, str) for each in found) else None


_MARKED = re.compile(r"\[([A-Z][A-Za-z]{0,62})\] ")


def marked(code: str, text: object) -> str:
    """A text with its code before it, where there is room for one text alone: `[QuotaExceeded] ...`."""
    return f"[{code}] {text}"


def unmarked(text: str) -> tuple[str, str]:
    """The code before a text that `marked` made, and the text; the code is "" where there is none.

    Whatever the text holds, it cannot be taken for the code: that is read at its beginning alone.
    """
    found = _MARKED.match(text)
    return (found[1], text[found.end() :]) if found else ("", text)
