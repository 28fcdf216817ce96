"""Every decision in words, for logs, status and Events: what is, what is wanted, and what it waits for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from sparkgen.runtime.allocator.decide import ceiling, executor_states, gates, host_ports
from sparkgen.runtime.allocator.decide.executor_states import Situation
from sparkgen.runtime.allocator.values.actions import Action, Create, Delete
from sparkgen.runtime.allocator.values.memory import AllocatorMemory
from sparkgen.runtime.allocator.values.observed import ExecutorState, ObservedExecutor
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverPhase


def decision(situation: Situation, actions: Sequence[Action], held: Collection[str] = ()) -> str:
    """One line: executors against target, what is done now, and what hinders. `held`: by which gates."""
    parts = [_have(situation), *_doing(actions), *_hindrances(situation, held)]
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
        return f"the driver has stopped: {have or 'no executor'} left"
    return f"{active} of {wanted} executors" + (f" ({have})" if have else "")


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
    """Ids as a person writes them: 1, 3-7."""
    runs: list[list[int]] = []
    for id_ in sorted(ids):
        if runs and runs[-1][1] == id_ - 1:
            runs[-1][1] = id_
        else:
            runs.append([id_, id_])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _hindrances(situation: Situation, held: Collection[str]) -> list[str]:
    memory, now, settings = situation.memory, situation.now, situation.settings
    if memory.failure is not None:
        return [f"the application fails: {memory.failure}"]
    parts = []
    if situation.snapshot.list_failure.reason:
        parts.append(f"executors are not shown: {situation.snapshot.list_failure.reason}")
    for backoff, text in ((memory.refusals, "refused"), (memory.bad_starts, "failing to start")):
        if backoff.level and backoff.until > now:
            parts.append(f"{text}, next try in {backoff.until - now:.0f} s: {backoff.reason}")
    if memory.rate.resume_at > now:
        parts.append(f"the API server is slow: next call in {memory.rate.resume_at - now:.1f} s")
    if pending := situation.ids(ExecutorState.PENDING):
        parts += _pending(situation, pending)
    if settings.max_pending is not None and gates.on_their_way(situation).total() >= settings.max_pending:
        parts.append(f"maxPendingPods is {settings.max_pending}")
    if bounded := _bounded(situation):
        parts.append(bounded)
    parts += held
    if ports := host_ports.exhausted(situation):
        parts.append(ports)
    return parts + _unusable(memory, now)


def _bounded(situation: Situation) -> str:
    """That the maximum of all profiles together holds executors back; "" when it does not."""
    target, settings = situation.target, situation.settings
    asked = sum(ceiling.asked(target, settings).values())
    missing = sum(situation.wanted().values()) - situation.count(*executor_states.ACTIVE)
    full = situation.count(*ceiling.THERE) >= ceiling.maximum(settings)
    if asked > ceiling.maximum(settings):
        return f"the driver wants {asked} in all, and {ceiling.words(settings)}"
    if missing > 0 and full:
        leaving = situation.count(ExecutorState.DRAINING)
        return f"waiting until {leaving} that leave have ended: {ceiling.words(settings)}"
    return ""


def _unusable(memory: AllocatorMemory, now: float) -> list[str]:
    """Which nodes are avoided, and for how long."""
    return [
        f"node {node} is avoided for {until - now:.0f} s: no shuffle service answered there"
        for node, until in sorted(memory.unusable.items())
        if until > now
    ]


def _pending(situation: Situation, pending: Sequence[int]) -> list[str]:
    """Why pods do not start, each reason once with the number of pods."""
    texts = Counter(
        seen.waiting.text for id_ in pending if (seen := situation.snapshot.executors[id_]).waiting
    )
    return [f"{count} pending, {text}" for text, count in texts.most_common(2)]


def waiting(seen: ObservedExecutor) -> str:
    """Why a pending executor does not start."""
    if seen.waiting is None:
        return f"executor {seen.id} was pending too long"
    return f"executor {seen.id}: {seen.waiting.text}"


def permanent_failure(reason: str) -> str:
    """Why an application of which nothing runs is given up."""
    return f"no executor can be started, and waiting does not help: {reason}"


def too_many_failures(memory: AllocatorMemory, limit: int, settings: AllocationSettings) -> str:
    """That more executors failed than the application may lose, and the last loss."""
    losses = [loss.message for _, loss in sorted(memory.losses.items()) if loss.by_application]
    losses = losses or [memory.bad_starts.reason] * bool(memory.bad_starts.reason)
    last = f"; the last one: {losses[-1]}" if losses else ""
    return (
        f"{len(memory.failures)} executors failed within {settings.failures_interval:.0f} s, and "
        f"{limit} may (spec.allocation.maxExecutorFailures){last}"
    )
