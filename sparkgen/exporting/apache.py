"""The table for the SparkApplication of Apache's spark-kubernetes-operator: native.py's, and its own fields.

Source of the fields: see sparkgen/importing/apache.py.
"""

from __future__ import annotations

from typing import Any

from sparkgen.exporting import native, rows
from sparkgen.importing import apache
from sparkgen.importing.draft import Draft
from sparkgen.importing.entry import Outcome
from sparkgen.importing.table import ROLES, Row, Take, table
from sparkgen.spark_versions import scala_line

API_VERSION = f"{apache.GROUP}/v1"
_MAIN_FILES = {"Python": "pyFiles", "R": "sparkRFiles"}
"""Language -> the field with its main file; others have a jar."""
_RESTART = ("spec", "applicationTolerations", "restartConfig")


def main_file(given: Take) -> None:
    """Copy the main file to the field for its language."""
    field = _MAIN_FILES.get(str(given.draft.value["type"]), "jars")
    rows.local_file(("spec", field), given)


def restart(given: Take) -> None:
    """Convert the policy and its number of retries."""
    given.at("type").put(
        (*_RESTART, "restartPolicy"), given.node.value.get("type", "Never"), Outcome.REWRITTEN
    )
    if "onFailureRetries" in given.node.value:
        part = given.at("onFailureRetries")
        part.put((*_RESTART, "maxRestartAttempts"), part.node.value, Outcome.REWRITTEN)


def time_to_live(given: Take) -> None:
    """Convert seconds to milliseconds."""
    target = ("spec", "applicationTolerations", "ttlAfterStopMillis")
    given.put(target, given.node.value * 1000, Outcome.REWRITTEN)


ROWS = (
    *native.ROWS,
    Row("spec.type", needless=True, reason="the field of the main file says so"),
    Row("spec.sparkVersion", "spec.runtimeVersions.sparkVersion"),
    Row("spec.scalaVersion", "spec.runtimeVersions.scalaVersion"),
    Row("spec.mainClass", "spec.mainClass"),
    Row("spec.mainApplicationFile", how=main_file),
    Row("spec.arguments", "spec.driverArgs"),
    Row("spec.proxyUser", "spec.proxyUser"),
    Row("spec.restartPolicy", how=restart),
    Row("spec.timeToLiveSeconds", how=time_to_live),
    Row(
        "spec.suspend", reason="the operator has no such field", step="apply the application when it may run"
    ),
)
TABLE = table(ROWS)


def complete(draft: Draft) -> None:
    """Add what the operator needs."""
    native.complete(draft)
    versions: dict[str, Any] = draft.value["spec"].get("runtimeVersions", {})
    if "scalaVersion" not in versions and (line := scala_line(str(versions.get("sparkVersion", "")))):
        draft.put(("spec", "runtimeVersions", "scalaVersion"), line)
    for role in ROLES:
        template = native.pod_template(draft.value[native.PODS], role)
        if template:
            draft.put(("spec", f"{role}Spec", "podTemplateSpec"), template)
