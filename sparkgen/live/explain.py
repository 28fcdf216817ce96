"""Why a run is stuck, or has failed: `explain`, a pure decision on the facts.

The source nearest to the failure counts first: the driver's container before its pod, the pod before the Job.
For executors, the allocator counts first: it has judged their pods already.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from sparkgen import contract
from sparkgen.codes import Code, Hindrance
from sparkgen.killing import KILLED, REPLACED_BY
from sparkgen.live import allocatorlog, gangs
from sparkgen.live.driverlog import refused_executor
from sparkgen.live.facts import Executors, RunFacts, executors, fill, time_of
from sparkgen.live.failed import went_wrong, why_failed
from sparkgen.live.hindrances import hindered, in_event, known_reason, tokens_end
from sparkgen.live.pending import why_pending
from sparkgen.live.queue import driver_waits, executors_wait, queued, without_class
from sparkgen.live.reason import Reason, detail
from sparkgen.live.state import State
from sparkgen.live.values import annotation_of, by_spark, container, moment, served_as
from sparkgen.objects import ObjectView
from sparkgen.runtime.allocator.observe.causes import waiting_of

RECENT = timedelta(minutes=15)
"""How long an Event counts, about an executor that ended, or executors that do not start."""
HINDERED = (
    *("ExecutorsNotShown", "ExecutorsRefused", "ExecutorsFailToStart", "ExecutorsPending"),
    *("TokensNotRenewed", "ExecutorMemoryRaised"),
)
"""Reasons of the allocator's Events about executors that do not start, or will not be able to work (notices
in sparkgen.runtime)."""


def explain(facts: RunFacts, now: datetime) -> Reason | None:
    """Returns why the run is stuck, or has failed; None if there is nothing to explain."""
    state = facts.life.state
    if state is State.SUCCEEDED:
        return _session_over(facts)
    if state is State.SUSPENDED:
        return _suspended(facts)
    if state is State.FAILED or (state in (State.ENDING, State.RESTARTING) and went_wrong(facts)):
        return why_failed(facts)
    if state in (State.PENDING, State.RUNNING, State.ENDING) and annotation_of(facts.run.workload, KILLED):
        run = facts.run
        step = f"wait for it: sparkgen wait {run.application} --run {run.name} -n {run.namespace}"
        newer = annotation_of(run.workload, REPLACED_BY)
        who = f"the run {newer} is replacing it" if newer else "sparkgen kill is ending it"
        return Reason("ending", f"{who}: its pods have their grace period to stop", step)
    if state is State.PENDING:
        return why_pending(facts)
    if state is State.RUNNING:
        return _running(facts, now)
    return None


def fares(facts: RunFacts, now: datetime) -> str:
    """Returns the run's state as a part of a sentence, with the reason if there is one."""
    reason = explain(facts, now)
    return f"{facts.life.state.value}: {reason.text}" if reason else facts.life.state.value


def _session_over(facts: RunFacts) -> Reason | None:
    """Returns why a session has ended: its allocator ends it, with success, when nobody is connected."""
    over = allocatorlog.session_over(facts.allocator_log)
    return Reason("session-over", detail(str(over))) if over else None


def _suspended(facts: RunFacts) -> Reason:
    step = "set spec.suspend to false in the document, and apply it"
    if facts.place is not None:
        return without_class(facts.run, facts.events) or driver_waits(facts.place)
    if contract.is_session(facts.run.workload):
        step = (
            "the `sparkgen shell` that created it resumes it; if that command was killed, the next one "
            "removes it"
        )
    elif served_as(facts.run.workload):
        step += fill(", or start it: sparkgen connect NAME --start", facts)
    return Reason("suspended", "it is suspended", step)


def _running(facts: RunFacts, now: datetime) -> Reason | None:
    counts = executors(facts)
    for hindrance in _hindrances(facts, now):
        if hindrance.code == Code.TOKENS_NOT_RENEWED:
            return tokens_end(hindrance)
        if hindrance.code == Code.HELD:
            return known_reason(hindrance)
    if _lacks(counts):
        placed = sum(bool(pod["spec"].get("nodeName")) for pod in facts.run.executors)
        if reason := gangs.executors_wait(facts.gang, placed):
            return reason
        for hindrance in _hindrances(facts, now):
            if hindrance.code == Code.SCHEDULING_GATED and (waiting := len(queued(facts.run.executors))):
                admitted = counts.running + counts.pending - waiting
                return executors_wait(facts.place, admitted, waiting, counts.target)
            if reason := hindered(hindrance):
                return reason
        if reason := _untold(facts, counts):
            return reason
    return _not_serving(facts) or _lost(facts, now) or _raised(facts, now) or _earlier(facts)


def _untold(facts: RunFacts, counts: Executors) -> Reason | None:
    """Returns why executors are missing where no allocator says it: an older one, or Spark's own backend."""
    if allocatorlog.has_no_codes(facts.allocator_log):
        return _unknown(facts)
    # With dynamic allocation, nobody knows how many are wanted: a refusal may be over if some run.
    if by_spark(facts.run) and (counts.target is not None or not counts.running):
        return refused_executor(facts.driver_log)
    return None


def _lacks(counts: Executors) -> bool:
    return counts.pending > 0 or counts.target is None or counts.running < counts.target


def _hindrances(facts: RunFacts, now: datetime) -> Iterator[Hindrance]:
    """Yields what prevents executors from starting, from the most reliable source first."""
    yield from allocatorlog.hindrances(facts.allocator_log)
    if not facts.allocator_log:
        for event in reversed(facts.events):
            if event.get("reason") in HINDERED and _is_recent(event, now):
                yield in_event(event)
    for pod in facts.run.executors:
        if waits := waiting_of(pod):
            yield waits.hindering("")


def _unknown(facts: RunFacts) -> Reason:
    """Returns the reason that the number of missing executors, or why they are missing, is unknown."""
    wanted = "how many executors are wanted and " if facts.target is None else ""
    cause = f"cannot tell {wanted}why executors are missing: {allocatorlog.OLDER}"
    return Reason("unknown", cause, fill("read it: sparkgen logs NAME --allocator", facts))


def _not_serving(facts: RunFacts) -> Reason | None:
    """Finds a server that does not answer: a Connect server's or JupyterLab's driver is ready if it does."""
    what = served_as(facts.run.workload)
    if not what or (facts.run.driver is not None and container(facts.run.driver).get("ready") is True):
        return None
    step = "wait until it has started, or read its log: sparkgen logs NAME"
    return Reason("not-answering", f"the {what} does not answer", fill(step, facts))


def _lost(facts: RunFacts, now: datetime) -> Reason | None:
    """Finds an executor that ended recently for lack of memory, or by an error of the application."""
    for event in reversed(facts.events):
        if (
            event.get("reason") == "ExecutorLost"
            and event.get("type") == "Warning"
            and _is_recent(event, now)
        ):
            loss = in_event(event)
            return known_reason(loss) or Reason("executor-lost", detail(str(loss)))
    return None


def _raised(facts: RunFacts, now: datetime) -> Reason | None:
    """Finds that executors get more memory than the document says, because some had too little."""
    raised = (each for each in _hindrances(facts, now) if each.code == Code.MEMORY_RAISED)
    return next((known_reason(each) for each in raised), None)


def _earlier(facts: RunFacts) -> Reason | None:
    if not facts.next_run:
        return None
    return Reason("earlier", f"an earlier run that still runs beside {facts.next_run}")


def _is_recent(event: ObjectView, now: datetime) -> bool:
    happened = moment(time_of(event))
    return happened is not None and now - happened < RECENT
