"""The answers to /status and /metrics, made from the last round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from sparkgen.runtime.httpserver.prometheus import metric, single
from sparkgen.runtime.janitor.rounds import Janitor, LastRound
from sparkgen.runtime.janitor.values import OwnerState

MOST = 1000
"""The most entries of each list in /status."""


def status_body(janitor: Janitor, now: float) -> dict[str, Any]:
    """The answer to /status."""
    last = janitor.last
    if last is None:
        return {"reason": "the first round has not finished yet"}
    view, states = last.view, sorted(last.decision.states.items())
    return {
        "secondsSinceRound": round(now - last.at, 1),
        "used": round(view.used, 4),
        "dryRun": janitor.settings.dry_run,
        "applications": [
            {
                "namespace": owner.namespace,
                "driver": owner.uid,
                "state": state.value,
                "inUseHere": owner in view.held,
                **_finished_for(last, owner, now),
            }
            for owner, state in states[:MOST]
        ],
        "namespaces": {
            name: found.why or found.answer.value for name, found in sorted(view.drivers.items())[:MOST]
        },
        "stuck": [
            {
                "directory": trash.directory,
                "name": trash.name,
                "why": entry.stuck.why,
                "entries": entry.stuck.entries,
                "seconds": round(now - entry.since, 1),
            }
            for trash, entry in last.stuck[:MOST]
            if entry.stuck
        ],
        **({"notShown": len(states) - MOST} if len(states) > MOST else {}),
    }


def _finished_for(last: LastRound, owner: Any, now: float) -> dict[str, float]:
    since = last.memory.finished.get(owner)
    return {} if since is None else {"finishedFor": round(now - since, 1)}


def metrics_text(janitor: Janitor) -> str:
    """The answer to /metrics."""
    return "".join(_lines(janitor))


def _lines(janitor: Janitor) -> Iterator[str]:
    last = janitor.last
    if last is not None:
        states = Counter(last.decision.states.values())
        yield from metric(
            "sparkgen_janitor_applications",
            "gauge",
            "Subdirectories of applications, by the state of their drivers.",
            (((("state", state.value),), states[state]) for state in OwnerState),
        )
        yield from single(
            "sparkgen_janitor_disk_used_ratio",
            "gauge",
            "Used share of the fullest file system.",
            last.view.used,
        )
        yield from single(
            "sparkgen_janitor_stuck",
            "gauge",
            "Removals that left files which the janitor has no permission to remove.",
            len(last.stuck),
        )
    yield from single(
        "sparkgen_janitor_seconds_since_round",
        "gauge",
        "Seconds since the last round ended, or since the janitor started.",
        janitor.silence,
    )
    for name, text, counts in (
        ("removed", "Driver pods whose files were removed, by reason.", janitor.removed.copy()),
        ("faults", "Failed lists and removals, by kind.", janitor.faults.copy()),
    ):
        values = ((((("kind", kind),), count)) for kind, count in sorted(counts.items()))
        yield from metric(f"sparkgen_janitor_{name}_total", "counter", text, values)
