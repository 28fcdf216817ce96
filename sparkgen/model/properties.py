"""Typed fields of a document as Spark properties: one table, and one order of precedence.

Later ones win: `sparkConf`, then `hadoopConf`, then the typed fields (as in kubeflow's operator).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sparkgen.grammar.memory import BLANKS
from sparkgen.model import kerberos
from sparkgen.names import MAX_LABEL, number_text
from sparkgen.properties import HADOOP
from sparkgen.properties.older import under_new_names

DYNAMIC_ALLOCATION = "spark.dynamicAllocation.enabled"
TYPED_PROPERTIES: Mapping[tuple[str, ...], str] = {
    ("memoryOverheadFactor",): "spark.kubernetes.memoryOverheadFactor",
    ("deps", "jars"): "spark.jars",
    ("deps", "files"): "spark.files",
    ("deps", "pyFiles"): "spark.submit.pyFiles",
    ("deps", "archives"): "spark.archives",
    ("deps", "packages"): "spark.jars.packages",
    ("deps", "excludePackages"): "spark.jars.excludes",
    ("deps", "repositories"): "spark.jars.repositories",
    ("driver", "cores"): "spark.driver.cores",
    ("driver", "coreRequest"): "spark.kubernetes.driver.request.cores",
    ("driver", "coreLimit"): "spark.kubernetes.driver.limit.cores",
    ("driver", "memory"): "spark.driver.memory",
    ("driver", "memoryOverhead"): "spark.driver.memoryOverhead",
    ("driver", "javaOptions"): "spark.driver.extraJavaOptions",
    ("executor", "cores"): "spark.executor.cores",
    ("executor", "coreRequest"): "spark.kubernetes.executor.request.cores",
    ("executor", "coreLimit"): "spark.kubernetes.executor.limit.cores",
    ("executor", "memory"): "spark.executor.memory",
    ("executor", "memoryOverhead"): "spark.executor.memoryOverhead",
    ("executor", "javaOptions"): "spark.executor.extraJavaOptions",
    ("executor", "instances"): "spark.executor.instances",
    ("dynamicAllocation", "enabled"): DYNAMIC_ALLOCATION,
    ("dynamicAllocation", "initialExecutors"): "spark.dynamicAllocation.initialExecutors",
    ("dynamicAllocation", "minExecutors"): "spark.dynamicAllocation.minExecutors",
    ("dynamicAllocation", "maxExecutors"): "spark.dynamicAllocation.maxExecutors",
    ("dynamicAllocation", "shuffleTrackingEnabled"): "spark.dynamicAllocation.shuffleTracking.enabled",
    ("dynamicAllocation", "shuffleTrackingTimeout"): "spark.dynamicAllocation.shuffleTracking.timeout",
    ("dynamicAllocation", "executorIdleTimeout"): "spark.dynamicAllocation.executorIdleTimeout",
    ("dynamicAllocation", "cachedExecutorIdleTimeout"): "spark.dynamicAllocation.cachedExecutorIdleTimeout",
    ("dynamicAllocation", "schedulerBacklogTimeout"): "spark.dynamicAllocation.schedulerBacklogTimeout",
    (
        "dynamicAllocation",
        "sustainedSchedulerBacklogTimeout",
    ): "spark.dynamicAllocation.sustainedSchedulerBacklogTimeout",
    ("dynamicAllocation", "executorAllocationRatio"): "spark.dynamicAllocation.executorAllocationRatio",
    ("allocation", "batchSize"): "spark.kubernetes.allocation.batch.size",
    ("allocation", "batchDelay"): "spark.kubernetes.allocation.batch.delay",
    ("allocation", "maxPendingPods"): "spark.kubernetes.allocation.maxPendingPods",
    ("allocation", "executorTimeout"): "spark.kubernetes.allocation.executor.timeout",
    ("allocation", "maxExecutorFailures"): "spark.executor.maxNumFailures",
    ("allocation", "executorFailuresValidityInterval"): "spark.executor.failuresValidityInterval",
    ("kerberos", "fileSystems"): "spark.kerberos.access.hadoopFileSystems",
    ("eventLog", "enabled"): "spark.eventLog.enabled",
    ("eventLog", "dir"): "spark.eventLog.dir",
    ("eventLog", "rolling"): "spark.eventLog.rolling.enabled",
    ("eventLog", "compress"): "spark.eventLog.compress",
}
"""Path of a typed field below an application's spec -> the Spark property for it."""

