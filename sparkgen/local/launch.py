"""Starts driver and executors here: with the commands and variables of their containers."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparkgen import contract
from sparkgen.local import connect
from sparkgen.local.folders import Folders
from sparkgen.local.java import Java
from sparkgen.local.path_mapping import PathMapping
from sparkgen.local.ports import LOOPBACK
from sparkgen.local.spark import Spark
from sparkgen.local.variables import inherited, resolved
from sparkgen.model import notebook
from sparkgen.model.application import Application
from sparkgen.model.connect import NO_MAIN_FILE

MAIN_FILE = "spec.mainApplicationFile"


@dataclass(frozen=True, slots=True)
class Setting:
    """What all processes of a run are started with. `environment`: the user's own."""

    spark: Spark
    java: Java
    places: PathMapping
    folders: Folders
    environment: Mapping[str, str]
    hadoop: bool
    """Whether the document has Hadoop settings."""
    python_path: tuple[str, ...] = ()
    """Folders with the document's own modules and packages."""


@dataclass(frozen=True, slots=True)
class Start:
    """A program to start."""

    command: tuple[str, ...]
    environment: Mapping[str, str]


def python(environment: Mapping[str, str]) -> str:
    """The Python for user code: PYSPARK_PYTHON, the active environment's, python3 on the PATH, or our own."""
    if named := environment.get("PYSPARK_PYTHON"):
        return named
    if active := environment.get("VIRTUAL_ENV"):
        return str(Path(active) / "bin" / "python")
    return shutil.which("python3", path=environment.get("PATH")) or sys.executable


def main_file(application: Application, places: PathMapping) -> str:
    """The application's file here, or spark-submit's name for no file. Raises CannotRun if it is missing."""
    named = application.main_file or NO_MAIN_FILE
    return named if named in (NO_MAIN_FILE, notebook.MAIN_FILE) else places.file(named, MAIN_FILE)


def driver(
    application: Application, container: Mapping[str, Any], setting: Setting, properties: Path
) -> Start:
    """The driver: spark-submit, like in the stock image's entrypoint. Raises CannotRun without its file."""
    command = [
        str(setting.spark.home / "bin" / "spark-submit"),
        *("--properties-file", str(properties), "--deploy-mode", "client"),
        *(("--proxy-user", application.proxy_user) if application.proxy_user else ()),
        *(("--class", application.main_class) if application.main_class else ()),
        main_file(application, setting.places),
        *map(setting.places.argument, application.arguments),
    ]
    fields = {
        "status.podIP": LOOPBACK,
        "metadata.name": application.name,
        "metadata.namespace": application.namespace,
    }
    variables = {
        **_common(container, setting, fields, {}),
        **connect.token(application, setting.environment),
        contract.ENV_LOCAL_DIRS: str(setting.folders.scratch("driver")),
    }
    return Start(tuple(command), variables)


def executor(pod: Mapping[str, Any], setting: Setting, secrets: Mapping[tuple[str, str], str]) -> Start:
    """An executor: the script of the executor's pod, with the variables of its Spark container."""
    container = spark_container(pod, contract.EXECUTOR_CONTAINER)
    name = pod["metadata"]["name"]
    fields = {
        "status.podIP": LOOPBACK,
        "metadata.name": name,
        "metadata.namespace": pod["metadata"]["namespace"],
    }
    variables = _common(container, setting, fields, secrets)
    for name in (contract.ENV_CLASSPATH, contract.ENV_LIBRARY_PATH, contract.ENV_PYTHON_FILES):
        if name in variables:
            variables[name] = setting.places.path_list(variables[name])
    variables[contract.ENV_LOCAL_DIRS] = str(setting.folders.scratch(name))
    return Start(("bash", str(setting.folders.conf / contract.EXECUTOR_SCRIPT_FILE)), variables)


def spark_container(pod: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The container in which Spark runs in a pod."""
    found: Mapping[str, Any] = next(entry for entry in pod["spec"]["containers"] if entry["name"] == name)
    return found


def _common(
    container: Mapping[str, Any],
    setting: Setting,
    fields: Mapping[str, str],
    secrets: Mapping[tuple[str, str], str],
) -> dict[str, str]:
    folders, spark = setting.folders, setting.spark
    found = {**inherited(setting.environment), **resolved(container.get("env") or (), fields, secrets)}
    own_path = setting.environment.get("PYTHONPATH")
    image_path = found.get("PYTHONPATH") and setting.places.path_list(found["PYTHONPATH"])
    found |= {
        "SPARK_HOME": str(spark.home),
        "JAVA_HOME": str(setting.java.home),
        "SPARK_LOCAL_IP": LOOPBACK,  # or the UI would listen on every address
        "PYTHONPATH": ":".join(filter(None, (spark.python_path, *setting.python_path, image_path, own_path))),
        "PYSPARK_PYTHON": python(setting.environment),
        contract.ENV_SPARK_CONF_DIR: str(folders.conf),
    }
    found.pop(contract.ENV_HADOOP_CONF_DIR, None)
    if setting.hadoop:
        found[contract.ENV_HADOOP_CONF_DIR] = str(folders.hadoop)
    return found
