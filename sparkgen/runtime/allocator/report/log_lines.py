"""The lines of the log about a round of the loop. Pure.

A line is written when a round does something, or when something ends, begins or hinders. The progress of
executors is in the status at any time, and in the log once all wanted executors have registered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sparkgen.codes import Hindrance
from sparkgen.phrases import some_of
from sparkgen.runtime.allocator.decide import ceiling, executor_states, reasons
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.report import notices
from sparkgen.runtime.allocator.report.log_form import LogEvent, LogLevel, LogLine
from sparkgen.runtime.allocator.values.actions import ActionOutcome, Create, Delete
from sparkgen.runtime.allocator.values.observed import Cause, ExecutorState
from sparkgen.runtime.allocator.values.settings import AllocationSettings
from sparkgen.runtime.allocator.values.target import DriverPhase
from sparkgen.runtime.kubernetes.answers import Answer

ON_THEIR_WAY = (
    ExecutorState.PLANNED,
    ExecutorState.REQUESTED,
    ExecutorState.PENDING,
    ExecutorState.RUNNING,
    ExecutorState.DRAINING,
)
ANSWERS = {
    Answer.UNKNOWN: "no answer",
    Answer.BUSY: "the API server is busy",
    Answer.REFUSED: "refused",
    Answer.PERMANENT: "refused permanently",
}


def lines(before: Round | None, now: Round, outcomes: Sequence[ActionOutcome]) -> list[LogLine]:
    """The lines about a round, in the order of the events."""
    return [
        *_answers(outcomes),
        *_driver(before, now),
        *_losses(before, now),
        *_decision(before, now),
    ]


def _answers(outcomes: Sequence[ActionOutcome]) -> Iterator[LogLine]:
    """Actions that failed, one line for each kind."""
    told: dict[tuple[str, Answer, Hindrance | None], list[int]] = {}
    for outcome in outcomes:
        if outcome.answer is not Answer.DONE:
            verb = "creating" if isinstance(outcome.action, Create) else "removing"
            told.setdefault((verb, outcome.answer, outcome.hindrance), []).append(outcome.action.id)
    for (verb, answer, hindrance), ids in told.items():
        facts = {"answer": answer.value, "executors": ids, **_hindrance_fact(hindrance)}
        text = f"{verb} {_executors(ids)}: {ANSWERS[answer]}{f': {hindrance}' if hindrance else ''}"
        yield LogLine(LogEvent.ANSWER, text, LogLevel.WARNING, facts)


def _driver(before: Round | None, now: Round) -> Iterator[LogLine]:
    """What is new in the driver's state."""
    target, known = now.target, before.target if before else None
    if target.phase is DriverPhase.SILENT or not target.session:
        return
    back = known is not None and known.given_up and not target.given_up
    if known is None or known.session != target.session or back:
        again, owner = "again " if back else "", f" ({target.owner})" if target.owner else ""
        yield LogLine(LogEvent.DRIVER, f"the driver runs {again}as {target.application_id}{owner}")
    if target.phase is DriverPhase.STOPPED:
        if known is None or known.phase is not DriverPhase.STOPPED:
            yield LogLine(LogEvent.STOPPED, f"{reasons.stopped(target)}: executors are no longer needed")
        return
    wanted = executor_states.wanted(target, now.settings)
    if known is None or before is None or wanted != executor_states.wanted(known, before.settings):
        total = sum(wanted.values())
        by_profile = ", ".join(f"{count} of profile {id_}" for id_, count in sorted(wanted.items()))
        text = f"{total} wanted" + (f" ({by_profile})" if len(wanted) > 1 else "")
        yield LogLine(LogEvent.TARGET, f"the driver's target: {text}", facts={"wanted": _texts(wanted)})


def _losses(before: Round | None, now: Round) -> Iterator[LogLine]:
    """Executors that ended although neither Spark nor the allocator removed them."""
    for id_, loss in notices.new_losses(before, now).items():
        if loss.cause is not Cause.KILLED:
            level = LogLevel.WARNING if loss.by_application else LogLevel.INFO
            facts = {
                "executor": id_,
                "code": loss.hindrance.code,
                "cause": loss.cause.value,
                "exitCode": loss.exit_code,
                "byApplication": loss.by_application,
            }
            text = f"executor {id_} is gone ({loss.cause.value}): {loss.message}"
            yield LogLine(LogEvent.LOSS, text, level, facts)


