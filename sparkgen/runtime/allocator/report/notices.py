"""Notices of what a user must know about a round, which become Events on the driver's pod. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen.codes import Code, Hindrance
from sparkgen.runtime.allocator.decide import ceiling, reasons
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.values.backend import Notice
from sparkgen.runtime.allocator.values.observed import Cause, Loss, PodPhase

TOKENS = "TokensNotRenewed"
PENDING_PATIENCE = 30.0
"""Seconds that an executor may be pending before the user gets a notice with the reason."""


def notices(before: Round | None, now: Round) -> list[Notice]:
    """What a user must know about a round."""
    memory = now.decision.memory
    found = []
    if now.decision.failure is not None:
        found.append(Notice("ApplicationFailed", now.decision.failure, warning=True))
    unlisted = now.snapshot.list_failure
    if unlisted.permanent and unlisted.reason is not None:
        found.append(Notice("ExecutorsNotShown", unlisted.reason, warning=True))
    found += [Notice("Held", each) for each in reasons.held(now.settings)]
    if is_resumed(before, now):
        found.append(Notice("Resumed", Hindrance(Code.HELD, "the application is no longer held")))
    if ceiling.is_reached(now.target, now.settings):
        text = "the driver wants more executors than the maximum of all resource profiles together"
        bound = Hindrance(Code.MAXIMUM_REACHED, f"{text}: {ceiling.words(now.settings)}")
        found.append(Notice("MaximumReached", bound))
    if memory.refusals.level and memory.refusals.reason is not None:
        found.append(Notice("ExecutorsRefused", memory.refusals.reason, warning=True))
    if memory.bad_starts.level and memory.bad_starts.reason is not None:
        found.append(Notice("ExecutorsFailToStart", memory.bad_starts.reason, warning=True))
    found += [Notice(TOKENS, each, warning=True) for each in reasons.tokens(now.target)]
    paused = (one for one in memory.pools.values() if one.until > now.now and one.ended_at is None)
    found += [Notice("PoolPaused", one.reason, warning=True) for one in paused]
    raised = (one for one in now.decision.hindrances if one.code == Code.MEMORY_RAISED)
    found += [Notice("ExecutorMemoryRaised", each, warning=True) for each in raised]
    found += [
        Notice("ExecutorLost", loss.hindrance, warning=loss.by_application)
        for loss in new_losses(before, now).values()
        if loss.cause not in (Cause.KILLED, Cause.DELETED)
    ]
    return found + list(pending(now))


def is_resumed(before: Round | None, now: Round) -> bool:
    """Whether a hold has ended with this round."""
    return before is not None and before.settings.hold and not now.settings.hold


def pending(now: Round) -> Iterator[Notice]:
    """One notice for all pods that have been pending for a while, with the reason of the first."""
    stuck = [
        seen
        for seen in now.snapshot.executors.values()
        if seen.phase is PodPhase.PENDING and seen.waiting and now.now - seen.since > PENDING_PATIENCE
    ]
    if stuck and stuck[0].waiting:
        first = stuck[0].waiting
        text = f"executors have been pending for more than {PENDING_PATIENCE:.0f} s"
        if "maxUnschedulablePods" in now.decision.held:
            most = now.settings.max_unschedulable
            text += f", and no more are created (spec.allocation.maxUnschedulablePods is {most})"
        yield Notice("ExecutorsPending", first.hindering(f"{text}: "), warning=first.permanent)


def new_losses(before: Round | None, now: Round) -> dict[int, Loss]:
    """The losses that the round before did not know."""
    known = before.decision.memory.losses if before else {}
    return {id_: loss for id_, loss in now.decision.memory.losses.items() if id_ not in known}
