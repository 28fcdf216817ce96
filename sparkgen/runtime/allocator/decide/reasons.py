"""Decisions in words, for logs, status and Events: what there is, what is wanted, and what hinders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from sparkgen.codes import Code, Hindrance
from sparkgen.runtime.allocator.decide import (
    ceiling,
    executor_states,
    gates,
    host_ports,
    memory_recovery,
    pools,
)
from sparkgen.runtime.allocator.decide.executor_states import Situation
from sparkgen.runtime.allocator.values.actions import Action, Create, Delete
from sparkgen.runtime.allocator.values.memory import AllocatorMemory
from sparkgen.runtime.allocator.values.observed import CODES, ExecutorState, ObservedExecutor
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverPhase, DriverTarget

Led = tuple[str, Hindrance]
"""A hindrance, and the words before it in the line of a decision."""


def decision(situation: Situation, actions: Sequence[Action], hindrances: Sequence[Led] = ()) -> str:
    """One line: executors and target, what is done now, and what hinders."""
    parts = [_have(situation), *_doing(actions), *(f"{lead}{hindrance}" for lead, hindrance in hindrances)]
    return "; ".join(parts)


def _have(situation: Situation) -> str:
    wanted = sum(situation.wanted().values())
    counts = {state: len(ids) for state, ids in situation.sets.items()}
    shown = (
        ExecutorState.REGISTERED,
        ExecutorState.RUNNING,
        ExecutorState.PENDING,
        ExecutorState.REQUESTED,
        ExecutorState.DRAINING,
    )
    have = ", ".join(f"{counts[state]} {state.value}" for state in shown if counts[state])
    active = sum(counts[state] for state in executor_states.ACTIVE)
    if situation.target.phase is DriverPhase.STOPPED:
        return f"{stopped(situation.target)}: {have or 'no executors'} left"
    return f"{active} of {wanted} executors" + (f" ({have})" if have else "")


def stopped(target: DriverTarget) -> str:
    """Why no executor is wanted, in words, if the driver's phase is STOPPED."""
    if not target.session:
        return "there is no driver"
    return "the driver stopped reporting" if target.given_up else "the driver has stopped"


def _doing(actions: Sequence[Action]) -> list[str]:
    parts = []
    if created := [action.id for action in actions if isinstance(action, Create)]:
        parts.append(f"creating {_ids(created)}")
    reasons: dict[str, list[int]] = {}
    for action in actions:
        if isinstance(action, Delete):
            reasons.setdefault(action.why, []).append(action.id)
    parts += [f"removing {_ids(ids)}: {why}" for why, ids in reasons.items()]
    return parts


def _ids(ids: Sequence[int]) -> str:
    """Ids in short form: 1, 3-7."""
    runs: list[list[int]] = []
    for id_ in sorted(ids):
        if runs and runs[-1][1] == id_ - 1:
            runs[-1][1] = id_
        else:
            runs.append([id_, id_])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def hindrances(situation: Situation, gates_closed: Collection[Hindrance] = ()) -> list[Led]:
    """What hinders now, the most serious first. `gates_closed`: the hindrances of the gates."""
    memory, now = situation.memory, situation.now
    if memory.failure is not None:
        return [("the application fails: ", memory.failure)]
    found: list[Led] = []
    if situation.snapshot.list_failure.reason is not None:
        found.append(("the executors are unknown: ", situation.snapshot.list_failure.reason))
    for backoff, text in ((memory.refusals, "refused"), (memory.bad_starts, "failing to start")):
        if backoff.level and backoff.until > now and backoff.reason is not None:
            found.append((f"{text}, retrying in {backoff.until - now:.0f} s: ", backoff.reason))
    rest = (
        *held(situation.settings),
        *tokens(situation.target),
        *_limits(situation),
        *gates_closed,
        *_places(situation),
        *pools.advice(situation),
        *memory_recovery.advice(situation),
    )
    return found + [("", each) for each in rest]


def tokens(target: DriverTarget) -> Iterator[Hindrance]:
    """Services whose tokens the driver cannot renew: somebody can help before the current ones expire."""
    for failure in target.token_failures:
        text = f"the driver has failed to renew the tokens of {failure.service} since {_utc(failure.since)}"
        if failure.expires_at is not None:
            text += f": the current ones expire at {_utc(failure.expires_at)}, and tasks fail from then on"
        yield Hindrance(Code.TOKENS_NOT_RENEWED, text)


