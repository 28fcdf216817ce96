"""Which fields of a document are in which grammar. Generated from the schema: see tests/unit/semantics.

The schema's annotation `x-sparkgen-grammar` is the source. It is kept here as a table because every render
needs it, and few need the schema itself.
"""

from __future__ import annotations

from collections.abc import Mapping

APPLICATION_FIELDS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "cpu": (
        ("driver", "coreLimit"),
        ("driver", "coreRequest"),
        ("executor", "coreLimit"),
        ("executor", "coreRequest"),
    ),
    "duration": (
        ("allocation", "batchDelay"),
        ("allocation", "executorFailuresValidityInterval"),
        ("allocation", "executorTimeout"),
        ("allocation", "pendingTimeout"),
        ("allocation", "poolTimeout"),
        ("connect", "idleTimeout"),
        ("dynamicAllocation", "cachedExecutorIdleTimeout"),
        ("dynamicAllocation", "executorIdleTimeout"),
        ("dynamicAllocation", "schedulerBacklogTimeout"),
        ("dynamicAllocation", "shuffleTrackingTimeout"),
        ("dynamicAllocation", "sustainedSchedulerBacklogTimeout"),
        ("logging", "archive", "interval"),
        ("logging", "archive", "maxAge"),
        ("notebook", "kernelIdleTimeout"),
    ),
    "factor": (("memoryOverheadFactor",),),
    "memory": (
        ("allocation", "memoryOverheadRecovery", "maxIncrease"),
        ("allocation", "memoryOverheadRecovery", "step"),
        ("driver", "memory"),
        ("driver", "memoryOverhead"),
        ("executor", "memory"),
        ("executor", "memoryOverhead"),
        ("logging", "archive", "maxSize"),
        ("shuffleService", "sidecarMemory"),
    ),
    "timestamp": (("run", "expiresAt"),),
}
"""Grammar -> paths below an application's spec."""

SCHEDULE_FIELDS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "cron": (("schedule",),),
    "timezone": (("timeZone",),),
}
"""Grammar -> paths below a ScheduledSparkApplication's spec."""

HISTORY_FIELDS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "duration": (
        ("cleaner", "interval"),
        ("cleaner", "maxAge"),
    ),
    "memory": (("memory",),),
}
"""Grammar -> paths below a SparkHistoryServer's spec."""
