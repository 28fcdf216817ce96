"""The identity of a run: a hash of everything that it depends on, and of nothing else.

The hash covers the workload's specification, the files of the run's ConfigMaps and `spec.run.id`. It
leaves out what Kubernetes allows to change on an existing Job (`CHANGEABLE`), what is tunable (the tuning
ConfigMap), names of the application's own objects, and provenance. See docs/design/run-identity.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkgen import names
from sparkgen.model.application import Application
from sparkgen.resources import conf
from sparkgen.resources.delivery import mounted
from sparkgen.resources.objects import workload

CHANGEABLE = ("activeDeadlineSeconds", "backoffLimit", "suspend", "ttlSecondsAfterFinished", "replicas")
"""Fields of a workload's spec that may change in place (a Job's: batch/validation, ValidateJobSpecUpdate)."""


def run_name(application: Application) -> str:
    """The name of the run that the application describes now."""
    return names.run_name(application.name, run_hash(application))


def run_hash(application: Application) -> str:
    """The hash of a run: eight hexadecimal characters, which generator and chart compute equally."""
    return names.digest(identity(application), names.RUN_HASH_LENGTH)


def identity(application: Application) -> dict[str, Any]:
    """The input of the hash: the run's objects, with a placeholder where the hash will be."""
    run = names.run_name(application.name, names.RUN_PLACEHOLDER)
    own = mounted(application)
    return {
        "id": application.run.get("id") or "",
        "workload": _job_spec(workload(application, run)),
        "files": files(application, run),
        **({"mounted": own} if own else {}),
    }


def files(application: Application, run: str) -> dict[str, dict[str, str]]:
    """The run's ConfigMaps: suffix of the name -> file name -> text."""
    result = {"conf": conf.conf_files(application)}
    if application.hadoop:
        result["hadoop"] = conf.hadoop_files(application)
    result["executor"] = conf.executor_files(application, run)
    return result


def _job_spec(workload: Mapping[str, Any]) -> dict[str, Any]:
    spec = workload["spec"]
    if workload["kind"] == "CronJob":
        spec = spec["jobTemplate"]["spec"]
    return {key: value for key, value in spec.items() if key not in CHANGEABLE}
