"""Spark's properties for one machine, beside those of a cluster."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sparkgen.local.application import application_of
from sparkgen.local.errors import CannotRun
from sparkgen.local.path_mapping import PathMapping
from sparkgen.local.properties import Ports, local_properties
from sparkgen.model import build
from sparkgen.resources.conf import spark_properties

PORTS = Ports(scheduler=20001, allocator=20002, driver=20003, ui=4041)


def _built(**spec: Any) -> Any:
    every = {
        "type": "Python",
        "sparkVersion": "3.5.8",
        "image": "x",
        "mainApplicationFile": "local:///a.py",
        **spec,
    }
    return build({"kind": "SparkApplication", "metadata": {"name": "a"}, "spec": every})


@pytest.fixture
def places(tmp_path: Path) -> PathMapping:
    """A Spark without files, and a document's folder with one jar."""
    (tmp_path / "own.jar").touch()
    (tmp_path / "spark" / "jars").mkdir(parents=True)
    return PathMapping(tmp_path / "spark", tmp_path)


def test_only_places_and_ports_differ_from_a_cluster(places: PathMapping) -> None:
    """What the document says of Spark is the same here and there, authentication first of all."""
    application = _built(sparkConf={"spark.sql.shuffle.partitions": "4"})
    there, here = (
        spark_properties(application),
        local_properties(application, places, Path("/c/s.jar"), PORTS),
    )
    changed = {name: text for name, text in here.items() if there.get(name) != text}
    assert changed == {
        "spark.master": "sparkgen://127.0.0.1:20001",
        "spark.driver.extraClassPath": "/c/s.jar",
        "spark.driver.port": "20003",
        "spark.driver.blockManager.port": "0",
        "spark.blockManager.port": "0",
        "spark.ui.port": "4041",
        "spark.sparkgen.driver.port": "20003",
    }
    assert here["spark.authenticate"] == "true"
    assert here.keys() - there.keys() == {"spark.sparkgen.driver.port"}


def test_drivers_and_executors_always_authenticate(places: PathMapping) -> None:
    """A cluster may keep strangers from the driver's port; on a machine, every user reaches it."""
    document = {
        "kind": "SparkApplication",
        "metadata": {"name": "a"},
        "spec": {
            "type": "Python",
            "sparkVersion": "3.5.8",
            "image": "x",
            "mainApplicationFile": "local:///a.py",
            "sparkConf": {"spark.authenticate": "false"},
        },
    }
    here = local_properties(application_of(document), places, Path("/c/s.jar"), PORTS)
    assert here["spark.authenticate"] == "true"


def test_kernels_of_a_notebook_may_get_any_port(places: PathMapping) -> None:
    """The allocator refuses a second kernel and names the first; the jar would only name the port."""
    ports = replace(PORTS, notebook=8888)
    here = local_properties(_built(), places, Path("/c/s.jar"), ports)
    assert "spark.sparkgen.driver.port" not in here


def test_files_are_found_here(places: PathMapping, tmp_path: Path) -> None:
    """Dependencies and class paths; one that is not here is told with its field."""
    application = _built(
        deps={"jars": ["own.jar", "https://example.org/b.jar"]},
        sparkConf={
            "spark.driver.extraClassPath": "/opt/spark/jars:/x/*",
            "spark.pyspark.python": "/no/python",
        },
    )
    here = local_properties(application, places, Path("/c/s.jar"), PORTS)
    assert here["spark.jars"] == f"{tmp_path}/own.jar,https://example.org/b.jar"
    assert here["spark.driver.extraClassPath"] == f"/c/s.jar:{tmp_path}/spark/jars:/x/*"
    assert "spark.pyspark.python" not in here
    with pytest.raises(CannotRun, match=r"spec\.deps\.pyFiles: .*--map /opt/app="):
        local_properties(_built(deps={"pyFiles": ["local:///opt/app/x.zip"]}), places, Path("/c"), PORTS)


def test_packages_go_to_the_users_own_cache(places: PathMapping) -> None:
    """In a pod there is no home; here there is one, unless the document says otherwise."""
    packages = {"packages": ["org.example:a:1"]}
    assert "spark.jars.ivy" not in local_properties(_built(deps=packages), places, Path("/c"), PORTS)
    named = _built(deps=packages, sparkConf={"spark.jars.ivy": "/ivy"})
    assert local_properties(named, places, Path("/c"), PORTS)["spark.jars.ivy"] == "/ivy"