TUNABLE = frozenset(
    {
        "spark.executor.instances",
        "spark.dynamicAllocation.initialExecutors",
        "spark.dynamicAllocation.minExecutors",
        "spark.dynamicAllocation.maxExecutors",
        "spark.executor.maxNumFailures",
        "spark.executor.failuresValidityInterval",
    }
)
"""Properties in the tuning ConfigMap, so that changing them starts no new run. They are not in the driver's
properties, and neither are those of `spark.kubernetes.` that spark-submit does not read (conf.py)."""


EVENT_LOG_DEFAULTS: Mapping[str, str] = {
    # Object stores show a file only when it is closed, and a driver that is killed closes none.
    "spark.eventLog.rolling.enabled": "true",
    "spark.eventLog.compress": "true",
}
"""Properties of an application with an `eventLog`, unless it says otherwise."""


def app_name_label(properties: Mapping[str, str], application: str) -> str:
    """The application's name in Spark as a label value (KubernetesConf.getAppNameLabel)."""
    name = properties.get("spark.app.name", application).strip(BLANKS).lower()
    text = re.sub("[^a-z0-9]+", "-", name)
    return text[:MAX_LABEL].removeprefix("-").removesuffix("-")


def property_text(value: Any) -> str:
    """A typed value as a Spark property: lists joined by commas, `true` and `false` in lower case."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ",".join(str(item) for item in value)
    return number_text(value) if isinstance(value, float) else str(value)


def is_true(properties: Mapping[str, str], name: str, default: bool = False) -> bool:
    """A boolean property as Spark reads it: trimmed as in Java, in any case (ConfigHelpers.toBoolean)."""
    text = properties.get(name)
    return default if text is None else text.strip(BLANKS).lower() == "true"


def lookup(value: Any, path: tuple[str, ...]) -> Any:
    """The value at a path of keys; None if it does not exist."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def effective_properties(spec: Mapping[str, Any]) -> dict[str, str]:
    """All Spark properties of an application's spec, from all fields that set properties.

    Older names are replaced by the new ones. `hadoopConf` becomes `spark.hadoop.*`, as in kubeflow's
    operator. A core-site.xml is not enough: defaults of Spark and Hadoop override it, as for
    mapreduce.fileoutputcommitter.algorithm.version (SparkHadoopUtil.appendSparkHadoopConfigs) and for the
    properties in hdfs-default.xml.
    """
    properties = under_new_names(spec.get("sparkConf") or {})
    for name, text in (spec.get("hadoopConf") or {}).items():
        properties[f"{HADOOP}{name}"] = text
    for path, name in TYPED_PROPERTIES.items():
        value = lookup(spec, path)
        if value is not None and value != []:
            properties[name] = property_text(value)
    properties = {**kerberos.default_properties(spec), **properties, **kerberos.login_properties(spec)}
    if spec.get("eventLog"):
        properties = {**EVENT_LOG_DEFAULTS, **properties}
        if "enabled" not in spec["eventLog"]:
            properties["spark.eventLog.enabled"] = "true"
    timeout = lookup(spec, ("dynamicAllocation", "shuffleTrackingTimeout"))
    if isinstance(timeout, int):
        # kubeflow's field is in milliseconds; Spark would read a bare number as seconds.
        properties["spark.dynamicAllocation.shuffleTracking.timeout"] = f"{timeout}ms"
    return properties
