"""The answers to /status and /metrics, made from the last round. Pure."""

from __future__ import annotations

import resource
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sparkgen import contract
from sparkgen.codes import Hindrance
from sparkgen.runtime.allocator.decide import ceiling, executor_states
from sparkgen.runtime.allocator.driver.round import Round
from sparkgen.runtime.allocator.values.memory import Backoff
from sparkgen.runtime.allocator.values.observed import Cause, ExecutorState, ObservedExecutor
from sparkgen.runtime.httpserver.prometheus import metric, single
from sparkgen.runtime.kubernetes.answers import Answer


@dataclass(frozen=True, slots=True)
class StatusFacts:
    """Facts for status and metrics besides the last round. `now` in seconds of the allocator's clock."""

    application: Mapping[str, str]
    """Names of the application, its run and its attempt, for /status."""
    now: float
    last: Round | None
    answers: Mapping[tuple[str, str], int]
    """The number of answers: (create or delete, the answer) -> count."""
    losses: Mapping[str, int]
    """The number of lost executors: cause -> count."""
    gaps: int
    rounds: int
    recent: Sequence[str] = ()
    """The last lines of the log, the oldest first."""
    troubles: Sequence[str] = ()
    """The last lines that were warnings or errors."""


def status_body(facts: StatusFacts) -> dict[str, Any]:
    """The answer to /status."""
    body: dict[str, Any] = {
        "version": contract.VERSION,
        **facts.application,
        "recent": list(facts.recent),
        "troubles": list(facts.troubles),
        "gaps": facts.gaps,
    }
    last = facts.last
    if last is None:
        return {**body, "reason": "the first round has not finished yet"}
    decision, target = last.decision, last.target
    return {
        **body,
        "reason": decision.reason,
        "heldBy": list(decision.held),
        "hindrances": [hindrance.facts for hindrance in decision.hindrances],
        "failure": _facts(decision.failure),
        "secondsSinceDecision": round(facts.now - last.now, 1),
        "driver": {
            "phase": target.phase.value,
            "applicationId": target.application_id,
            "session": target.session,
            "revision": target.revision,
            **({"owner": target.owner} if target.owner else {}),
        },
        "wanted": _texts(executor_states.wanted(target, last.settings)),
        "asked": _texts(ceiling.asked(target, last.settings)),
        "maximum": ceiling.maximum(last.settings),
        "executors": _sets(last),
        "pods": [_pod(seen, last.now) for _, seen in sorted(last.snapshot.executors.items())],
        "seesAll": last.snapshot.complete,
        "refused": _backoff(decision.memory.refusals, last.now),
        "failingToStart": _backoff(decision.memory.bad_starts, last.now),
        "pools": _pools(last),
        "addedMemoryMiB": _texts(decision.memory.added_memory),
        "writesInFlight": decision.memory.rate.window,
        "nextId": decision.memory.next_id,
        "settings": asdict(last.settings),
    }


def _sets(last: Round) -> dict[str, list[int]]:
    """The ids of the executors in each state."""
    memory = last.decision.memory
    situation = executor_states.situation(last.snapshot, last.target, memory, last.settings, last.now)
    return {state.value: ids for state in ExecutorState if (ids := situation.ids(state))}


def _pools(last: Round) -> dict[str, dict[str, Any]]:
    """Of each pool of nodes: executors that have not ended, and for how many seconds new ones avoid it."""
    shown = [seen.pool for seen in last.snapshot.executors.values() if not executor_states.ended(seen)]
    counts = Counter(shown)
    until = {name: pause.until for name, pause in last.decision.memory.pools.items()}
    return {
        pool.name: {
            "executors": counts[pool.name],
            "avoidedSeconds": round(max(0.0, until.get(pool.name, 0.0) - last.now), 1),
        }
        for pool in last.settings.pools
    }


