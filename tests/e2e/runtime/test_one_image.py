"""A Spark image with the runtime in it: one image for all containers, with an archive of Spark's classes."""

from __future__ import annotations

import pytest
from deployed import deploy, document

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS

pytestmark = pytest.mark.own_cluster
OLD, NEW = TESTED_VERSIONS
OWN_JARS = {"spark.driver.extraClassPath": "/mine/*", "spark.executor.extraClassPath": "/mine/*"}


@pytest.mark.parametrize("version", [pytest.param(OLD, marks=pytest.mark.full), NEW])
def test_drivers_and_executors_begin_with_the_archive_of_classes(
    version: str, cluster: Cluster, restricted: str
) -> None:
    """Their JVMs have it in memory, and the result is right; not where a document has own jars first."""
    image = cluster.load_spark_with_runtime(version)
    names = {"image": image, "runtimeImage": image}
    for name, conf, used in (("archived", {}, "True"), ("own-jars", OWN_JARS, "False")):
        application = deploy(
            cluster, restricted, document(name, version, "archived.py", sparkConf=conf, **names)
        )
        assert application.wait() == "Complete", application.story()
        lines = application.logs().splitlines()
        said = {line.partition(":")[0]: line.partition(": ")[2] for line in lines if ": " in line}
        assert {key: said.get(key) for key in ("driver", "executors", "sum")} == {
            "driver": used,
            "executors": f"{{{used}}}",
            "sum": "4950",
        }, application.story()
