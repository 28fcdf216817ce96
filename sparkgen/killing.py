"""How a run is ended for good: its Job gets a deadline that has passed.

Kubernetes then ends its pods and marks it as failed. A suspended Job would be a run that never ends and, with
a CronJob that forbids a second run, no later firing; a deleted Job would run again with the next apply or
sync from Git.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

KILLED = "sparkgen.dev/killed"
"""Annotation of a Job: the time at which it was ended (RFC 3339), by `sparkgen kill` or a newer run."""
DEADLINE = "sparkgen.dev/deadline-before"
"""Annotation of such a Job: its former `activeDeadlineSeconds`."""
REPLACED_BY = "sparkgen.dev/replaced-by"
"""Annotation of such a Job: the newer run that ended it (spec.concurrencyPolicy)."""


def killing(workload: Mapping[str, Any], now: datetime, replaced_by: str = "") -> dict[str, Any]:
    """Returns the patch that ends a driver's object; `now`: with a time zone.

    A Deployment, which an apply starts again, is not marked.
    """
    if workload["kind"] == "Deployment":
        return {"spec": {"replicas": 0}}
    text = now.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    annotations = {KILLED: text, **({REPLACED_BY: replaced_by} if replaced_by else {})}
    before = workload["spec"].get("activeDeadlineSeconds")
    if before is not None and not (workload["metadata"].get("annotations") or {}).get(KILLED):
        annotations[DEADLINE] = str(before)
    return {"metadata": {"annotations": annotations}, "spec": {"activeDeadlineSeconds": 1}}
