"""Spark's properties for one machine: those of the cluster's ConfigMap, with other paths and ports."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sparkgen import contract
from sparkgen.local import connect
from sparkgen.local.path_mapping import PathMapping
from sparkgen.model import notebook
from sparkgen.model.application import Application
from sparkgen.model.delivery import PYTHON_FILES
from sparkgen.resources.conf import spark_properties

FILE_LISTS = {
    "spark.jars": "spec.deps.jars",
    "spark.files": "spec.deps.files",
    PYTHON_FILES: "spec.deps.pyFiles",
    "spark.archives": "spec.deps.archives",
}
"""Properties with lists of files, and the fields that they come from."""

IVY = "spark.jars.ivy"
OF_NOTEBOOKS = notebook.DEFAULT_PROPERTIES[IVY]
CLASS_PATHS = ("spark.driver.extraClassPath", "spark.executor.extraClassPath")
IMAGE_PYTHONS = ("spark.pyspark.python", "spark.pyspark.driver.python")


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports on 127.0.0.1."""

    scheduler: int
    """The allocator's port for the scheduler jar."""
    allocator: int
    """The allocator's port for executors and people."""
    driver: int
    ui: int
    connect: int = 0
    """The Connect server's port; 0 for other kinds."""
    notebook: int = 0
    """JupyterLab's port; 0 for other kinds."""


def local_properties(
    application: Application, places: PathMapping, jar: Path, ports: Ports
) -> dict[str, str]:
    """The driver's properties, without the session's. Raises CannotRun if a file is missing."""
    found = spark_properties(application)
    for name, field in FILE_LISTS.items():
        if found.get(name):
            here = [places.file(entry.strip(), field) for entry in found[name].split(",")]
            # Folders of modules are on PYTHONPATH; Spark does not send them to executors.
            found[name] = ",".join(
                place for place in here if name != PYTHON_FILES or not Path(place).is_dir()
            )
    for name in CLASS_PATHS:
        if application.properties.get(name):
            found[name] = places.path_list(application.properties[name])
    for name in IMAGE_PYTHONS:
        if found.get(name, "").startswith("/") and not Path(found[name]).exists():
            del found[name]  # the image's
    if application.properties.get(IVY, OF_NOTEBOOKS) == OF_NOTEBOOKS:
        found.pop(IVY, None)  # this user has a home folder
    own_path = application.properties.get("spark.driver.extraClassPath")
    found |= {
        "spark.master": f"sparkgen://127.0.0.1:{ports.scheduler}",
        "spark.driver.extraClassPath": ":".join(
            filter(None, (str(jar), places.path_list(own_path) if own_path else ""))
        ),
        "spark.driver.port": str(ports.driver),
        # Executors share the machine: each uses its own port.
        "spark.driver.blockManager.port": "0",
        "spark.blockManager.port": "0",
        "spark.ui.port": str(ports.ui),
        **(connect.properties(ports.connect) if ports.connect else {}),
        # Of two kernels of a notebook, the allocator refuses the second, with the name of the first.
        **({} if ports.notebook else {contract.DRIVER_PORT_PROPERTY: str(ports.driver)}),
    }
    return found