def _pod(seen: ObservedExecutor, now: float) -> dict[str, Any]:
    body: dict[str, Any] = {
        "id": seen.id,
        "name": seen.name,
        "profile": seen.profile,
        "phase": seen.phase.value,
        "seconds": round(now - seen.since, 1),
        "node": seen.node,
        **({"pool": seen.pool} if seen.pool else {}),
        "deleting": seen.deleting,
    }
    if seen.waiting is not None:
        body["waiting"] = seen.waiting.hindering("").facts
    if seen.loss is not None:
        body["loss"] = seen.loss.hindrance.facts
    return body


def _backoff(backoff: Backoff, now: float) -> dict[str, Any] | None:
    if not backoff.level:
        return None
    return {
        "rounds": backoff.level,
        "secondsLeft": round(max(0.0, backoff.until - now), 1),
        "hindrance": _facts(backoff.reason),
    }


def _facts(hindrance: Hindrance | None) -> dict[str, str] | None:
    return None if hindrance is None else hindrance.facts


def _texts(counts: Mapping[int, int]) -> dict[str, int]:
    return {str(key): count for key, count in sorted(counts.items())}


# --- Prometheus -----------------------------------------------------------------------------------------


# Prometheus sees no increase in a counter whose first value is 5, so every counter is reported from 0 on.
_NO_ANSWERS = {(action, answer.value): 0 for action in ("create", "delete") for answer in Answer}
_NO_LOSSES = {cause.value: 0 for cause in Cause}


def metrics_text(facts: StatusFacts) -> str:
    """The answer to /metrics, in Prometheus' text format (version 0.0.4)."""
    return "".join(_lines(facts))


def _lines(facts: StatusFacts) -> Iterator[str]:
    if facts.last is not None:
        yield from _of_round(facts.last)
    yield from metric(
        "sparkgen_answers_total",
        "counter",
        "Answers of the API server to create and delete requests.",
        (
            ((("action", action), ("answer", answer)), count)
            for (action, answer), count in sorted((_NO_ANSWERS | dict(facts.answers)).items())
        ),
    )
    losses = (
        ((("cause", cause),), count) for cause, count in sorted((_NO_LOSSES | dict(facts.losses)).items())
    )
    yield from metric("sparkgen_executors_lost_total", "counter", "Executors that ended, by cause.", losses)
    yield from single("sparkgen_watch_gaps_total", "counter", "Restarts of the watch.", facts.gaps)
    yield from single("sparkgen_rounds_total", "counter", "Rounds of the loop.", facts.rounds)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    yield from single("sparkgen_memory_peak_bytes", "gauge", "Peak memory of the allocator.", memory)


def _of_round(last: Round) -> Iterator[str]:
    decision, memory = last.decision, last.decision.memory
    wanted = executor_states.wanted(last.target, last.settings)
    yield from metric(
        "sparkgen_executors_wanted",
        "gauge",
        "Wanted executors, by resource profile.",
        (((("profile", str(profile)),), count) for profile, count in sorted(wanted.items())),
    )
    totals: Counter[tuple[int, ExecutorState]] = Counter()
    for profile, states in decision.counts.items():
        for state in ExecutorState:
            totals[profile, state] += states.get(state, 0)
    yield from metric(
        "sparkgen_executors",
        "gauge",
        "Executors by resource profile and state.",
        (
            ((("profile", str(profile)), ("state", state.value)), count)
            for (profile, state), count in totals.items()
        ),
    )
    blocked = max(memory.refusals.until, memory.bad_starts.until, memory.rate.resume_at) - last.now
    yield from single(
        "sparkgen_backoff_seconds",
        "gauge",
        "Seconds until the next executor may be created.",
        max(0.0, blocked),
    )
    yield from single(
        "sparkgen_writes_in_flight_limit", "gauge", "Maximum number of concurrent writes.", memory.rate.window
    )
    yield from single("sparkgen_next_executor_id", "gauge", "The id of the next executor.", memory.next_id)
    failed = int(decision.failure is not None)
    yield from single(
        "sparkgen_application_failed", "gauge", "1 if the allocator is stopping the application.", failed
    )
