"""Updates the memory with the outcomes of earlier actions. Pure.

The rate of writes is learned as in TCP: one more write in flight after each successful one, and half as many
after an answer that asks to slow down, or without an answer. The bounds are such that a hundred allocators
may use them at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sparkgen.codes import Hindrance
from sparkgen.runtime.allocator.values.actions import ActionOutcome, Create, Delete
from sparkgen.runtime.allocator.values.memory import AllocatorMemory, Backoff, CreateRequest, Rate
from sparkgen.runtime.kubernetes.answers import Answer

MAX_WINDOW = 16
"""The most writes in flight: measured, 16 threads reach 97 % of what a server takes from 32."""
SHORTEST_PAUSE = 1.0
LONGEST_WRITE_PAUSE = 120.0
DELETE_PAUSE = 5.0
"""Seconds before a failed deletion is repeated."""


def apply_outcomes(
    memory: AllocatorMemory, outcomes: Sequence[ActionOutcome], now: float, jitter: float = 0.5
) -> AllocatorMemory:
    """Returns the memory after these outcomes. `jitter`, from 0 to 1, varies the length of pauses."""
    for outcome in outcomes:
        memory = replace(memory, rate=_rate(memory.rate, outcome, now))
        if isinstance(outcome.action, Create):
            memory = _created(memory, outcome.action, outcome, now, jitter)
        else:
            memory = _deleted(memory, outcome.action, outcome, now, jitter)
    return memory


def next_pause(level: int, jitter: float) -> float:
    """Seconds to wait after `level` (1, 2, ...) failed rounds: 1, 2, 4 ... 120, or down to half of it."""
    longest = min(LONGEST_WRITE_PAUSE, SHORTEST_PAUSE * (1 << min(level - 1, 10)))
    return longest * (0.5 + jitter / 2)


def next_backoff(
    backoff: Backoff, reason: Hindrance | None, now: float, jitter: float, *, permanent: bool = False
) -> Backoff:
    """Returns the back-off after one more failure; failures during a pause belong to the same round."""
    if now < backoff.until:
        return backoff
    level = backoff.level + 1
    return Backoff(level, now + next_pause(level, jitter), reason, backoff.permanent + 1 if permanent else 0)


def _rate(rate: Rate, outcome: ActionOutcome, now: float) -> Rate:
    if outcome.answer in (Answer.BUSY, Answer.UNKNOWN):
        asked = outcome.retry_after
        pause = SHORTEST_PAUSE if asked is None else min(asked, LONGEST_WRITE_PAUSE)
        if now < rate.resume_at:  # one storm, one reaction: the others were in flight with it
            return rate if asked is None else replace(rate, resume_at=max(rate.resume_at, now + pause))
        return Rate(max(1, rate.window // 2), now + pause)
    return replace(rate, window=min(MAX_WINDOW, rate.window + 1))


def _created(
    memory: AllocatorMemory, action: Create, outcome: ActionOutcome, now: float, jitter: float
) -> AllocatorMemory:
    request = memory.requests.get(action.id)
    others = {id_: other for id_, other in memory.requests.items() if id_ != action.id}
    match outcome.answer:
        case Answer.DONE:
            # If a list has shown the pod already, its request is forgotten, and nothing is left to wait for.
            kept = {} if request is None else {action.id: _accepted(request, outcome, now)}
            return replace(memory, requests={**others, **kept}, refusals=Backoff())
        case Answer.UNKNOWN | Answer.BUSY:
            if request is None:
                return memory
            if action.id < memory.first_id:
                # Nobody wants this executor now: assume that its pod was created, and delete it by its name.
                return replace(memory, requests={**others, action.id: _accepted(request, outcome, now)})
            again = replace(request, retry_at=_again_at(request, outcome, now, jitter), failed_at=now)
            return replace(memory, requests={**others, action.id: again})
        case Answer.REFUSED | Answer.PERMANENT:
            permanent = outcome.answer is Answer.PERMANENT
            refusals = next_backoff(memory.refusals, outcome.hindrance, now, jitter, permanent=permanent)
            if request is not None and request.tries > 1:  # an earlier try may have made it: it is asked for
                others[action.id] = replace(request, retry_at=max(now, refusals.until), failed_at=None)
            return replace(memory, requests=others, refusals=refusals)


def _accepted(request: CreateRequest, outcome: ActionOutcome, now: float) -> CreateRequest:
    return replace(request, accepted=now, retry_at=None, uid=outcome.uid)


def _again_at(request: CreateRequest, outcome: ActionOutcome, now: float, jitter: float) -> float:
    return now + max(outcome.retry_after or 0.0, next_pause(request.tries, jitter))


def _deleted(
    memory: AllocatorMemory, action: Delete, outcome: ActionOutcome, now: float, jitter: float
) -> AllocatorMemory:
    removal = memory.removals.get(action.id)
    if removal is None:
        return memory
    if outcome.answer is Answer.DONE:
        removal = replace(removal, open=False, retry_at=None, accepted=now)
    else:
        removal = replace(removal, open=False, retry_at=now + DELETE_PAUSE * (0.5 + jitter))
    return replace(memory, removals={**memory.removals, action.id: removal})
