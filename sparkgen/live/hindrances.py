"""What the allocator says of executors that do not come, by its codes, as a reason with a next step. Pure."""

from __future__ import annotations

import json
import re

from sparkgen import contract
from sparkgen.codes import PASSING, WAITING, Code, Hindrance, hindrance_of
from sparkgen.live.pod_reasons import EXECUTOR, bad_artifact, container_waits, no_node, refused
from sparkgen.live.reason import Reason, detail
from sparkgen.live.values import annotation_of
from sparkgen.objects import ObjectView
from sparkgen.runtime.kubernetes.refusals import BY_CODE

MEMORY = (Code.OUT_OF_MEMORY, Code.HEAP_FULL)


def in_event(event: ObjectView) -> Hindrance:
    """What an Event of the allocator's says; its code is "" where a release before the codes wrote it."""
    try:
        found = hindrance_of(json.loads(annotation_of(event, contract.ANNOTATION_HINDRANCE)))
    except (ValueError, RecursionError):
        found = None
    return found or Hindrance("", str(event.get("message") or ""))


def hindered(hindrance: Hindrance) -> Reason | None:
    """Why executors do not come; None for what passes by itself."""
    if hindrance.code in PASSING:
        return None
    known = known_reason(hindrance)
    return known or Reason("executors", f"executors are not created ({detail(str(hindrance))})")


def stopped(hindrance: Hindrance) -> Reason:
    """Why the allocator, or the scheduler jar, has ended the application."""
    return known_reason(hindrance) or Reason("stopped", detail(str(hindrance)))


def known_reason(hindrance: Hindrance) -> Reason | None:
    """What a code means for executors; None for one that the sentence alone explains."""
    code = hindrance.code
    if kind := BY_CODE.get(code):
        return refused(kind, hindrance.detail or hindrance.message, EXECUTOR)
    if code in MEMORY:
        return executor_memory(str(hindrance))
    if code == Code.BAD_ARTIFACT:
        return bad_artifact(hindrance.message, hindrance.detail)
    if code == Code.RUN_EXPIRED:
        cause, _, step = hindrance.message.partition("; ")
        return Reason("expired", detail(cause), detail(step))
    if code == Code.UNSCHEDULABLE:
        return no_node(hindrance.detail, EXECUTOR)
    return container_waits(code, hindrance.detail, EXECUTOR) if code in WAITING else None


def tokens_end(hindrance: Hindrance) -> Reason:
    """Delegation tokens that the driver cannot renew. They are good for a while yet."""
    step = (
        "look in the driver's log for the reason: a service or KDC may be down, or the key of the keytab has "
        "changed; the driver retries automatically"
    )
    return Reason("tokens", detail(str(hindrance)), step)


def executor_memory(message: str) -> Reason:
    """An executor that needed more memory than it may have. What the message says to do is the next step."""
    what = re.sub(r": raise [^()]*+(\)?)", lambda found: found[1] or found[0], message)
    return Reason(
        "executor-memory",
        f"executors run out of memory; {detail(what)}",
        "raise spec.executor.memoryOverhead (Python, native memory) or spec.executor.memory (Java's heap)",
    )
