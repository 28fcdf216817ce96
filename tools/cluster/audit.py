"""The audit log as values: the calls that a service account made."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """One call to the API server with the code of its answer; `time`: when it arrived, in UTC."""

    time: datetime
    answered: datetime
    user: str
    verb: str
    resource: str
    subresource: str
    namespace: str
    name: str
    code: int


def parse(lines: Iterable[str]) -> list[Call]:
    """The calls in an audit log, in its order, without an incomplete last line.

    A watch is logged twice, when it starts and when it ends: only the start counts.
    """
    calls = []
    for line in lines:
        if not line.endswith("\n"):
            break
        event = json.loads(line)
        if event["verb"] == "watch" and event["stage"] == "ResponseComplete":
            continue
        calls.append(_call(event))
    return calls


def _call(values: dict[str, Any]) -> Call:
    target = values.get("objectRef", {})
    return Call(
        datetime.fromisoformat(values["requestReceivedTimestamp"]),
        datetime.fromisoformat(values["stageTimestamp"]),
        values["user"]["username"],
        values["verb"],
        target.get("resource", values.get("requestURI", "")),
        target.get("subresource", ""),
        target.get("namespace", ""),
        target.get("name", ""),
        values.get("responseStatus", {}).get("code", 0),
    )


def made_by(calls: Iterable[Call], namespace: str, account: str, since: datetime | None = None) -> list[Call]:
    """The calls of one service account, from `since` on."""
    user = f"system:serviceaccount:{namespace}:{account}"
    return [call for call in calls if call.user == user and (since is None or call.time >= since)]
