"""The table for spark-submit: what becomes of each option.

Source of the options: org.apache.spark.launcher.SparkSubmitOptionParser and SparkSubmitArguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

LIST = "list"
INT = "int"
CONF = "property"

VARIABLE = "the shell variable {} is copied unchanged: nothing replaces it"
_SUBMITS = "sparkgen does not submit applications"


@dataclass(frozen=True, slots=True)
class Option:
    """An option of spark-submit: where its value goes, and how it is converted; or why it is lost.

    `target`: a field, or a Spark property if `kind` is CONF. `flag`: it takes no value. `needless`: nothing
    is lost without it.
    """

    name: str
    target: str = ""
    kind: str = ""
    reason: str = ""
    step: str = ""
    flag: bool = False
    needless: bool = False


OPTIONS: tuple[Option, ...] = (
    Option("--class", "spec.mainClass"),
    Option("--name", "metadata.name", "name"),
    Option("--master", kind="master", reason="the driver's master is always the allocator in its pod"),
    Option("--deploy-mode", kind="mode", reason="the driver always runs in its own pod"),
    Option("--conf", kind=CONF),
    Option("--driver-memory", "spec.driver.memory"),
    Option("--driver-cores", "spec.driver.cores", INT),
    Option("--driver-java-options", "spec.driver.javaOptions"),
    Option("--driver-library-path", "spark.driver.extraLibraryPath", CONF),
    Option("--driver-class-path", "spark.driver.extraClassPath", CONF),
    Option("--executor-memory", "spec.executor.memory"),
    Option("--executor-cores", "spec.executor.cores", INT),
    Option("--num-executors", "spec.executor.instances", INT),
    Option("--jars", "spec.deps.jars", LIST),
    Option("--files", "spec.deps.files", LIST),
    Option("--py-files", "spec.deps.pyFiles", LIST),
    Option("--archives", "spec.deps.archives", LIST),
    Option("--packages", "spec.deps.packages", LIST),
    Option("--exclude-packages", "spec.deps.excludePackages", LIST),
    Option("--repositories", "spec.deps.repositories", LIST),
    Option("--proxy-user", "spec.proxyUser"),
    Option("--principal", "spark.kerberos.principal", CONF),
    Option("--keytab", "spark.kerberos.keytab", CONF),
    Option(
        "--properties-file",
        kind="properties",
        reason="import did not find the file at this path, relative to the script and in its Git repository",
        step="copy the file beside the script and add it to Git, or copy its properties to `sparkConf`",
    ),
    Option(
        "--load-spark-defaults",
        flag=True,
        reason="sparkgen reads no spark-defaults.conf of a submitting machine",
        step="copy the properties of that file to `sparkConf`",
    ),
    Option(
        "--total-executor-cores",
        reason="documents set the number of executors, not their total cores",
        step="set `executor.instances` to this number divided by `executor.cores`",
    ),
    Option(
        "--supervise",
        flag=True,
        reason="a failed driver restarts only with a `restartPolicy`",
        step="set `restartPolicy: {type: OnFailure, onFailureRetries: ...}`",
    ),
    Option(
        "--queue",
        reason="the option names a queue of YARN",
        step="use a namespace with a quota, or a queue of your batch scheduler",
    ),
    Option(
        "--remote",
        reason="with Spark Connect, the driver runs in a server",
        step="run the program as a client of a Connect server",
    ),
    Option(
        "--verbose",
        flag=True,
        needless=True,
        reason="the option only makes spark-submit print more",
    ),
    Option("--kill", reason=_SUBMITS, step="to stop a run, delete the driver's Job"),
    Option("--status", reason=_SUBMITS, step="to see the state of a run, look at the driver's Job"),
    Option("--help", flag=True, needless=True, reason=_SUBMITS),
    Option("--version", flag=True, needless=True, reason=_SUBMITS),
    Option("--usage-error", flag=True, needless=True, reason=_SUBMITS),
)
SHORT = {"-c": "--conf", "-v": "--verbose", "-h": "--help"}
BY_NAME: Mapping[str, Option] = {option.name: option for option in OPTIONS}
NO_APPLICATION = frozenset({"--kill", "--status", "--help", "--version", "--usage-error"})
