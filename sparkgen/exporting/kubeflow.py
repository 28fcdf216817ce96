"""The table for kubeflow's SparkApplication and ScheduledSparkApplication: the inverse of the import's.

Source of the fields: see sparkgen/importing/kubeflow.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from sparkgen import contract
from sparkgen.exporting import rows
from sparkgen.importing import kubeflow
from sparkgen.importing.draft import Draft
from sparkgen.importing.entry import Outcome
from sparkgen.importing.table import ROLES, Row, Take, copy, expanded, table
from sparkgen.model.batch import DEFAULT_QUEUE
from sparkgen.properties import HADOOP

API_VERSION = f"{kubeflow.GROUP}/v1beta2"
_RETRY_INTERVAL = 10
"""Seconds: the first pause of Kubernetes between two retries of a Job."""


def restart(given: Take) -> None:
    """Copy the policy. The operator retries only if the policy has an interval."""
    copy(given)
    if given.node.value.get("type") == "OnFailure":
        target = ("spec", "restartPolicy", "onFailureRetryInterval")
        reason = "the operator needs an interval; Kubernetes waits 10 s, 20 s, 40 s and so on"
        given.draft.add(Outcome.ADDED, target, _RETRY_INTERVAL, reason)


def hadoop_properties(given: Take) -> None:
    """Copy the properties of Hadoop, except those that would mean something else where they are submitted."""
    for key, child in given.node.entries.items():
        if rows.is_safe(given.at(key), f"{HADOOP}{key}", str(child.value)):
            given.at(key).put(("spec", "hadoopConf", key), child.value)


def java_options(given: Take) -> None:
    """Copy Java options, unless the operator's pod would replace a part of them."""
    if rows.is_safe(given, "", str(given.node.value)):
        copy(given)


def tracking_timeout(given: Take) -> None:
    """Copy a number of milliseconds; a text becomes a property."""
    if isinstance(given.node.value, int):
        given.put(("spec", "dynamicAllocation", "shuffleTrackingTimeout"), given.node.value)
    else:
        rows.tracking_timeout(given)


def batch_scheduler(given: Take) -> None:
    """Copy the scheduler. Kueue needs no field: it finds the application by the label of its queue."""
    if given.node.text != "kueue":
        copy(given)
        return
    reason = "Kueue admits the application with all its executors"
    given.put(("metadata", "labels", contract.LABEL_QUEUE), DEFAULT_QUEUE, Outcome.CHANGED, reason)


def queue(given: Take) -> None:
    """Copy the settings of a queue; those of Kueue become labels of the application."""
    if given.draft.get("spec", "batchScheduler") is not None:
        copy(given)
        return
    given.put(("metadata", "labels", _QUEUE[str(given.path[-1])]), given.node.value, Outcome.REWRITTEN)


def metrics(given: Take) -> None:
    """Copy the metrics configuration, and let the operator use it for both roles."""
    given.put(
        ("spec", "monitoring"),
        {"exposeDriverMetrics": True, "exposeExecutorMetrics": True, "metricsProperties": given.node.value},
        Outcome.CHANGED,
        "the operator uses it only together with `prometheus`",
        "set `spec.monitoring.prometheus`",
    )


def _inverse() -> Iterator[Row]:
    """Yields the rows of the import that only copy, the other way round, except those of _OWN."""
    for row in expanded((*kubeflow.SPEC_ROWS, *kubeflow.ROLE_ROWS)):
        copies = row.how is None and row.target and not row.reason
        if copies and row.target not in _OWN and ".template." not in row.target:
            yield Row(row.target, row.source)