def _decision(before: Round | None, now: Round) -> Iterator[LogLine]:
    decision = now.decision
    failed = decision.failure is not None and (before is None or before.decision.failure is None)
    if failed:
        text = f"stopping the application: {decision.failure}"
        yield LogLine(LogEvent.FAILURE, text, LogLevel.ERROR, _hindrance_fact(decision.failure))
    hindered = _hindered(before, now) or notices.is_resumed(before, now)
    if not (failed or decision.actions or _settled(before, now) or hindered):
        return
    facts = {
        "wanted": _texts(executor_states.wanted(now.target, now.settings)),
        "create": [action.id for action in decision.actions if isinstance(action, Create)],
        "delete": [action.id for action in decision.actions if isinstance(action, Delete)],
        "counts": _plain(decision.counts),
        "hindrances": [hindrance.facts for hindrance in decision.hindrances],
    }
    yield LogLine(LogEvent.DECISION, decision.reason, facts=facts)


def _settled(before: Round | None, now: Round) -> bool:
    """Whether all wanted executors have registered now, and had not before."""
    return _is_settled(now) and (before is None or not _is_settled(before))


def _is_settled(made: Round) -> bool:
    moving = any(states.get(state) for states in made.decision.counts.values() for state in ON_THEIR_WAY)
    return made.target.phase is DriverPhase.RUNNING and not moving


def _hindered(before: Round | None, now: Round) -> bool:
    """Whether what keeps executors from starting, or tokens from being renewed, has changed."""
    if now.target.token_failures != (before.target.token_failures if before else ()):
        return True
    return bool(_hindrance(now)) and (before is None or _hindrance(now) != _hindrance(before))


def _hindrance(made: Round) -> tuple[tuple[int, object], ...]:
    memory = made.decision.memory
    backoffs = [(b.level, b.reason) for b in (memory.refusals, memory.bad_starts) if b.level]
    list_failure = [(0, made.snapshot.list_failure.reason)] if made.snapshot.list_failure.reason else []
    bounded = [(0, ceiling.words(made.settings))] if ceiling.is_reached(made.target, made.settings) else []
    held = [(0, field) for field in (*made.decision.held, *(["hold"] if made.settings.hold else []))]
    return (
        *memory.added_memory.items(),
        *list_failure,
        *backoffs,
        *bounded,
        *held,
        *((0, str(notice.hindrance)) for notice in notices.pending(made)),
    )


def settings(value: AllocationSettings) -> str:
    """The current settings in words."""
    if value.dynamic:
        most = "any number" if value.maximum is None else str(value.maximum)
        executors = f"{value.minimum} to {most} executors"
    else:
        executors = f"{value.instances} executors"
    parts = [executors, *(["held, so none for now"] if value.hold else [])]
    if value.batch_size is not None:
        parts.append(f"{value.batch_size} at a time, every {value.batch_delay:g} s")
    if value.max_pending is not None:
        parts.append(f"at most {value.max_pending} pending")
    parts.append(f"at most {value.max_unschedulable} without a node")
    if value.memory_recovery is not None:
        recovery = value.memory_recovery
        parts.append(f"{recovery.step} MiB more after one runs out of memory, up to {recovery.maximum} MiB")
    if value.wait_for_registration:
        parts.append("the next batch after the last one has registered")
    return ", ".join(parts)


def _executors(ids: Sequence[int]) -> str:
    return f"executor {some_of([*map(str, ids)], 5)}"


def _hindrance_fact(hindrance: Hindrance | None) -> dict[str, Any]:
    return {} if hindrance is None else {"hindrance": hindrance.facts}


def _texts(counts: Mapping[int, int]) -> dict[str, int]:
    return {str(profile): count for profile, count in counts.items()}


def _plain(counts: Mapping[int, Mapping[ExecutorState, int]]) -> dict[str, dict[str, int]]:
    return {
        str(profile): {state.value: count for state, count in states.items()}
        for profile, states in counts.items()
    }
