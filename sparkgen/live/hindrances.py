"""Turns the allocator's codes about executors that do not start into reasons with a next step. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sparkgen import contract
from sparkgen.codes import PASSING, WAITING, Code, Hindrance, hindrance_of
from sparkgen.jsonvalue import decode
from sparkgen.live.pod_reasons import EXECUTOR, bad_artifact, container_waits, no_node, refused
from sparkgen.live.reason import Reason, detail
from sparkgen.live.values import annotation_of
from sparkgen.objects import ObjectView
from sparkgen.runtime.kubernetes.refusals import BY_CODE

MEMORY = (Code.OUT_OF_MEMORY, Code.HEAP_FULL)

WITH_STEP: Mapping[str, str] = {
    Code.RUN_EXPIRED: "expired",
    Code.MEMORY_RAISED: "memory-raised",
    Code.HELD: "held",
}
"""Codes whose message has the next step after a semicolon -> the reason's name."""


def in_event(event: ObjectView) -> Hindrance:
    """Returns the hindrance in an Event of the allocator; its code is "" from releases without codes."""
    try:
        hindrance = hindrance_of(decode(annotation_of(event, contract.ANNOTATION_HINDRANCE)))
    except ValueError:
        hindrance = None
    return hindrance or Hindrance("", str(event.get("message") or ""))


def hindered(hindrance: Hindrance) -> Reason | None:
    """Returns why executors do not start; None for a hindrance that passes by itself."""
    if hindrance.code in PASSING:
        return None
    known = known_reason(hindrance)
    return known or Reason("executors", f"executors are not created ({detail(str(hindrance))})")


def stopped(hindrance: Hindrance) -> Reason:
    """Returns why the allocator, or the scheduler jar, has ended the application."""
    return known_reason(hindrance) or Reason("stopped", detail(str(hindrance)))


def known_reason(hindrance: Hindrance) -> Reason | None:
    """Returns the reason for a hindrance's code; None for a code that only its sentence explains."""
    code = hindrance.code
    if kind := BY_CODE.get(code):
        return refused(kind, hindrance.detail or hindrance.message, EXECUTOR)
    if code in MEMORY:
        return executor_memory(str(hindrance))
    if code == Code.BAD_ARTIFACT:
        return bad_artifact(hindrance.message, hindrance.detail)
    if code in WITH_STEP:
        cause, _, step = hindrance.message.partition("; ")
        return Reason(WITH_STEP[code], detail(cause), detail(step))
    if code == Code.UNSCHEDULABLE:
        return no_node(hindrance.detail, EXECUTOR)
    return container_waits(code, hindrance.detail, EXECUTOR) if code in WAITING else None


def tokens_end(hindrance: Hindrance) -> Reason:
    """Returns the reason for delegation tokens that the driver cannot renew. They stay valid for a while."""
    step = (
        "look in the driver's log for the reason: a service or KDC may be down, or the key of the keytab has "
        "changed; the driver retries automatically"
    )
    return Reason("tokens", detail(str(hindrance)), step)


def executor_memory(message: str) -> Reason:
    """Returns the reason for executors that needed too much memory. It drops the message's own advice."""
    what = re.sub(r": raise [^()]*+(\)?)", lambda found: found[1] or found[0], message)
    return Reason(
        "executor-memory",
        f"executors run out of memory; {detail(what)}",
        "raise spec.executor.memoryOverhead (Python, native memory) or spec.executor.memory (Java's heap)",
    )