def _utc(seconds: int) -> str:
    """Formats seconds since 1970 as in logs (ISO 8601, UTC)."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def held(settings: AllocationSettings) -> Iterator[Hindrance]:
    """Says that the document holds the application, if it does."""
    if settings.hold:
        text = "the application is held, so it gets no executors; to resume it, delete spec.allocation.hold"
        yield Hindrance(Code.HELD, text)


def _limits(situation: Situation) -> Iterator[Hindrance]:
    """The API server's pace, pods that do not start, and the limits of the document."""
    memory, now, settings = situation.memory, situation.now, situation.settings
    if memory.rate.resume_at > now:
        text = f"the API server is slow: next call in {memory.rate.resume_at - now:.1f} s"
        yield Hindrance(Code.API_SERVER_SLOW, text)
    yield from _pending(situation)
    if settings.max_pending is not None and gates.on_their_way(situation).total() >= settings.max_pending:
        yield Hindrance(Code.MAX_PENDING_PODS, f"maxPendingPods ({settings.max_pending}) is reached")
    if bounded := _bounded(situation):
        yield Hindrance(Code.MAXIMUM_REACHED, bounded)


def _places(situation: Situation) -> Iterator[Hindrance]:
    """Host ports that are all taken, and nodes that are avoided."""
    if ports := host_ports.exhausted(situation):
        yield Hindrance(Code.HOST_PORTS_TAKEN, ports)
    for node, until in sorted(situation.memory.unusable.items()):
        if (left := until - situation.now) > 0:
            text = f"avoiding node {node} for {left:.0f} s: its shuffle service did not answer"
            yield Hindrance(Code.NODE_AVOIDED, text)


def _bounded(situation: Situation) -> str:
    """How the maximum of all profiles together holds executors back; "" if it does not."""
    target, settings = situation.target, situation.settings
    asked = sum(ceiling.asked(target, settings).values())
    missing = sum(situation.wanted().values()) - situation.count(*executor_states.ACTIVE)
    full = situation.count(*ceiling.THERE) >= ceiling.maximum(settings)
    if asked > ceiling.maximum(settings):
        return f"the driver wants {asked} executors in total, but {ceiling.words(settings)}"
    if missing > 0 and full:
        leaving = situation.count(ExecutorState.DRAINING)
        return f"waiting for {leaving} departing executors to end: {ceiling.words(settings)}"
    return ""


def _pending(situation: Situation) -> Iterator[Hindrance]:
    """The two most frequent reasons why pods do not start, each with the number of pods."""
    waits = Counter(seen.waiting for seen in situation.observed(ExecutorState.PENDING) if seen.waiting)
    for waiting, count in waits.most_common(2):
        yield waiting.hindering(f"{count} pending, ")


def waiting(seen: ObservedExecutor) -> Hindrance:
    """Why a pending executor does not start."""
    if seen.waiting is None:
        return Hindrance(Code.PENDING_TIMEOUT, f"executor {seen.id} was pending too long")
    return seen.waiting.hindering(f"executor {seen.id}: ")


def permanent_failure(reason: Hindrance) -> Hindrance:
    """Why an application is given up of which nothing runs."""
    text = f"no executor can start, and waiting will not help: {reason.message}"
    return replace(reason, message=text)


ENDINGS = frozenset(CODES.values()) - {Code.OUT_OF_MEMORY}
"""Codes of ended executors that do not tell a user what to do."""


def too_many_failures(memory: AllocatorMemory, limit: int, settings: AllocationSettings) -> Hindrance:
    """Says that more executors failed than the limit allows, with the last failure.

    The code is that of the last failure, if it tells a user what to do.
    """
    losses = [loss.hindrance for _, loss in sorted(memory.losses.items()) if loss.by_application]
    last = losses[-1] if losses else memory.bad_starts.reason
    text = (
        f"{len(memory.failures)} executors failed within {settings.failures_interval:.0f} s, and the limit "
        f"is {limit} (spec.allocation.maxExecutorFailures)"
    )
    if last is None:
        return Hindrance(Code.MAX_EXECUTOR_FAILURES, text)
    code = Code.MAX_EXECUTOR_FAILURES if last.code in ENDINGS else last.code
    return Hindrance(code, f"{text}; the last failure: {last.message}", last.detail)
