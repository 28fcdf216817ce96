"""Ended executors: why they ended, what is reported to the driver, and when the application has to stop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sparkgen import contract
from sparkgen.runtime.allocator.decide import executor_states, memory_recovery, pools, reasons
from sparkgen.runtime.allocator.decide.apply_outcomes import next_backoff
from sparkgen.runtime.allocator.decide.draft import Draft
from sparkgen.runtime.allocator.decide.executor_states import Situation
from sparkgen.runtime.allocator.values.memory import AllocatorMemory
from sparkgen.runtime.allocator.values.observed import Cause, ExecutorState, Loss, ObservedExecutor
from sparkgen.runtime.allocator.values.target import LONGEST_DELIVERY, DriverPhase

AVOIDED = 300.0
"""Seconds for which a node is avoided after its shuffle service did not answer an executor."""
PERMANENT_ROUNDS = 3
"""After this many failed rounds in a row that no retry can fix, an application with no live executor
fails."""


def losses(draft: Draft) -> Draft:
    """Find out why executors have ended, and count those that failed against the application."""
    situation, memory = draft.situation, draft.memory
    if situation.target.phase is DriverPhase.STOPPED:  # all of them end now
        return draft
    told = executor_states.named_by_driver(situation.target)
    vanished = [seen for id_, seen in situation.snapshot.vanished.items() if id_ in told and seen.loss]
    ended = [*situation.observed(ExecutorState.GONE), *vanished]
    new = {seen.id: seen for seen in ended if seen.id not in memory.losses}
    oldest = situation.now - situation.settings.failures_interval
    if new or (memory.failures and memory.failures[0] <= oldest):
        memory = _counted(memory, new, draft)
        memory = replace(memory, failures=tuple(t for t in memory.failures if t > oldest))
        draft = draft.remember(memory)
    return draft


def _counted(memory: AllocatorMemory, new: Mapping[int, ObservedExecutor], draft: Draft) -> AllocatorMemory:
    """The memory with these losses, and with the failures among them counted."""
    losses = {id_: _loss(seen, draft.situation) for id_, seen in new.items()}
    failures, paused = list(memory.failures), memory.bad_starts
    unusable = dict(memory.unusable)
    for id_, loss in losses.items():
        if loss.exit_code == contract.NO_SHUFFLE_SERVICE and loss.cause is Cause.FAILED_START:
            unusable[new[id_].node] = draft.situation.now + AVOIDED
            paused = next_backoff(paused, loss.hindrance, draft.situation.now, draft.jitter)
            continue
        if new[id_].found_ended:
            continue
        fails, now = _is_failure(id_, loss, draft.situation), draft.situation.now
        if fails:
            failures.append(now)
        if id_ not in memory.known and (fails or _ended_early(id_, loss, draft.situation)):
            permanent = loss.without_artifact
            paused = next_backoff(paused, loss.hindrance, now, draft.jitter, permanent=permanent)
    return replace(
        memory,
        losses={**memory.losses, **losses},
        failures=tuple(failures),
        bad_starts=paused,
        unusable=unusable,
        interruptions=(*memory.interruptions, *pools.interrupted(losses, new, draft.situation.now)),
    )


def _is_failure(id_: int, loss: Loss, situation: Situation) -> bool:
    """Whether a loss counts against the application."""
    if situation.target.away or id_ < situation.memory.first_id:  # it went through that with another driver
        return False
    # One node that cannot start executors is not the application's fault while other executors run.
    failed_start = loss.cause is Cause.FAILED_START and not situation.target.registered
    return loss.by_application or failed_start


def _ended_early(id_: int, loss: Loss, situation: Situation) -> bool:
    """Whether an executor ended without an error although nobody asked it to, or for lack of memory.

    That may be no failure, but without a pause, such executors would follow each other as fast as the API
    server accepts them.
    """
    earlier = situation.target.away or id_ < situation.memory.first_id
    idle = loss.cause is Cause.EXITED and loss.exit_code == 0
    recovered = loss.cause is Cause.OOM and situation.settings.memory_recovery is not None
    return (idle or recovered) and not earlier


def _loss(seen: ObservedExecutor, situation: Situation) -> Loss:
    unknown = Loss(Cause.UNKNOWN, f"executor {seen.id} ended, and its pod gives no reason")
    found = memory_recovery.judged(seen.loss or unknown, seen, situation.settings)
    return _as_asked(seen.id, situation) or found


def _as_asked(id_: int, situation: Situation) -> Loss | None:
    """The loss of an executor that Spark or the allocator removed; None if neither did."""
    target, memory = situation.target, situation.memory
    if any(id_ in ids for ids in (target.kills, target.refused, memory.refusing, memory.removals)):
        return Loss(Cause.KILLED, f"executor {id_} was removed")
    if target.phase is DriverPhase.STOPPED:
        return Loss(Cause.KILLED, f"executor {id_} ended with its driver")
    if id_ in target.draining:
        return Loss(Cause.KILLED, f"executor {id_} was decommissioned, and has ended")
    return None


def reported_losses(draft: Draft) -> Draft:
    """Report to the driver every executor that it still names and that is gone."""
    situation = draft.situation
    ids = sorted(executor_states.named_by_driver(situation.target) & situation.sets[ExecutorState.GONE])
    if not ids:
        return draft
    gone = {id_: _verdict(id_, draft) for id_ in ids}
    return replace(draft.remember(replace(draft.memory, losses={**draft.memory.losses, **gone})), gone=gone)


def _verdict(id_: int, draft: Draft) -> Loss:
    deleted = Loss(Cause.DELETED, f"the pod of executor {id_} was deleted, but not by sparkgen")
    return draft.memory.losses.get(id_) or _as_asked(id_, draft.situation) or deleted


def limits(draft: Draft) -> Draft:
    """Fail the application if it cannot succeed: too many failures, or nothing runs and nothing will."""
    memory, situation = draft.memory, draft.situation
    if memory.failure is not None:
        return draft
    # These come first, because they say more than a number of failures.
    for hindrance in (memory.refusals, memory.bad_starts, situation.snapshot.list_failure):
        hopeless = hindrance.permanent >= PERMANENT_ROUNDS and not _anything_alive(situation)
        if hopeless and hindrance.reason is not None:
            failure = reasons.permanent_failure(hindrance.reason)
            return draft.remember(replace(memory, failure=failure))
    limit = failure_limit(situation)
    # Executors end with their driver: a failure counts only if the driver has surely reported since then.
    if sum(1 for time in memory.failures if time + LONGEST_DELIVERY <= situation.target.heard_at) > limit:
        failure = reasons.too_many_failures(memory, limit, situation.settings)
        return draft.remember(replace(memory, failure=failure))
    return draft


def failure_limit(situation: Situation) -> int:
    """The most failures allowed; by default Spark's max(3, 2 x executors) (ExecutorFailureTracker)."""
    settings = situation.settings
    if settings.max_failures is not None:
        return settings.max_failures
    bound = (settings.maximum if settings.dynamic else settings.instances) or 0
    return max(3, 2 * max(bound, situation.memory.most_wanted))


def _anything_alive(situation: Situation) -> bool:
    """Whether any executor that counts may still be useful."""
    executors = situation.snapshot.executors
    ids = situation.those(ExecutorState.PENDING, ExecutorState.RUNNING, ExecutorState.REGISTERED)
    return any(id_ not in executors or not _is_permanent(executors[id_]) for id_ in ids)


def _is_permanent(seen: ObservedExecutor) -> bool:
    return seen.waiting is not None and seen.waiting.permanent
