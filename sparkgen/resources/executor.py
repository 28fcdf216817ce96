"""The executor's pod template: rendered in full, so that reviewers, scanners and policies see it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sparkgen import contract
from sparkgen.model.application import Application, Role, Shuffle
from sparkgen.model.delivery import image_modules
from sparkgen.model.properties import is_true
from sparkgen.resources import pod
from sparkgen.resources.shuffle import SERVICE_PORT, shuffle_values

DECOMMISSION_SCRIPT = "/opt/decom.sh"
"""The default of spark.kubernetes.decommission.script, in the stock image."""

_REFERENCE = re.compile(r"\$\{[^{}]+\}")

PREFER_IPV6 = "-Djava.net.preferIPv6Addresses=true"

RPC_PASSWORDS: Mapping[str, str] = {
    "keyPassword": "_SPARK_SSL_RPC_KEY_PASSWORD",
    "keyStorePassword": "_SPARK_SSL_RPC_KEY_STORE_PASSWORD",
    "privateKeyPassword": "_SPARK_SSL_RPC_PRIVATE_KEY_PASSWORD",
    "trustStorePassword": "_SPARK_SSL_RPC_TRUST_STORE_PASSWORD",
}
"""The end of a property's name -> the variable from which an executor of Spark 4 reads it (SSLOptions)."""

FIXED_PORTS = frozenset(
    {"spark.blockManager.port", "spark.driver.blockManager.port", "spark.driver.port", "spark.ui.port"}
)
"""The ports that conf.py sets whatever the document says."""


def executor_pod(application: Application, run: str) -> dict[str, Any]:
    """The pod template of every executor of the run named `run`.

    For each executor, the allocator adds name, owner, and the variables of `contract.ADDED_BY_ALLOCATOR`.
    Spark's own backend adds more: see spark_backend.py.
    """
    role = application.executor
    options = startup_options(application.properties, application.shuffle)
    has_log_url = "spark.ui.custom.executor.log.url" in application.properties
    values = {
        **pod.values(application, role, run),
        **shuffle_values(application, role),
        "executorEnv": _executor_env(application),
        "decommissionScript": _decommission_script(application, role),
        "cores": str(role.cores),
        "heap": role.memory.heap,
        "proxyUser": application.proxy_user,
        "classPath": application.properties.get("spark.executor.extraClassPath"),
        "libraryPath": application.properties.get("spark.executor.extraLibraryPath"),
        "pythonFiles": ":".join(image_modules(application.properties).files),
        "customLogUrl": has_log_url,
        "archivedLogUrl": has_log_url and application.log_archive is not None,
        "javaOptions": " ".join(filter(None, (_address_option(application), role.java_options))),
        "startupEnv": [
            {"name": f"{contract.ENV_JAVA_OPT_PREFIX}{index}", "value": option}
            for index, option in enumerate(options)
        ]
        + rpc_passwords(application.properties),
    }
    return pod.assemble(role, values)


def _decommission_script(application: Application, role: Role) -> str | None:
    """The script for the container's preStop hook; None if the document has a hook, or no decommissioning."""
    if not is_true(application.properties, "spark.decommission.enabled") or role.spec.get("lifecycle"):
        return None
    return application.properties.get("spark.kubernetes.decommission.script", DECOMMISSION_SCRIPT)


def _address_option(application: Application) -> str:
    """The driver's choice of IPv6, which Spark passes on to executors (supplementJavaIPv6Options)."""
    return PREFER_IPV6 if PREFER_IPV6 in application.driver.java_options.split() else ""


def startup_options(properties: Mapping[str, str], shuffle: Shuffle | None = None) -> list[str]:
    """Properties that an executor needs before it can ask the driver for the others, as JVM options.

    Source: SparkConf.isExecutorStartupConf of Spark 4. Leaves out ports that the contract fixes, which the
    driver sends: an executor would use the document's ports instead. Also leaves out passwords, because
    everyone who sees the node's processes would see them, but not references to variables.
    """
    wanted = {"spark.authenticate": "true", **properties}
    fixed = FIXED_PORTS if shuffle is None else FIXED_PORTS | {SERVICE_PORT}
    options = [
        f"-D{name}={text}"
        for name, text in sorted(wanted.items())
        if name not in fixed and _is_startup_property(name) and not _is_password(name, text)
    ]
    if shuffle is not None and shuffle.on_node:
        options.append(f"-Dspark.blockManager.port=$({contract.ENV_BLOCK_MANAGER_PORT})")
    return options


def rpc_passwords(properties: Mapping[str, str]) -> list[dict[str, str]]:
    """The passwords that an executor needs for its first TLS connection to the driver, as variables."""
    if not is_true(properties, "spark.ssl.rpc.enabled"):
        return []
    found = {
        variable: (name, properties[name])
        for field, variable in RPC_PASSWORDS.items()
        for name in (f"spark.ssl.{field}", f"spark.ssl.rpc.{field}")  # the last one that is set wins
        if name in properties
    }
    return [
        {"name": variable, "value": text}
        for variable, (name, text) in found.items()
        if _is_password(name, text)
    ]


def _is_password(name: str, text: str) -> bool:
    """Whether a property is a password of TLS, and not a reference such as `${env:KEY_STORE_PASSWORD}`."""
    return name.startswith("spark.ssl") and "Password" in name and not _REFERENCE.fullmatch(text)


def _is_startup_property(name: str) -> bool:
    return (
        (name.startswith("spark.auth") and name != "spark.authenticate.secret")
        or name.startswith(("spark.rpc", "spark.network", "spark.ssl", "spark.port."))
        or (name.startswith("spark.") and name.endswith(".port"))
    )


def _executor_env(application: Application) -> list[dict[str, str]]:
    if application.by_spark:  # Spark adds them itself
        return []
    prefix = "spark.executorEnv."
    return [
        {"name": name.removeprefix(prefix), "value": text}
        for name, text in sorted(application.properties.items())
        if name.startswith(prefix)
    ]
