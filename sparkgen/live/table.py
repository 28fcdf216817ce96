"""Rows as text, like kubectl's tables, and as values for JSON and YAML. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from sparkgen.contract import SESSION
from sparkgen.live.facts import Executors
from sparkgen.live.reason import MAX_DATA, MAX_SHOWN, bounded
from sparkgen.live.rows import RunStatus
from sparkgen.terminal import visible

NOTHING = "-"
GAP = "   "

Column = tuple[str, Callable[[RunStatus, datetime], str]]


def short(duration: timedelta) -> str:
    """Returns a duration in at most two units, as kubectl writes ages: 45s, 3m5s, 2h, 5d."""
    seconds = max(0, int(duration.total_seconds()))
    if seconds < 120:
        return f"{seconds}s"
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if minutes < 10:
        return f"{minutes}m{seconds % 60}s" if seconds % 60 else f"{minutes}m"
    if hours < 3:
        return f"{minutes}m"
    if hours < 8:
        return f"{hours}h{minutes % 60}m" if minutes % 60 else f"{hours}h"
    return f"{hours}h" if days < 2 else f"{days}d"


def count(executors: Executors | None) -> str:
    """Returns executors as `running/wanted`, with how many are pending."""
    if executors is None:
        return NOTHING
    wanted = NOTHING if executors.target is None else executors.target
    pending = f" +{executors.pending} pending" if executors.pending else ""
    return f"{executors.running}/{wanted}{pending}"


def _since(moment: datetime | None, now: datetime) -> str:
    return NOTHING if moment is None else short(now - moment)


def _duration(row: RunStatus, now: datetime) -> str:
    started = row.life.started
    return NOTHING if started is None else short((row.life.ended or now) - started)


def _reason(row: RunStatus, _: datetime) -> str:
    # Escapes count, too.
    return bounded(visible(row.reason.text), MAX_SHOWN) if row.reason else ""


_NAMESPACE: Column = ("NAMESPACE", lambda row, _: row.namespace)
NAME: Column = ("NAME", lambda row, _: row.application)
_RUN: Column = ("RUN", lambda row, _: row.run or NOTHING)
_STATE: Column = ("STATE", lambda row, _: row.life.state.value)
_WIDE: tuple[Column, ...] = (
    ("KIND", lambda row, _: SESSION if row.session else row.workload.partition(".")[0]),
    ("EXIT", lambda row, _: NOTHING if row.life.exit_code is None else str(row.life.exit_code)),
    ("DRIVER", lambda row, _: row.driver or NOTHING),
    ("NODE", lambda row, _: row.node or NOTHING),
)
_REASON: Column = ("REASON", _reason)
STATUS: tuple[Column, ...] = (
    NAME,
    _RUN,
    _STATE,
    ("EXECUTORS", lambda row, _: count(row.executors)),
    ("SINCE", lambda row, now: _since(row.life.since, now)),
)
HISTORY: tuple[Column, ...] = (
    _RUN,
    _STATE,
    ("STARTED", lambda row, now: _since(row.life.started, now)),
    ("DURATION", _duration),
)


def table(
    rows: Sequence[RunStatus],
    columns: Sequence[Column],
    now: datetime,
    *,
    wide: bool = False,
    spaces: bool = False,
) -> list[str]:
    """Returns the lines of a table, its header first. `spaces`: with a column for namespaces."""
    shown = [*([_NAMESPACE] if spaces else []), *columns, *(_WIDE if wide else ()), _REASON]
    cells = [[title for title, _ in shown], *([visible(cell(row, now)) for _, cell in shown] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    widths[-1] = 0  # one long reason does not make all lines long
    return [
        GAP.join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]


def value(row: RunStatus) -> dict[str, Any]:
    """Returns a row for JSON and YAML; times as the API server writes them, null for unknown values."""
    life, executors, reason = row.life, row.executors, row.reason
    return {
        "namespace": row.namespace,
        "application": row.application,
        "run": row.run or None,
        "workload": row.workload,
        "session": row.session,
        "latest": row.latest,
        "state": life.state.value,
        "since": _time(life.since),
        "started": _time(life.started),
        "ended": _time(life.ended),
        "exitCode": life.exit_code,
        "executors": None
        if executors is None
        else {"running": executors.running, "pending": executors.pending, "target": executors.target},
        "driverPod": row.driver or None,
        "node": row.node or None,
        "reason": None
        if reason is None
        else {
            "code": reason.code,
            "cause": bounded(reason.cause, MAX_DATA),
            "nextStep": bounded(reason.next_step, MAX_DATA) or None,
        },
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds").replace("+00:00", "Z")
