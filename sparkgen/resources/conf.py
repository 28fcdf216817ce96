"""The contents of the ConfigMaps: configuration of Spark and Hadoop, executor template and tuning."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen import contract
from sparkgen.model import connect
from sparkgen.model.application import Application, Role
from sparkgen.model.delivery import PYTHON_FILES, image_modules
from sparkgen.model.properties import TUNABLE
from sparkgen.properties.table import done, passed
from sparkgen.resources import spark_backend
from sparkgen.resources.batch import waits_for_gang
from sparkgen.resources.delivery import scheduler_jar
from sparkgen.resources.executor import executor_pod
from sparkgen.resources.exposure import redirect_properties
from sparkgen.resources.logarchive import log_scripts
from sparkgen.resources.shuffle import executor_scripts, shuffle_defaults, shuffle_properties
from sparkgen.resources.text import hadoop_xml, json_text, properties_text, static_text

IVY_DIR = "/tmp/.ivy2"  # noqa: S108 - inside the pod; the stock image's user has no home to write to


MASTER = f"sparkgen://127.0.0.1:{contract.SCHEDULER_PORT}"
CONTRACT_PROPERTIES: Mapping[str, str] = {
    "spark.submit.deployMode": "client",
    "spark.driver.port": str(contract.DRIVER_PORT),
    "spark.driver.blockManager.port": str(contract.BLOCK_MANAGER_PORT),
    "spark.blockManager.port": str(contract.BLOCK_MANAGER_PORT),
    "spark.ui.port": str(contract.UI_PORT),
}
"""Properties that every driver has, whatever its document says."""


SET_BY_SPARKGEN = done()
PASSED_KUBERNETES = passed("spark.kubernetes.")
"""The properties of `spark.kubernetes.` that the driver's spark-submit reads."""


def spark_properties(application: Application) -> dict[str, str]:
    """The driver's properties, sorted by name; without those that the allocator adds later.

    Later ones win: sparkgen's defaults, then the document's properties, then what the contract requires.
    """
    defaults = {"spark.app.name": application.name, "spark.authenticate": "true"}
    if application.shuffle is not None:
        defaults |= shuffle_defaults(application.shuffle)
    elif application.executors.dynamic:
        # Without shuffle tracking or a shuffle service, Spark refuses dynamic allocation
        # (ExecutorAllocationManager).
        defaults["spark.dynamicAllocation.shuffleTracking.enabled"] = "true"
    defaults |= redirect_properties(application.ui) | waits_for_gang(application)
    if "spark.jars.packages" in application.properties:
        defaults["spark.jars.ivy"] = IVY_DIR
    asked = {
        name: text
        for name, text in application.properties.items()
        if (_is_for_sparks_backend if application.by_spark else _is_for_spark)(name)
    }
    if asked.pop(PYTHON_FILES, "") and (submitted := image_modules(application.properties).submitted):
        asked[PYTHON_FILES] = ",".join(submitted)
    if application.by_spark:
        asked = spark_backend.without_template_variables(application, asked)
    return dict(sorted({**defaults, **asked, **_contract_properties(application)}.items()))


def _is_for_spark(name: str) -> bool:
    """Whether a property is for the driver: of `spark.kubernetes.`, spark-submit reads only a few."""
    if name.startswith("spark.kubernetes."):
        return name in PASSED_KUBERNETES
    return name not in TUNABLE


def _is_for_sparks_backend(name: str) -> bool:
    """The same, if Spark creates the executors: no allocator reads others, or replaces what sparkgen sets."""
    return name not in SET_BY_SPARKGEN and (name in TUNABLE or _is_for_spark(name))


def _contract_properties(application: Application) -> dict[str, str]:
    of_backend = spark_backend.spark_properties if application.by_spark else _allocator_properties
    return {
        **CONTRACT_PROPERTIES,
        **of_backend(application),
        **_sizes(application.driver),
        **_sizes(application.executor),
        **(shuffle_properties(application.shuffle) if application.shuffle is not None else {}),
        **(connect.CONTRACT_PROPERTIES if application.connect is not None else {}),
    }


def _allocator_properties(application: Application) -> dict[str, str]:
    class_path = application.properties.get("spark.driver.extraClassPath")
    return {
        "spark.master": MASTER,
        "spark.driver.extraClassPath": ":".join(filter(None, (scheduler_jar(application), class_path))),
        "spark.sparkgen.allocation.onMismatch": application.on_mismatch,
    }


def _sizes(role: Role) -> dict[str, str]:
    """The sizes of a role's pod as Spark properties: Spark's resource profiles compute with them."""
    return {
        f"spark.{role.name}.cores": str(role.cores),
        f"spark.{role.name}.memory": f"{role.memory.heap}m",
        f"spark.{role.name}.memoryOverhead": f"{role.memory.overhead}m",
    }


def conf_files(application: Application) -> dict[str, str]:
    """The files of the run's `-conf` ConfigMap, for driver, allocator and executors."""
    return {
        **application.conf_files.texts,
        **({} if application.by_spark else executor_scripts(application.shuffle)),
        **log_scripts(application),
        **(
            {contract.NOTEBOOK_SCRIPT_FILE: static_text(contract.NOTEBOOK_SCRIPT_FILE)}
            if application.notebook is not None
            else {}
        ),
        contract.LOG4J2_FILE: log4j2_text(application.log_level, application.loggers),
        contract.METRICS_FILE: application.metrics_properties or static_text(contract.METRICS_FILE),
        contract.SPARK_DEFAULTS_FILE: properties_text(spark_properties(application).items()),
    }


def log4j2_text(log_level: str, loggers: Mapping[str, str]) -> str:
    """The configuration for logging to standard error, in Spark's own layout, with the document's levels."""
    levels = []
    for index, (name, level) in enumerate(sorted(loggers.items()), start=1):
        levels += [(f"logger.l{index}.name", name), (f"logger.l{index}.level", level.lower())]
    root = properties_text([("rootLogger.level", log_level.lower())], " = ")
    text = root + static_text(contract.LOG4J2_FILE)
    return f"{text}\n{properties_text(levels, ' = ')}" if levels else text


def hadoop_files(application: Application) -> dict[str, str]:
    """The files of the run's `-hadoop` ConfigMap."""
    return {contract.HADOOP_FILE: hadoop_xml(dict(sorted(application.hadoop.items())))}


def executor_files(application: Application, run: str) -> dict[str, str]:
    """The files of the run's `-executor` ConfigMap: the pod template for the allocator, or for Spark."""
    template = executor_pod(application, run)
    if application.by_spark:
        file = {"apiVersion": "v1", "kind": "Pod", **template}
    else:
        file = {"apiVersion": "v1", "kind": "PodTemplate", "template": template}
    return {contract.EXECUTOR_TEMPLATE_FILE: json_text(file)}


def tuning_files(application: Application) -> dict[str, str]:
    """The files of the `-tuning` ConfigMap: everything that may change without a new run."""
    executors, run = application.executors, application.run
    history = run.get("history") or {}
    bounds = {"minimum": executors.minimum, "initial": executors.initial, "maximum": executors.maximum}
    document = {
        "version": contract.VERSION,
        "executors": _given(bounds) if executors.dynamic else {"instances": executors.instances},
        "allocation": application.tuning,
        "run": _given({"expiresAt": run.get("expiresAt"), "history": history or None}),
    }
    return {contract.TUNING_FILE: json_text(document)}


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
