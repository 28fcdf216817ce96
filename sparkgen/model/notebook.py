"""A notebook as an application: JupyterLab runs, and its kernels are drivers, one after another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sparkgen import contract
from sparkgen.grammar.duration import to_milliseconds

NOTEBOOK_KIND = "SparkNotebook"
"""The kind of documents that describe a notebook."""

MAIN_FILE = "pyspark-shell"
"""SparkSubmit.PYSPARK_SHELL: the main file of a Python process that is already running, such as a kernel."""
APPLICATION_FIELDS: Mapping[str, Any] = {
    "type": "Python",
    "mainApplicationFile": MAIN_FILE,
    "restartPolicy": {"type": "Always"},
}
"""Fields of an application's spec that a notebook's document does not have."""

DEFAULT_PROPERTIES: Mapping[str, str] = {
    # Kernels may request packages, and the user of stock images has no writable home.
    "spark.jars.ivy": f"{contract.HOME_DIR}/.ivy2",
}


@dataclass(frozen=True, slots=True)
class Notebook:
    """JupyterLab in the driver's container.

    `idle_seconds`: the time without work after which a kernel ends; None: never. `exposed`: the document's
    section, which says how JupyterLab is reached. `claim`: that of the home directory, which otherwise ends
    with the pod.
    """

    token: Mapping[str, str]
    claim: str | None
    idle_seconds: int | None
    exposed: Mapping[str, Any]


def notebook(section: Mapping[str, Any] | None) -> Notebook | None:
    """The values of a document's section `notebook`; None without one."""
    if section is None:
        return None
    idle = section.get("kernelIdleTimeout")
    return Notebook(
        token=section["token"],
        claim=section.get("claim"),
        # Jupyter counts seconds; a number without a unit is milliseconds here, as in every such field.
        idle_seconds=None if idle is None else to_milliseconds(idle, default_unit="ms") // 1000,
        exposed=section,
    )
