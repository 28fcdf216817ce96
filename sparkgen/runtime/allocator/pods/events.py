"""Events (core/v1) on the driver's pod, which `kubectl describe pod` shows. Pure."""

from __future__ import annotations

import json
import time
from typing import Any

from sparkgen import contract
from sparkgen.runtime.allocator.values.attempt import Attempt
from sparkgen.runtime.allocator.values.backend import Notice

COMPONENT = "sparkgen-allocator"
MAX_EVENT_MESSAGE = 1024
"""The most characters of an Event's message."""


def event_of(attempt: Attempt, notice: Notice, wall: float) -> dict[str, Any]:
    """The Event (core/v1) for a notice; `wall` in seconds since 1970."""
    time_of_day = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(wall))
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "generateName": f"{attempt.pod_name}.",
            "namespace": attempt.namespace,
            "annotations": {contract.ANNOTATION_HINDRANCE: json.dumps(notice.hindrance.facts)},
        },
        "involvedObject": {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": attempt.pod_name,
            "namespace": attempt.namespace,
            "uid": attempt.pod_uid,
        },
        "type": "Warning" if notice.warning else "Normal",
        "reason": notice.reason,
        "message": str(notice.hindrance)[:MAX_EVENT_MESSAGE],
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
        "reportingInstance": attempt.pod_name,
        "firstTimestamp": time_of_day,
        "lastTimestamp": time_of_day,
        "count": 1,
    }