_OVERRIDDEN = dict.fromkeys(kubeflow.NAMES, (kubeflow.NAMED, "delete it, or rename the application"))
_QUEUE = {"queue": contract.LABEL_QUEUE, "priorityClassName": contract.LABEL_QUEUE_PRIORITY}
"""Setting of a queue -> the label by which Kueue reads it."""
_OWN = frozenset(
    {
        "spec.mainApplicationFile",
        "spec.hadoopConf",
        *(f"spec.{role}.javaOptions" for role in ROLES),
        "spec.driver.serviceAccount",
        "spec.dynamicAllocation.shuffleTrackingTimeout",
        *(f"spec.deps.{name}" for name in rows.FILES),
        *(f"spec.batchSchedulerOptions.{name}" for name in _QUEUE),
    }
)
"""Fields that both formats have, and that need more than a copy."""
_COPIED = tuple(_inverse())
_NO_PROPERTY = frozenset(row.source.removeprefix("spec.") for row in _COPIED) | {
    *(f"{role}.javaOptions" for role in ROLES),
    "deps",
    "eventLog",
    "dynamicAllocation.shuffleTrackingTimeout",
}
ROWS = (
    *rows.METADATA_ROWS,
    *_COPIED,
    Row("spec.sparkConf", how=partial(rows.spark_conf, overridden=_OVERRIDDEN)),
    Row("spec.hadoopConf", how=hadoop_properties),
    *(Row(f"spec.{role}.javaOptions", f"spec.{role}.javaOptions", how=java_options) for role in ROLES),
    *rows.property_rows(_NO_PROPERTY),
    Row("spec.mainApplicationFile", how=partial(rows.local_file, ("spec", "mainApplicationFile"))),
    *(Row(f"spec.deps.{name}", how=partial(rows.local_files, ("spec", "deps", name))) for name in rows.FILES),
    Row("spec.dynamicAllocation.shuffleTrackingTimeout", how=tracking_timeout),
    Row("spec.eventLog", how=rows.event_log),
    *rows.KERBEROS_ROWS,
    Row("spec.restartPolicy", "spec.restartPolicy", how=restart),
    Row("spec.timeToLiveSeconds", "spec.timeToLiveSeconds"),
    Row(
        "spec.activeDeadlineSeconds",
        "spec.driver.template.spec.activeDeadlineSeconds",
        reason="limits each attempt of the driver, not the run with its retries",
    ),
    Row(
        "spec.driver.serviceAccount",
        "spec.driver.serviceAccount",
        how=partial(rows.account, ("spec", "driver", "serviceAccount")),
    ),
    *(Row(f"spec.{role}.template", f"spec.{role}.template") for role in ROLES),
    *(
        Row(
            f"spec.{role}.topologySpreadConstraints",
            f"spec.{role}.template.spec.topologySpreadConstraints",
        )
        for role in ROLES
    ),
    *(
        Row(
            f"spec.{role}.imagePullPolicy",
            reason="the operator has one policy for both roles",
            step="set `spec.imagePullPolicy`",
        )
        for role in ROLES
    ),
    Row("spec.scalaVersion", needless=True, reason="the image determines it"),
    Row(
        "spec.sparkConfFiles",
        reason="the operator mounts a whole ConfigMap",
        step="write a ConfigMap with these files, and name it in `spec.sparkConfigMap`",
    ),
    Row("spec.batchScheduler", "spec.batchScheduler", how=batch_scheduler),
    *(
        Row(f"spec.batchSchedulerOptions.{name}", f"spec.batchSchedulerOptions.{name}", how=queue)
        for name in _QUEUE
    ),
    Row(
        "spec.batchSchedulerOptions.executorPriorityClassName",
        reason="the operator's group has one priority",
        step="set `executor.priorityClassName`",
    ),
    Row(
        "spec.batchSchedulerOptions.minExecutors",
        reason="the operator's group always has all executors",
        step="lower `executor.instances` to the number that must start together",
    ),
    Row("spec.monitoring.metricsProperties", how=metrics),
    Row(
        "spec.podDisruptionBudget",
        reason="not every release of the operator has a budget",
        step="write a PodDisruptionBudget that selects the driver's pod",
    ),
    *rows.OWN_ROWS,
)
TABLE = table(ROWS)
OUTER = table(
    (
        *rows.METADATA_ROWS,
        *(Row(row.target.replace("outer.", "spec.", 1), row.target) for row in kubeflow.OUTER_ROWS),
        Row(
            "spec.startingDeadlineSeconds",
            reason="the operator starts a run that it has missed once, however late it is",
            step="delete it",
        ),
    )
)


def complete(draft: Draft) -> None:
    """Add what the operator needs, or does otherwise by default."""
    draft.put(("spec", "mode"), "cluster")
    rows.label_pods(draft, lambda role, key: ("spec", role, "labels", key))
    if draft.get("spec", "driver", "serviceAccount") is None:
        rows.guess_account(draft, ("spec", "driver", "serviceAccount"))
    rows.authenticate(draft)
    if draft.scheduled:
        for field, value in (("concurrencyPolicy", "Forbid"), ("successfulRunHistoryLimit", 3)):
            if draft.get("outer", field) is None:
                draft.add(
                    Outcome.ADDED, ("outer", field), value, "sparkgen's default; the operator has another"
                )
