"""What a session needs of its document and of this machine, checked before anything is created."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sparkgen import model
from sparkgen.errors import SparkgenError

if TYPE_CHECKING:
    from sparkgen.document import Document
    from sparkgen.model.application import Application

SHELLS = {"Python": "pyspark"}
"""Language -> the program to run if no command is given; SHELL for other languages."""
SHELL = "spark-shell"
_SPARKS_OWN = ("pyspark", "spark-shell", "spark-sql", "spark-submit", "sparkR")
_KINDS = ("SparkApplication", "ScheduledSparkApplication")
_COUNT_THE_DRIVER = ("volcano", "yunikorn")
"""Schedulers whose rendered group has the driver's pod as a member."""


def check_kind(document: Document) -> None:
    """Raise SparkgenError for a document whose driver cannot run on this machine."""
    kind = document.value["kind"]
    if kind == model.CONNECT_KIND:
        raise SparkgenError(
            f"the driver of a {kind} runs in the cluster; next: sparkgen connect "
            f"{document.value['metadata']['name']}"
        )
    if kind not in _KINDS:
        why = "has no executors" if kind in model.SERVER_KINDS else "runs its driver in the cluster"
        raise SparkgenError(f"a {kind} {why}; give an application's document")


def check_authenticates(application: Application) -> None:
    """Raise SparkgenError if anybody who reaches the driver's port could run code as this user."""
    asked = application.properties.get("spark.authenticate", "true")
    if asked.lower() != "true":
        raise SparkgenError(
            f"spark.authenticate is {asked}: anybody who can reach the driver's port on this machine "
            "could run "
            "programs as you. Delete it from spec.sparkConf; if you use a shuffle service, set its secretName"
        )


def check_scheduler(application: Application) -> None:
    """Raise SparkgenError if the scheduler reserves room for a driver's pod: a session has none."""
    name = application.batch.name if application.batch else ""
    if name in _COUNT_THE_DRIVER:
        raise SparkgenError(
            f"batchScheduler {name} reserves room for a driver in the cluster, but the driver of a "
            "session runs "
            "on this machine; add --set spec.batchScheduler=null,spec.batchSchedulerOptions=null"
        )


def check_allocator(application: Application) -> None:
    """Raise SparkgenError for an application whose Role is for Spark's own backend, not for the allocator."""
    if application.by_spark:
        raise SparkgenError(
            "a session needs sparkgen's allocator and its Role, but the document has allocator: spark; give "
            "a copy of the document with another metadata.name, and without this field"
        )


def command(
    asked: tuple[str, ...], application: Application, environment: Mapping[str, str]
) -> tuple[str, ...]:
    """Returns the program's path on this machine, and its arguments. Raises SparkgenError if not found."""
    first, *arguments = asked or (SHELLS.get(application.language, SHELL),)
    home = environment.get("SPARK_HOME")
    places = (os.path.join(home, "bin") if home else "", environment.get("PATH", os.defpath))  # noqa: PTH118
    program = shutil.which(first, path=os.pathsep.join(filter(None, places)))
    if program is None:
        step = ""
        if first in _SPARKS_OWN:
            version = application.spark_version
            step = f"; install Spark {version} (pip install pyspark=={version}), or set SPARK_HOME"
        raise SparkgenError(f"cannot run {first}: command not found{step}")
    return (program, *arguments)
